// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Maps pages of the program's memory. Libraries that track freed memory (UCX,
 * libfabric, MPI) wrap the C library's madvise(), and these calls do not
 * concern them.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages.h"

int ur_pages_populate(u64 addr, u64 len, int how)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), start = addr & ~(page - 1);
	int before = errno, err = 0;

	if (len && syscall(SYS_madvise, start, addr + len - start, how))
		err = errno;
	errno = before;
	return err;
}

bool ur_pages_are_there(u64 addr, u64 len)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), last = addr + len - 1, step;

	if (!len || last < addr)
		return false;
	if (last / page - addr / page < UR_PAGES_ALL)
		return !ur_pages_populate(addr, len, UR_POPULATE_READ);
	step = (last / page - addr / page) / UR_PAGES_SOME * page;
	for (u64 a = addr; a <= last && a >= addr; a += step)
		if (ur_pages_populate(a, 1, UR_POPULATE_READ))
			return false;
	return !ur_pages_populate(last, 1, UR_POPULATE_READ);
}
