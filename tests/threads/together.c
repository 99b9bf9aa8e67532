// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine in the program, so that TSan, which knows memory by its address, sees provider and
 * engine at the two ends of the same rings: what one of them maps of the file of rings is where the
 * other has mapped it already. Packets order memory as rings do, and TSan does not see that either: all
 * of them are made one object here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel-abi/uroce-engine.h"
#include "tests/check.h"
#include "tests/threads/world.h"
#include "util/bytes.h"

/* ---- one address for one page of the file of rings ---- */

/* Functions that are called before TSan is ready cannot be instrumented. */
#define PLAIN  __attribute__((no_sanitize_thread))
#define EXPORT PLAIN __attribute__((visibility("default")))

#define MAPPINGS 512

static struct mapping {
	dev_t dev;
	ino_t ino;
	u64 off, len;
	u8 *ptr;
	u32 users;
} mappings[MAPPINGS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Those that there would be without ours, which tell TSan; before main(), when
 * TSan may not be ready, the system's. */
static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
static int (*next_munmap)(void *, size_t);

static PLAIN bool is_ring_file(int fd, struct stat *st)
{
	return fd >= 0 && !syscall(SYS_fstat, fd, st) && S_ISREG(st->st_mode) &&
	       (u64)st->st_size == UROCE_ECTX_FILE_BYTES;
}

static PLAIN void *do_mmap(void *addr, size_t len, int prot, int flags, int fd,
			   off_t off)
{
	if (next_mmap)
		return next_mmap(addr, len, prot, flags, fd, off);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

static PLAIN int do_munmap(void *addr, size_t len)
{
	if (next_munmap)
		return next_munmap(addr, len);
	return (int)syscall(SYS_munmap, addr, len);
}

static PLAIN struct mapping *find_part(const struct stat *st, u64 off, u64 len)
{
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (m->ptr && m->dev == st->st_dev && m->ino == st->st_ino &&
		    off >= m->off && off + len <= m->off + m->len)
			return m;
	return NULL;
}

static PLAIN struct mapping *find_address(const u8 *p)
{
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (m->ptr && p >= m->ptr && p < m->ptr + m->len)
			return m;
	return NULL;
}

static PLAIN struct mapping *map_part(const struct stat *st, int fd, u64 off,
				      u64 len)
{
	struct mapping *m = mappings;
	u8 *p = do_mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			(off_t)off);

	if (p == MAP_FAILED)
		return NULL;
	while (m < mappings + MAPPINGS && m->ptr)
		m++;
	CHECK(m < mappings + MAPPINGS);
	*m = (struct mapping){st->st_dev, st->st_ino, off, len, p, 0};
	return m;
}

EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off)
{
	struct mapping *m;
	struct stat st;
	u8 *p;

	if (!is_ring_file(fd, &st))
		return do_mmap(addr, len, prot, flags, fd, off);
	CHECK(!addr && flags == MAP_SHARED && prot == (PROT_READ | PROT_WRITE));
	pthread_mutex_lock(&lock);
	m = find_part(&st, (u64)off, len);
	if (!m)
		m = map_part(&st, fd, (u64)off, len);
	p = m ? m->ptr + ((u64)off - m->off) : MAP_FAILED;
	if (m)
		m->users++;
	pthread_mutex_unlock(&lock);
	return p;
}

EXPORT int munmap(void *addr, size_t len)
{
	struct mapping *m;
	int ret = 0;

	pthread_mutex_lock(&lock);
	m = find_address(addr);
	if (!m) {
		ret = do_munmap(addr, len);
	} else if (!--m->users) {
		ret = do_munmap(m->ptr, m->len);
		m->ptr = NULL;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- packets order memory ---- */

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#else
static void __tsan_acquire(void *addr)
{
}

static void __tsan_release(void *addr)
{
}
#endif

static int packets;

EXPORT ssize_t sendmsg(int fd, const struct msghdr *mh, int flags)
{
	__tsan_release(&packets);
	return syscall(SYS_sendmsg, fd, mh, flags);
}

EXPORT int sendmmsg(int fd, struct mmsghdr *mh, unsigned int n, int flags)
{
	__tsan_release(&packets);
	return (int)syscall(SYS_sendmmsg, fd, mh, n, flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *mh, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, mh, flags);

	__tsan_acquire(&packets);
	return n;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *mh, unsigned int n, int flags,
		    struct timespec *timeout)
{
	int got = (int)syscall(SYS_recvmmsg, fd, mh, n, flags, timeout);

	__tsan_acquire(&packets);
	return got;
}

void world_start(void)
{
	next_mmap = dlsym(RTLD_NEXT, "mmap");
	next_munmap = dlsym(RTLD_NEXT, "munmap");
	CHECK(next_mmap && next_munmap);
}

void world_stop(void)
{
}
