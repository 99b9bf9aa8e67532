// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The shared memfd: made sparse and sealed, filled from memory, read back,
 * punched. /proc/self/pagemap shows which pages were ever touched, so that
 * untouched ones stay holes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel.h"
#include "shared_file.h"

/* Entries of /proc/self/pagemap: present, swapped. */
#define PAGEMAP_USED (3ull << 62)

int ur_shared_file(void)
{
	struct rlimit max;
	s64 err;
	int fd;

	/* Beyond this a write is answered by a signal that ends the program. */
	if (getrlimit(RLIMIT_FSIZE, &max) || max.rlim_cur < UR_SHARED_BYTES)
		return -EFBIG;
	fd = (int)ur_kernel(SYS_memfd_create, (u64)(uintptr_t) "uroce-mr",
			    MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	err = ur_kernel(SYS_ftruncate, (u64)fd, UR_SHARED_BYTES, 0, 0, 0, 0);
	if (err >= 0)
		err = ur_kernel(SYS_fcntl, (u64)fd, F_ADD_SEALS,
				F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 0, 0,
				0);
	if (err < 0) {
		ur_sys_close(fd);
		return (int)err;
	}
	return fd;
}

/* io: ur_sys_pread() or ur_sys_pwrite(). */
static int all_of(s64 (*io)(int fd, u64 mem, u64 len, u64 off), int file,
		  u64 mem, u64 len, u64 off)
{
	while (len) {
		s64 n = io(file, mem, len, off);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		mem += (u64)n;
		off += (u64)n;
		len -= (u64)n;
	}
	return 0;
}

int ur_each_used(int pagemap, u64 from, u64 len,
		 int (*fn)(void *arg, u64 from, u64 len), void *arg)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 entry[64];
	int err = 0;

	for (u64 done = 0; done < len && !err;) {
		u64 n = ur_min_u64((len - done) / page, UR_ARRAY_SIZE(entry));
		s64 got = ur_sys_pread(pagemap, (u64)(uintptr_t)entry, n * 8,
				       (from + done) / page * 8);
		u64 i = 0;

		if (got != (s64)(n * 8)) /* then all of them */
			for (u64 k = 0; k < n; k++)
				entry[k] = PAGEMAP_USED;
		while (i < n && !err) {
			u64 run = 0;

			while (i + run < n && entry[i + run] & PAGEMAP_USED)
				run++;
			if (run)
				err = fn(arg, from + done + i * page,
					 run * page);
			i += run ? run : 1;
		}
		done += n * page;
	}
	return err;
}

struct save {
	int file;
	u64 shift; /* from an address to its offset */
};

static int save_run(void *arg, u64 from, u64 len)
{
	const struct save *s = arg;

	return all_of(ur_sys_pwrite, s->file, from, len, from + s->shift);
}

int ur_shared_file_save(int file, int pagemap, u64 from, u64 len, u64 off)
{
	struct save s = {file, off - from};

	return ur_each_used(pagemap, from, len, save_run, &s);
}

int ur_shared_file_load(int file, u64 to, u64 len, u64 off)
{
	u64 at = off;
	int err = 0;

	while (at < off + len && !err) {
		s64 data = ur_sys_lseek(file, at, SEEK_DATA);
		s64 hole;

		if (data == -ENXIO)
			return 0;
		if (data < 0)
			return (int)data;
		if ((u64)data >= off + len)
			return 0;
		hole = ur_sys_lseek(file, (u64)data, SEEK_HOLE);
		if (hole < 0)
			return (int)hole;
		if (hole <= data)
			return -EIO;
		at = ur_min_u64((u64)hole, off + len);
		err = all_of(ur_sys_pread, file, to + ((u64)data - off),
			     at - (u64)data, (u64)data);
	}
	return err;
}

int ur_shared_file_punch(int file, u64 start, u64 end)
{
	return (int)ur_kernel(SYS_fallocate, (u64)file,
			      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start,
			      end - start, 0, 0);
}
