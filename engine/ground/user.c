// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies to and from a client. The descriptor comes from the client, so first check
 * that it is a mem file of procfs: with another file a client could make the device
 * read or write on its behalf.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "engine/ground/user.h"
#include "util/assert.h"

/* Lowest address of a proof: beyond the offsets of text files of procfs. */
#define LOWEST_PROOF 0x10000u

/*
 * A mount can give any file of procfs any name, so a name proves nothing.
 * Only files of address spaces let the position be set to an address of the
 * upper half (in Linux' fs/proc/base.c, mem_lseek()); of them only mem can be
 * written to.
 */
static int check_mem_fd(int fd)
{
	struct statfs fs;
	int flags;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return -EINVAL;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_APPEND))
		return -EINVAL;
	if (lseek(fd, INT64_MIN, SEEK_SET) != INT64_MIN)
		return -EINVAL;
	return 0;
}

bool ur_user_is_proc(int fd, pid_t pid, const char *name)
{
	struct stat has, want;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return !fstat(fd, &has) && !stat(path, &want) &&
	       has.st_dev == want.st_dev && has.st_ino == want.st_ino;
}

struct ur_user_mem *ur_user_mem_unreached(pid_t pid)
{
	struct ur_user_mem *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->fd = -1;
	m->maps = -1;
	m->own_maps = -1;
	m->pid = pid;
	m->refs = 1;
	pthread_mutex_init(&m->atomic, NULL);
	return m;
}

int ur_user_mem_create(int fd, pid_t pid, struct ur_user_mem **mem)
{
	struct ur_user_mem *m;
	int ret = check_mem_fd(fd);

	if (ret)
		return ret;
	m = ur_user_mem_unreached(pid);
	if (!m)
		return -ENOMEM;
	m->fd = fd;
	m->same = ur_user_is_proc(fd, pid, "mem");
	*mem = m;
	return 0;
}

int ur_user_mem_prove(const struct ur_user_mem *mem, u64 addr,
		      const void *bytes, size_t len)
{
	u8 there[128];

	if (len > sizeof(there) || addr < LOWEST_PROOF ||
	    ur_user_read(mem, addr, there, len))
		return -EINVAL;
	return memcmp(there, bytes, len) ? -EINVAL : 0;
}

struct ur_user_mem *ur_user_mem_get(struct ur_user_mem *mem)
{
	mem->refs++;
	return mem;
}

void ur_user_mem_put(struct ur_user_mem *mem)
{
	if (!mem)
		return;
	ur_assert(mem->refs);
	if (--mem->refs)
		return;
	pthread_mutex_destroy(&mem->atomic);
	if (mem->fd >= 0)
		close(mem->fd);
	if (mem->maps >= 0)
		close(mem->maps);
	if (mem->own_maps >= 0)
		close(mem->own_maps);
	if (mem->own_end)
		mem->own_end(mem);
	free(mem);
}

/* pread() and pwrite() on a mem file stop at an unmapped page, and copy nothing once
 * the process has ended. */
static int copy_all(int fd, u64 addr, void *buf, size_t len, bool out)
{
	char *p = buf;

	if (addr > (u64)INT64_MAX || len > (u64)INT64_MAX - addr)
		return -EFAULT;
	while (len) {
		ssize_t n = out ? pwrite(fd, p, len, (off_t)addr)
				: pread(fd, p, len, (off_t)addr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -EFAULT : -ESRCH;
		p += n;
		addr += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst, size_t len)
{
	return mem->own_copy ? mem->own_copy(mem, addr, dst, len, false)
			     : copy_all(mem->fd, addr, dst, len, false);
}

int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len)
{
	int err;

	if (mem->own_copy)
		return mem->own_copy(mem, addr, (u8 *)(uintptr_t)src, len,
				     true);
	err = mem->query ? ur_user_rights(mem, addr, len, PROT_WRITE) : 0;

	if (err)
		return err;
	return copy_all(mem->fd, addr, (void *)(uintptr_t)src, len, true);
}
