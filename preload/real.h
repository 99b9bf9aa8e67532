/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The functions that we stand in front of: ur_real(open)(path, flags) calls
 * the next definition of open() after ours. That keeps the C library's
 * cancellation points and any other preloaded library in the chain.
 */
#ifndef UR_PRELOAD_REAL_H
#define UR_PRELOAD_REAL_H

#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define UR_EXPORT __attribute__((visibility("default")))

/*
 * Every symbol that this library defines over the C library's. The first list is
 * looked up at the start: signal handlers call these functions, and children
 * between fork() and exec(). The second waits for their calls, which most programs
 * never make.
 */
/* clang-format off */
#define UR_REAL_EARLY(X)                                                       \
	/* open.c */                                                           \
	X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64)            \
	X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2)                \
	X(fopen) X(fopen64)                                                    \
	/* stat.c */                                                           \
	X(stat) X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) X(fstatat)   \
	X(fstatat64)                                                           \
	/* path.c */                                                           \
	X(access) X(faccessat) X(readlink) X(readlinkat) X(chdir) X(mkdir)     \
	X(mkdirat) X(rmdir) X(unlinkat)                                        \
	/* io.c */                                                             \
	X(ioctl) X(read) X(__read_chk) X(readv) X(write) X(writev) X(pread)    \
	X(pread64) X(pwrite) X(pwrite64)                                       \
	/* dup.c */                                                            \
	X(close) X(close_range) X(closefrom) X(dup) X(dup2) X(dup3) X(fcntl)   \
	X(fcntl64) X(fclose)                                                   \
	/* netlink.c */                                                        \
	X(socket) X(bind) X(getsockname) X(setsockopt) X(getsockopt)           \
	X(recvmsg) X(recvfrom)                                                 \
	/* exec.c */                                                           \
	X(execve) X(execvpe) X(execveat) X(fexecve) X(posix_spawn)             \
	X(posix_spawnp)                                                        \
	/* filter.c */                                                         \
	X(prctl)                                                               \
	/* provider.c */                                                       \
	X(getenv)                                                              \
	/* signals.c */                                                        \
	X(sigaction) X(signal) X(pthread_sigmask) X(sigprocmask)               \
	/* protect.c */                                                        \
	X(mprotect)                                                            \
	/* exit.c */                                                           \
	X(_exit) X(_Exit) X(pthread_exit)

#define UR_REAL_LATE(X)                                                        \
	/* open.c */                                                           \
	X(freopen) X(freopen64)                                                \
	/* stat.c */                                                           \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat)          \
	X(__fxstat64) X(__fxstatat) X(__fxstatat64) X(statx)                   \
	/* path.c */                                                           \
	X(euidaccess) X(eaccess) X(__readlink_chk) X(__readlinkat_chk)         \
	X(realpath) X(__realpath_chk) X(canonicalize_file_name)                \
	X(inotify_add_watch) X(getxattr) X(lgetxattr) X(listxattr)             \
	X(llistxattr)                                                          \
	/* dir.c */                                                            \
	X(opendir) X(scandir) X(scandir64) X(scandirat) X(scandirat64)         \
	X(glob) X(glob64) X(ftw) X(ftw64) X(nftw) X(nftw64) X(fts_open)        \
	X(fts64_open)                                                          \
	/* signals.c */                                                        \
	X(bsd_signal) X(ssignal) X(sysv_signal) X(__sysv_signal)               \
	X(siginterrupt) X(sigignore) X(sigset) X(sigblock) X(sigsetmask)       \
	X(sighold) X(sigrelse)

#define UR_REAL_LIST(X) UR_REAL_EARLY(X) UR_REAL_LATE(X)
/* clang-format on */

enum ur_real_index {
#define X(name) UR_REAL_##name,
	UR_REAL_EARLY(X)
#undef X
		UR_REAL_EARLY_COUNT,
	UR_REAL_LAST_EARLY = UR_REAL_EARLY_COUNT - 1,
#define X(name) UR_REAL_##name,
	UR_REAL_LATE(X)
#undef X
		UR_REAL_COUNT,
};

extern void *ur_real_fn[UR_REAL_COUNT];

/* Finds a function on its first use before ur_real_init(). */
void *ur_real_find(enum ur_real_index index);

/* Finds the functions of the first list. */
void ur_real_init(void);

static inline void *ur_real_get(enum ur_real_index index)
{
	void *fn = __atomic_load_n(&ur_real_fn[index], __ATOMIC_RELAXED);

	return __builtin_expect(fn != NULL, 1) ? fn : ur_real_find(index);
}

#define ur_real(name) ((__typeof__(&name))ur_real_get(UR_REAL_##name))

/*
 * Entry points that headers declare only under _FORTIFY_SOURCE, or (the
 * __xstat family, for programs built before glibc 2.33) no longer.
 */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
int __xstat(int ver, const char *path, struct stat *st);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);
int __fxstatat(int ver, int dirfd, const char *path, struct stat *st, int fl);
int __fxstatat64(int ver, int dirfd, const char *path, struct stat64 *st,
		 int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t size);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t len,
			 size_t size);
char *__realpath_chk(const char *path, char *buf, size_t size);
ssize_t __read_chk(int fd, void *buf, size_t count, size_t size);

/* Headers declare these only for older standards, or no more. */
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);
sighandler_t bsd_signal(int sig, sighandler_t handler);
sighandler_t ssignal(int sig, sighandler_t handler);
sighandler_t sysv_signal(int sig, sighandler_t handler);
sighandler_t __sysv_signal(int sig, sighandler_t handler);
int sigblock(int mask);
int sigsetmask(int mask);

#endif
