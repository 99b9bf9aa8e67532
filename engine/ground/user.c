// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copying to and from a client. The descriptor comes from the client, so it is
 * made sure first that it is a mem file of procfs: any other file would let a
 * client make the device read or write on its behalf.
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
#include "util/os/high_fd.h"

/* A proof must not be at an offset that a text file of procfs reaches. */
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

/* Reading the file into memory writes there as a system call of the program would,
 * with the rights that the pages have. */
static int make_stage(struct ur_user_mem *m)
{
	int fd = memfd_create("uroce-stage", MFD_CLOEXEC), err;
	void *p;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, UR_STAGE_BYTES) < 0)
		goto err_close;
	p = mmap(NULL, UR_STAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 0);
	if (p == MAP_FAILED)
		goto err_close;
	m->stage = p;
	m->stage_fd = ur_high_fd(fd);
	return 0;
err_close:
	err = -errno;
	close(fd);
	return err;
}

int ur_user_mem_own(struct ur_user_mem **mem)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = ur_user_mem_create(fd, getpid(), mem);
	if (err) {
		close(fd);
		return err;
	}
	(*mem)->uid = geteuid();
	err = make_stage(*mem);
	if (err)
		ur_user_mem_put(*mem);
	return err;
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
	if (mem->stage) {
		munmap(mem->stage, UR_STAGE_BYTES);
		close(mem->stage_fd);
	}
	free(mem);
}

/* pread/pwrite on a mem file stop short at an unmapped page, and move nothing
 * once the process has given its memory back. */
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

void ur_user_mem_file(struct ur_user_mem *mem, const void *at, size_t bytes,
		      int fd)
{
	for (u32 i = 0; i < UR_USER_FILES; i++)
		if (!mem->files[i].at) {
			mem->files[i] = (struct ur_user_file){at, bytes, fd};
			return;
		}
}

void ur_user_mem_forget(struct ur_user_mem *mem, const void *at)
{
	for (u32 i = 0; i < UR_USER_FILES; i++)
		if (mem->files[i].at == at)
			mem->files[i].at = NULL;
}

static const struct ur_user_file *file_of(const struct ur_user_mem *mem,
					  const u8 *buf, size_t len)
{
	for (u32 i = 0; i < UR_USER_FILES; i++) {
		const struct ur_user_file *f = &mem->files[i];

		if (f->at && buf >= f->at && len <= f->bytes &&
		    (size_t)(buf - f->at) <= f->bytes - len)
			return f;
	}
	return NULL;
}

/* Between memory and the file in which buf lies. */
static int copy_file(const struct ur_user_file *f, u64 addr, const u8 *buf,
		     size_t len, bool out)
{
	off_t at = buf - f->at;

	while (len) {
		void *there = (void *)(uintptr_t)addr;
		ssize_t n = out ? pread(f->fd, there, len, at)
				: pwrite(f->fd, there, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		addr += (u64)n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Copies by way of the stage: write puts the bytes there from memory, read puts
 * them into memory. */
static int copy_own(const struct ur_user_mem *mem, u64 addr, u8 *buf,
		    size_t len, bool out)
{
	const struct ur_user_file *f = file_of(mem, buf, len);

	if (f)
		return copy_file(f, addr, buf, len, out);
	while (len) {
		size_t part = ur_min_u64(len, UR_STAGE_BYTES);
		void *there = (void *)(uintptr_t)addr;
		ssize_t n;

		/* The transport gathers in the stage itself. */
		if (out && buf != mem->stage)
			memmove(mem->stage, buf, part);
		do {
			n = out ? pread(mem->stage_fd, there, part, 0)
				: pwrite(mem->stage_fd, there, part, 0);
		} while (n < 0 && errno == EINTR);
		if (n != (ssize_t)part)
			return -EFAULT;
		if (!out && buf != mem->stage)
			memmove(buf, mem->stage, part);
		buf += part;
		addr += part;
		len -= part;
	}
	return 0;
}

int ur_user_read(const struct ur_user_mem *mem, u64 addr, void *dst, size_t len)
{
	return mem->stage ? copy_own(mem, addr, dst, len, false)
			  : copy_all(mem->fd, addr, dst, len, false);
}

int ur_user_write(const struct ur_user_mem *mem, u64 addr, const void *src,
		  size_t len)
{
	int err;

	if (mem->stage)
		return copy_own(mem, addr, (u8 *)(uintptr_t)src, len, true);
	err = mem->query ? ur_user_rights(mem, addr, len, PROT_WRITE) : 0;

	if (err)
		return err;
	return copy_all(mem->fd, addr, (void *)(uintptr_t)src, len, true);
}
