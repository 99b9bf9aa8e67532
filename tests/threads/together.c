// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The device in the process of its client, so that TSan, which knows memory by
 * its address and nothing of other processes, sees provider and engine at the
 * two ends of the same rings:
 *
 * - what the provider maps of the context's file is where the device has
 *   mapped it already, so both use one address;
 * - the tunnel's messages order what comes before a send with what comes after
 *   a receive. The preload library makes them by raw system calls, which TSan
 *   does not see; all of them are made one object here.
 *
 * All else is the product: the preload library, the tunnel, the threads.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/listen.h"
#include "device/run_lock.h"
#include "device/netdev.h"
#include "device/netlink.h"
#include "device/serve.h"
#include "device/tree/sysfs.h"
#include "device/ucma/ucma.h"
#include "device/settings/setting.h"
#include "device/uverbs/ufile.h"
#include "tests/check.h"
#include "tests/threads/world.h"

/* Functions that are called before TSan is ready cannot be instrumented. */
#define PLAIN  __attribute__((no_sanitize_thread))
#define EXPORT PLAIN __attribute__((visibility("default")))

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

/* ---- one address for one page of the context's file ---- */

#define MAPPINGS 512

static struct mapping {
	dev_t dev;
	ino_t ino;
	u64 off, len;
	u8 *ptr;
} mappings[MAPPINGS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static PLAIN bool is_context_file(int fd, struct stat *st)
{
	return fd >= 0 && !syscall(SYS_fstat, fd, st) && S_ISREG(st->st_mode) &&
	       (u64)st->st_size == UROCE_TUN_UVERBS_BYTES;
}

static PLAIN struct mapping *find_mapping(const u8 *p)
{
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (m->ptr && p >= m->ptr && p < m->ptr + m->len)
			return m;
	return NULL;
}

/* Those that there would be without ours, which tell TSan; before main(), when
 * TSan may not be ready, the system's. */
static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
static int (*next_munmap)(void *, size_t);

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

/* The device's own calls (the linker's --wrap), and those of the libraries. */
PLAIN void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
			off_t off);
PLAIN int __wrap_munmap(void *addr, size_t len);
PLAIN int __wrap_fstat(int fd, struct stat *st);
int __wrap_open(const char *path, int flags, ...);

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off)
{
	u8 *p = do_mmap(addr, len, prot, flags, fd, off);
	struct mapping *m = mappings;
	struct stat st;

	if (p == MAP_FAILED || !is_context_file(fd, &st))
		return p;
	pthread_mutex_lock(&lock);
	while (m < mappings + MAPPINGS && m->ptr)
		m++;
	CHECK(m < mappings + MAPPINGS);
	*m = (struct mapping){st.st_dev, st.st_ino, (u64)off, len, p};
	pthread_mutex_unlock(&lock);
	return p;
}

int __wrap_munmap(void *addr, size_t len)
{
	struct mapping *m;

	pthread_mutex_lock(&lock);
	m = find_mapping(addr);
	if (m)
		m->ptr = NULL;
	pthread_mutex_unlock(&lock);
	return do_munmap(addr, len);
}

/* The preload library would take the file for the client's. */
int __wrap_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

/* Nor is the device's writing of its own tree a client's of its settings: that
 * would ask the device, which holds its lock. */
int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off)
{
	u8 *p = NULL;
	struct stat st;

	if (!is_context_file(fd, &st))
		return do_mmap(addr, len, prot, flags, fd, off);
	pthread_mutex_lock(&lock);
	for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
		if (m->ptr && m->dev == st.st_dev && m->ino == st.st_ino &&
		    (u64)off >= m->off && (u64)off + len <= m->off + m->len)
			p = m->ptr + ((u64)off - m->off);
	pthread_mutex_unlock(&lock);
	CHECK(p);
	return p;
}

EXPORT int munmap(void *addr, size_t len)
{
	struct mapping *m;

	pthread_mutex_lock(&lock);
	m = find_mapping(addr);
	pthread_mutex_unlock(&lock);
	return m ? 0 : do_munmap(addr, len);
}

/* ---- messages order memory ---- */

static int messages;

EXPORT ssize_t sendmsg(int fd, const struct msghdr *mh, int flags)
{
	__tsan_release(&messages);
	return syscall(SYS_sendmsg, fd, mh, flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *mh, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, mh, flags);

	__tsan_acquire(&messages);
	return n;
}

/* The preload library's way to them. */
EXPORT long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long (*fn)(long, ...) = __atomic_load_n(&real, __ATOMIC_RELAXED);
	long a[6], ret;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!fn) {
		fn = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
		__atomic_store_n(&real, fn, __ATOMIC_RELAXED);
	}
	if (number == SYS_sendmsg)
		__tsan_release(&messages);
	ret = fn(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_recvmsg)
		__tsan_acquire(&messages);
	return ret;
}

/* ---- the engine at the other end ---- */

/* As an older device's, which is then the context's engine. */
int __wrap_ur_m_engine_open(struct ur_cmd *cmd);
int __wrap_ur_m_engine_apart(struct ur_cmd *cmd);

int __wrap_ur_m_engine_open(struct ur_cmd *cmd)
{
	return -EPROTONOSUPPORT;
}

int __wrap_ur_m_engine_apart(struct ur_cmd *cmd)
{
	return -EPROTONOSUPPORT;
}

/* ---- the device, as in device/main.c ---- */

static struct ur_daemon daemon_ = {
	.listen_fd = -1,
	.lock_fd = -1,
	.file_ops = {[UROCE_TUN_UVERBS] = &ur_ufile_ops},
	.setting_ops = &ur_setting_ops,
};
static pthread_t thread;

static void *serve(void *arg)
{
	ur_loop_serve(daemon_.loop);
	return NULL;
}

void world_start(void)
{
	const char *dir = getenv("UROCE_RUN_DIR");

	CHECK(dir);
	next_mmap = dlsym(RTLD_NEXT, "mmap");
	next_munmap = dlsym(RTLD_NEXT, "munmap");
	CHECK(next_mmap && next_munmap);
	snprintf(daemon_.run_dir, sizeof(daemon_.run_dir), "%s", dir);
	ur_daemon_init(&daemon_);
	CHECK(!ur_loop_create(&daemon_.loop));
	ur_loop_lock(daemon_.loop);
	CHECK(!ur_run_lock(&daemon_));
	CHECK(!ur_ucma_init(&daemon_));
	CHECK(!ur_sysfs_init(&daemon_));
	CHECK(!ur_netlink_open(&daemon_, ur_netdevs_changed));
	CHECK(!ur_ucma_open_netlink(&daemon_));
	CHECK(!ur_device_create(&daemon_, "eth1", NULL, -1));
	CHECK(!ur_device_create(&daemon_, "eth2", NULL, -1));
	CHECK(!ur_listen_bind(&daemon_));
	CHECK(!ur_listen_start(&daemon_));
	ur_loop_unlock(daemon_.loop);
	CHECK(!pthread_create(&thread, NULL, serve, NULL));
}

void world_stop(void)
{
	ur_loop_lock(daemon_.loop);
	ur_loop_stop(daemon_.loop);
	ur_loop_unlock(daemon_.loop);
	CHECK(!pthread_join(thread, NULL));
	ur_loop_lock(daemon_.loop);
	ur_listen_stop(&daemon_);
	CHECK(ur_session_stop_all(&daemon_));
	ur_loop_close(daemon_.loop);
	ur_device_destroy_all(&daemon_);
	ur_ucma_fini(&daemon_);
	ur_netlink_close(&daemon_);
	ur_sysfs_fini(&daemon_);
	ur_loop_unlock(daemon_.loop);
	ur_loop_destroy(daemon_.loop);
}
