/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between holding and releasing the range, the code here touches only its
 * own stack and the kernel: no allocation, no lock, no signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
/* Write protection of shared memory: Linux 5.19. */
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* Entries of /proc/self/pagemap: present, swapped. */
#define PAGEMAP_USED (3ull << 62)

static void *ptr(u64 addr)
{
	return (void *)(uintptr_t)addr;
}

/* Holds system calls too where that is permitted. */
static int open_uffd(u64 features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd,
				  O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

bool ur_move_supported(void)
{
	int fd = open_uffd(UFFD_FEATURE_WP_HUGETLBFS_SHMEM);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int ur_shared_file(void)
{
	int fd = memfd_create("uroce-mr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)UR_SHARED_BYTES) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int hold(u64 start, u64 end, u64 mode, u64 features)
{
	struct uffdio_register reg = {
		.range = {.start = start, .len = end - start},
		.mode = mode,
	};
	int fd = open_uffd(features);
	int err;

	if (fd < 0)
		return fd;
	if (ioctl(fd, UFFDIO_REGISTER, &reg)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int write_all(int file, u64 from, u64 len, u64 off)
{
	while (len) {
		ssize_t n = pwrite(file, ptr(from), len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += (u64)n;
		off += (u64)n;
		len -= (u64)n;
	}
	return 0;
}

static int read_all(int file, u64 to, u64 len, u64 off)
{
	while (len) {
		ssize_t n = pread(file, ptr(to), len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		to += (u64)n;
		off += (u64)n;
		len -= (u64)n;
	}
	return 0;
}

/* Copies the pages at 'from' that were ever touched to the file. */
static int copy_used(int file, int pagemap, u64 from, u64 len, u64 off)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 entry[64];
	int err = 0;

	for (u64 done = 0; done < len && !err;) {
		u64 n = ur_min_u64((len - done) / page, UR_ARRAY_SIZE(entry));
		ssize_t got = pread(pagemap, entry, n * 8,
				    (off_t)((from + done) / page * 8));
		u64 i = 0;

		if (got != (ssize_t)(n * 8)) /* then all of them */
			for (u64 k = 0; k < n; k++)
				entry[k] = PAGEMAP_USED;
		while (i < n && !err) {
			u64 run = 0;

			while (i + run < n && entry[i + run] & PAGEMAP_USED)
				run++;
			if (run)
				err = write_all(file, from + done + i * page,
						run * page,
						off + done + i * page);
			i += run ? run : 1;
		}
		done += n * page;
	}
	return err;
}

/* Copies what the file holds of that range; holes stay untouched pages. */
static int copy_data(int file, u64 to, u64 len, u64 off)
{
	u64 at = off;
	int err = 0;

	while (at < off + len && !err) {
		off_t data = lseek(file, (off_t)at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			return -errno;
		if ((u64)data >= off + len)
			return 0;
		hole = lseek(file, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		at = ur_min_u64((u64)hole, off + len);
		err = read_all(file, to + ((u64)data - off), at - (u64)data,
			       (u64)data);
	}
	return err;
}

static int punch(int file, u64 start, u64 end)
{
	return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)start, (off_t)(end - start));
}

/* The held part of ur_move_to_file(): threads that touch the range wait. */
static int swap_in_file(int file, int pagemap, u64 start, u64 end)
{
	u64 len = end - start;
	void *away, *now;
	int err;

	/* The pages leave; the mapping stays, empty, and faults. */
	away = mremap(ptr(start), len, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
		      NULL);
	if (away == MAP_FAILED)
		return -errno;
	err = copy_used(file, pagemap, (u64)(uintptr_t)away, len, start);
	if (!err) {
		now = mmap(ptr(start), len, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, file, (off_t)start);
		if (now != MAP_FAILED) {
			munmap(away, len);
			return 0;
		}
		err = -errno;
	}
	/* Back where they were; nobody can have written meanwhile. */
	mremap(away, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, ptr(start));
	punch(file, start, end);
	return err;
}

int ur_move_to_file(int file, u64 start, u64 end)
{
	sigset_t all, old;
	int uffd, err, pagemap;

	/* What an earlier user of these addresses may have left. */
	if (punch(file, start, end))
		return -errno;
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	uffd = hold(start, end, UFFDIO_REGISTER_MODE_MISSING, 0);
	err = uffd;
	if (uffd >= 0) {
		err = swap_in_file(file, pagemap, start, end);
		/* Wakes all who wait, to fault again on what is there now. */
		close(uffd);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pagemap >= 0)
		close(pagemap);
	return err;
}

/* The held part of ur_move_from_file(): writers wait, readers go on. */
static int swap_out_file(int file, int uffd, u64 start, u64 end)
{
	struct uffdio_writeprotect wp = {
		.range = {.start = start, .len = end - start},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	u64 len = end - start;
	void *copy;
	int err;

	copy = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	if (ioctl(uffd, UFFDIO_WRITEPROTECT, &wp)) {
		err = -errno;
		munmap(copy, len);
		return err;
	}
	err = copy_data(file, (u64)(uintptr_t)copy, len, start);
	if (!err && mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
			   ptr(start)) != MAP_FAILED)
		return 0;
	if (!err)
		err = -errno;
	wp.mode = 0;
	ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
	munmap(copy, len);
	return err;
}

int ur_move_from_file(int file, u64 start, u64 end)
{
	sigset_t all, old;
	int uffd, err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	uffd = hold(start, end, UFFDIO_REGISTER_MODE_WP,
		    UFFD_FEATURE_WP_HUGETLBFS_SHMEM);
	err = uffd;
	if (uffd >= 0) {
		err = swap_out_file(file, uffd, start, end);
		close(uffd);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		punch(file, start, end);
	return err;
}

int ur_copy_private(int file, u64 start, u64 end, u64 file_off)
{
	u64 len = end - start;
	void *copy;
	int err;

	/* Our own stack cannot be copied while we run on it: a private
	 * mapping of the file must do (it sees what the parent writes to
	 * pages that we have not written yet). */
	if (ur_move_hits_me(start, end))
		return mmap(ptr(start), len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED, file,
			    (off_t)file_off) == MAP_FAILED
			       ? -errno
			       : 0;
	copy = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	err = copy_data(file, (u64)(uintptr_t)copy, len, file_off);
	if (!err && mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
			   ptr(start)) == MAP_FAILED)
		err = -errno;
	if (err)
		munmap(copy, len);
	return err;
}

static bool overlaps(u64 start, u64 end, u64 from, u64 to)
{
	return start < to && from < end;
}

bool ur_move_hits_me(u64 start, u64 end)
{
	/* Our frames and libc's, generously; of the TLS what is used between
	 * holding and releasing: errno, and the thread's control block. */
	u64 sp = (u64)(uintptr_t)__builtin_frame_address(0);
	u64 tls = (u64)(uintptr_t)&errno;
	u64 tcb = (u64)pthread_self();

	return overlaps(start, end, sp - (64 << 10), sp + (16 << 10)) ||
	       overlaps(start, end, tls, tls + sizeof(errno)) ||
	       overlaps(start, end, tcb, tcb + 1024);
}
