// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Copies to and from memory of this process. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/ground/maps_query.h"
#include "engine/ground/own_memory.h"
#include "engine/ground/pinned.h"
#include "kernel-abi/uroce-copies.h"
#include "util/assert.h"
#include "util/os/high_fd.h"
#include "util/os/map_shared.h"

/* Copies into a file are for another program. From this size on they bypass the caches, which
 * this processor needs for other data. */
#define AWAY_BYTES 4096u

/* ---- who copies ---- */

/* Returns the functions that copy by the processor, or NULL: only the kernel can copy. */
static const struct uroce_copies *copies(void)
{
	const char *way = secure_getenv("UROCE_COPY");

	if (!&uroce_copies || uroce_copies.version != UROCE_COPIES_VERSION ||
	    (way && !strcmp(way, "syscalls")) || uroce_copies.start())
		return NULL;
	return &uroce_copies;
}

void ur_own_memory_turn_begins(struct ur_user_mem *mem, u64 now)
{
	ur_assert(mem->stage);
	mem->direct = mem->copies && mem->copies->may(now) ? mem->copies : NULL;
}

void ur_own_memory_thread(void)
{
	const struct uroce_copies *c = copies();

	if (c)
		c->own_thread();
}

/* ---- by the kernel ---- */

static void end_stage(struct ur_user_mem *mem)
{
	munmap(mem->stage, UR_STAGE_BYTES);
	close(mem->stage_fd);
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

/* Copies between memory and the file that contains buf. */
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

/* Copies through the stage: write() moves bytes from memory to the stage, read() from
 * the stage to memory. */
static int copy_staged(const struct ur_user_mem *mem, u64 addr, u8 *buf,
		       size_t len, bool out)
{
	const struct ur_user_file *f = file_of(mem, buf, len);

	if (f)
		return copy_file(f, addr, buf, len, out);
	while (len) {
		size_t part = ur_min_u64(len, UR_STAGE_BYTES);
		void *there = (void *)(uintptr_t)addr;
		ssize_t n;

		/* If buf is the stage itself, there must be one part only. */
		ur_assert(buf != mem->stage || part == len);
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

/* ---- both ---- */

static int copy_own(const struct ur_user_mem *mem, u64 addr, u8 *buf,
		    size_t len, bool out)
{
	void *there = (void *)(uintptr_t)addr;
	int err;

	ur_assert(!mem->direct || mem->direct == mem->copies);
	if (!mem->direct)
		return copy_staged(mem, addr, buf, len, out);
	if (out) {
		err = mem->direct->copy(there, buf, len);
		return !err && mem->is_good && !mem->is_good(mem->source)
			       ? -EFAULT
			       : err;
	}
	return len >= AWAY_BYTES && file_of(mem, buf, len)
		       ? mem->direct->copy_away(buf, there, len)
		       : mem->direct->copy(buf, there, len);
}

int ur_own_memory_pieces(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			 u32 stride, u32 len, u32 n, bool out)
{
	const struct uroce_copies *c = mem->direct;
	int err = 0;

	if (!c)
		return -EOPNOTSUPP;
	for (; n && !err; n--, buf += stride, addr += len) {
		void *there = (void *)(uintptr_t)addr;

		err = out ? c->copy(there, buf, len) : c->copy(buf, there, len);
	}
	return err;
}

/* The kernel's copies obey the rights of the pages, as any system call of the program
 * does. */
static int make_stage(struct ur_user_mem *m)
{
	void *p;
	int err = ur_make_shared("uroce-stage", UR_STAGE_BYTES,
				 PROT_READ | PROT_WRITE, 0, &m->stage_fd, &p);

	if (err)
		return err;
	m->stage = p;
	m->own_copy = copy_own;
	m->own_end = end_stage;
	return 0;
}

/* Returns a descriptor that supports PROCMAP_QUERY, or -1. */
static int open_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct ur_maps_query q = {.size = sizeof(q), .addr = (uintptr_t)&q};

	if (fd < 0 || !ur_maps_ask(fd, &q))
		return ur_high_fd(fd);
	close(fd);
	return -1;
}

int ur_user_mem_own(struct ur_user_mem **mem)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = ur_user_mem_create(fd, (pid_t)syscall(SYS_getpid), mem);
	if (err) {
		close(fd);
		return err;
	}
	(*mem)->uid = geteuid();
	(*mem)->copies = copies();
	(*mem)->own_maps = open_maps();
	ur_pinned_start();
	err = make_stage(*mem);
	if (err) {
		ur_user_mem_put(*mem);
		*mem = NULL;
	}
	return err;
}

int ur_user_mem_inherit(struct ur_user_mem *mem)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (dup3(fd, mem->fd, O_CLOEXEC) < 0)
		err = -errno;
	close(fd);
	if (mem->own_maps >= 0) {
		close(mem->own_maps);
		mem->own_maps = open_maps();
	}
	mem->pid = (pid_t)syscall(SYS_getpid);
	return err;
}

int ur_own_memory_swap(const struct ur_user_mem *mem, u64 addr, u64 *old,
		       u64 value)
{
	__u64 was = *old;
	int ret;

	if (!mem->direct || addr % sizeof(was))
		return -EAGAIN;
	ret = mem->direct->swap((__u64 *)(uintptr_t)addr, &was, value);
	*old = was;
	return ret;
}
