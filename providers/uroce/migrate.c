// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Between holding and releasing the range, the code here touches only its
 * own stack and the kernel: no allocation, no lock, no signal handler, and no
 * function that another library may have put itself in front of.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel.h"
#include "migrate.h"
#include "shared_file.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
/* Write protection of shared memory: Linux 5.19. */
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

#define RW (PROT_READ | PROT_WRITE)
/* How often a way back is tried; between the tries others may free memory. */
#define TRIES 100

/* Holds system calls too where that is permitted. */
static int open_uffd(u64 features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	int fd = (int)ur_kernel(SYS_userfaultfd, O_CLOEXEC, 0, 0, 0, 0, 0);
	int err;

	if (fd < 0)
		fd = (int)ur_kernel(SYS_userfaultfd,
				    O_CLOEXEC | UFFD_USER_MODE_ONLY, 0, 0, 0, 0,
				    0);
	if (fd < 0)
		return fd;
	err = (int)ur_sys_ioctl(fd, UFFDIO_API, &api);
	if (err) {
		ur_sys_close(fd);
		return err;
	}
	return fd;
}

bool ur_migrate_supported(void)
{
	int fd = open_uffd(UFFD_FEATURE_WP_HUGETLBFS_SHMEM);

	if (fd < 0)
		return false;
	ur_sys_close(fd);
	return true;
}

static int hold_with(int uffd, u64 start, u64 end, u64 mode)
{
	struct uffdio_register reg = {
		.range = {.start = start, .len = end - start},
		.mode = mode,
	};

	return (int)ur_sys_ioctl(uffd, UFFDIO_REGISTER, &reg);
}

static int hold(u64 start, u64 end, u64 mode, u64 features)
{
	int fd = open_uffd(features);
	int err;

	if (fd < 0)
		return fd;
	err = hold_with(fd, start, end, mode);
	if (err) {
		ur_sys_close(fd);
		return err;
	}
	return fd;
}

static bool overlaps(u64 start, u64 end, u64 from, u64 to)
{
	return start < to && from < end;
}

/* A mapping where it was asked for: 0. Elsewhere: not one of ours. */
static int put_at(s64 got, u64 want, u64 len)
{
	if (got == (s64)want)
		return 0;
	if (got >= 0)
		ur_sys_munmap((u64)got, len);
	return got < 0 ? (int)got : -EIO;
}

static void let_others_run(void)
{
	ur_kernel(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void die(void)
{
	static const char text[] =
		"uroce: out of memory: registered memory cannot be put back\n";

	ur_kernel(SYS_write, 2, (u64)(uintptr_t)text, sizeof(text) - 1, 0, 0,
		  0);
	abort();
}

/* ---- into the file ---- */

struct fill {
	int uffd;
	u64 shift; /* from the copy to the place */
	u64 page;
};

/* Puts pages where threads are held; what is there already stays. */
static int fill_run(void *arg, u64 from, u64 len)
{
	const struct fill *f = arg;

	while (len) {
		struct uffdio_copy copy = {.src = from,
					   .dst = from + f->shift,
					   .len = len,
					   .mode = UFFDIO_COPY_MODE_DONTWAKE};
		s64 err = ur_sys_ioctl(f->uffd, UFFDIO_COPY, &copy);
		u64 done = !err ? len : copy.copy > 0 ? (u64)copy.copy : 0;

		if (err == -EEXIST && !done)
			done = f->page; /* by a try before this one */
		if (!done)
			return (int)err;
		from += done;
		len -= done;
	}
	return 0;
}

/* Copies the pages at 'away' to where they were. */
static int refill(int uffd, int pagemap, u64 away, u64 start, u64 len)
{
	struct fill fill = {uffd, start - away, (u64)sysconf(_SC_PAGESIZE)};
	int err = ur_each_used(pagemap, away, len, fill_run, &fill);

	if (err != -ENOENT)
		return err;
	/* Nothing there at all: the call that failed had unmapped it. */
	err = put_at(
		ur_sys_mmap(start, len, RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0),
		start, len);
	if (!err)
		err = hold_with(uffd, start, start + len,
				UFFDIO_REGISTER_MODE_MISSING);
	if (!err)
		err = ur_each_used(pagemap, away, len, fill_run, &fill);
	return err;
}

/* The pages at 'away' go back to where they were; nobody can have written
 * there meanwhile. */
static void put_back(int uffd, int pagemap, u64 away, u64 start, u64 len)
{
	for (int i = 0; i < TRIES; i++) {
		s64 now = ur_sys_mremap(away, len,
					MREMAP_MAYMOVE | MREMAP_FIXED, start);

		if (now == (s64)start)
			return;
		if (now > 0)
			away = (u64)now;
		if (!refill(uffd, pagemap, away, start, len)) {
			ur_sys_munmap(away, len);
			return;
		}
		let_others_run();
	}
	die();
}

/* The held part of ur_migrate_to_file(): threads that touch the range wait. */
static int swap_in_file(int file, int pagemap, int uffd, u64 start, u64 end)
{
	u64 len = end - start, away;
	s64 got;
	int err;

	/* The pages leave; the mapping stays, empty, and faults. */
	got = ur_sys_mremap(start, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	if (got < 0)
		return (int)got;
	away = (u64)got;
	if (!away || overlaps(away, away + len, start, end))
		return -EIO; /* the call that returned this has moved nothing */
	err = ur_shared_file_save(file, pagemap, away, len, start);
	if (!err)
		err = put_at(ur_sys_mmap(start, len, RW, MAP_SHARED | MAP_FIXED,
					 file, start),
			     start, len);
	if (err) {
		put_back(uffd, pagemap, away, start, len);
		ur_shared_file_punch(file, start, end);
		return err;
	}
	/* If it cannot be unmapped its pages are freed at least. */
	if (ur_sys_munmap(away, len))
		ur_sys_madvise(away, len, MADV_DONTNEED);
	return 0;
}

int ur_migrate_to_file(int file, u64 start, u64 end)
{
	sigset_t all, old;
	int uffd, err, pagemap;

	/* An earlier user of these addresses may have left pages. */
	err = ur_shared_file_punch(file, start, end);
	if (err)
		return err;
	pagemap = (int)ur_kernel(SYS_openat, (u64)AT_FDCWD,
				 (u64)(uintptr_t) "/proc/self/pagemap",
				 O_RDONLY | O_CLOEXEC, 0, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	uffd = hold(start, end, UFFDIO_REGISTER_MODE_MISSING, 0);
	err = uffd;
	if (uffd >= 0) {
		err = swap_in_file(file, pagemap, uffd, start, end);
		/* Wakes all who wait, to fault again on what is there now. */
		ur_sys_close(uffd);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pagemap >= 0)
		ur_sys_close(pagemap);
	return err;
}

/* ---- and out of it ---- */

/* A copy of that part of the file, anywhere. */
static s64 copy_of(int file, u64 len, u64 off, int prot)
{
	s64 copy = ur_sys_mmap(0, len, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (copy < 0)
		return copy;
	err = ur_shared_file_load(file, (u64)copy, len, off);
	if (!err && prot != RW)
		err = (int)ur_sys_mprotect((u64)copy, len, prot);
	if (err) {
		ur_sys_munmap((u64)copy, len);
		return err;
	}
	return copy;
}

/* The held part of ur_migrate_from_file(): writers wait, readers go on. */
static int swap_out_file(int file, int uffd, u64 start, u64 end, int prot)
{
	struct uffdio_writeprotect wp = {
		.range = {.start = start, .len = end - start},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	u64 len = end - start;
	s64 copy;
	int err;

	err = (int)ur_sys_ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
	if (err)
		return err;
	copy = copy_of(file, len, start, prot);
	err = copy < 0 ? (int)copy : 0;
	if (!err) {
		s64 now = ur_sys_mremap((u64)copy, len,
					MREMAP_MAYMOVE | MREMAP_FIXED, start);

		if (now == (s64)start)
			return 0;
		err = now < 0 ? (int)now : -EIO;
		ur_sys_munmap(now < 0 ? (u64)copy : (u64)now, len);
	}
	/* The file has it all, and stays: as it was, or there again where the
	 * call that failed had unmapped it. */
	wp.mode = 0;
	for (int i = 0; i < TRIES; i++) {
		if (!ur_sys_ioctl(uffd, UFFDIO_WRITEPROTECT, &wp) ||
		    !put_at(ur_sys_mmap(start, len, prot,
					MAP_SHARED | MAP_FIXED, file, start),
			    start, len))
			return err;
		let_others_run();
	}
	die();
	return err;
}

int ur_migrate_from_file(int file, u64 start, u64 end, int prot)
{
	sigset_t all, old;
	int uffd, err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	uffd = hold(start, end, UFFDIO_REGISTER_MODE_WP,
		    UFFD_FEATURE_WP_HUGETLBFS_SHMEM);
	err = uffd;
	if (uffd >= 0) {
		err = swap_out_file(file, uffd, start, end, prot);
		ur_sys_close(uffd);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		ur_shared_file_punch(file, start, end);
	return err;
}

int ur_copy_private(int file, u64 start, u64 end, u64 file_off, int prot)
{
	u64 len = end - start;
	s64 copy;

	/* Our own stack cannot be copied while we run on it. */
	if (!ur_migrate_hits_me(start, end)) {
		copy = copy_of(file, len, file_off, prot);
		if (copy >= 0 &&
		    !put_at(ur_sys_mremap((u64)copy, len,
					  MREMAP_MAYMOVE | MREMAP_FIXED, start),
			    start, len))
			return 0;
		if (copy >= 0)
			ur_sys_munmap((u64)copy, len);
	}
	/* A private mapping of the file must do: it sees what the parent
	 * writes to pages that we have not written yet. */
	if (!put_at(ur_sys_mmap(start, len, prot, MAP_PRIVATE | MAP_FIXED, file,
				file_off),
		    start, len))
		return 0;
	return (int)ur_sys_munmap(start, len);
}

bool ur_migrate_hits_me(u64 start, u64 end)
{
	/* Our frames and libc's, generously; of the TLS what is used between
	 * holding and releasing: the thread's control block. */
	u64 sp = (u64)(uintptr_t)__builtin_frame_address(0);
	u64 tls = (u64)(uintptr_t)&errno;
	u64 tcb = (u64)pthread_self();

	return overlaps(start, end, sp - (64 << 10), sp + (16 << 10)) ||
	       overlaps(start, end, tls, tls + sizeof(errno)) ||
	       overlaps(start, end, tcb, tcb + 1024);
}
