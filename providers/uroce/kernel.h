/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * System calls that go to the kernel directly. Libraries that keep caches of
 * registrations (UCX, libfabric, MPI) replace mmap, munmap, mremap and madvise
 * of the whole process by functions of their own. The provider's own changes to
 * the application's memory must not go through these: they would take them for
 * the application's, and not every one of them passes all arguments on
 * (libucm's mremap has four).
 *
 * All functions return what the kernel returned, or -errno. They do not touch
 * errno. Any thread.
 */
#ifndef UR_PROVIDER_KERNEL_H
#define UR_PROVIDER_KERNEL_H

#include <sys/syscall.h>

#include "util/bytes.h"

/* Makes system call nr with these arguments. It has a file of its own, so that
 * a test can put a function in its place that lets calls fail. */
s64 ur_kernel(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);

static inline s64 ur_sys_mmap(u64 addr, u64 len, int prot, int flags, int fd,
			      u64 off)
{
	return ur_kernel(SYS_mmap, addr, len, (u64)prot, (u64)flags, (u64)fd,
			 off);
}

static inline s64 ur_sys_munmap(u64 addr, u64 len)
{
	return ur_kernel(SYS_munmap, addr, len, 0, 0, 0, 0);
}

static inline s64 ur_sys_mremap(u64 old, u64 len, int flags, u64 to)
{
	return ur_kernel(SYS_mremap, old, len, len, (u64)flags, to, 0);
}

static inline s64 ur_sys_mprotect(u64 addr, u64 len, int prot)
{
	return ur_kernel(SYS_mprotect, addr, len, (u64)prot, 0, 0, 0);
}

static inline s64 ur_sys_madvise(u64 addr, u64 len, int advice)
{
	return ur_kernel(SYS_madvise, addr, len, (u64)advice, 0, 0, 0);
}

static inline s64 ur_sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ur_kernel(SYS_ioctl, (u64)fd, request, (u64)(uintptr_t)arg, 0, 0,
			 0);
}

static inline s64 ur_sys_pread(int fd, u64 to, u64 len, u64 off)
{
	return ur_kernel(SYS_pread64, (u64)fd, to, len, off, 0, 0);
}

static inline s64 ur_sys_pwrite(int fd, u64 from, u64 len, u64 off)
{
	return ur_kernel(SYS_pwrite64, (u64)fd, from, len, off, 0, 0);
}

static inline s64 ur_sys_lseek(int fd, u64 off, int whence)
{
	return ur_kernel(SYS_lseek, (u64)fd, off, (u64)whence, 0, 0, 0);
}

static inline s64 ur_sys_close(int fd)
{
	return ur_kernel(SYS_close, (u64)fd, 0, 0, 0, 0, 0);
}

#endif
