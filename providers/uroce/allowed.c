// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds out which system calls the program's filter lets through. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "allowed.h"

bool ur_calls_refused;

/* Reads "Seccomp:\t0" of proc(5). Any program that opens a device must be
 * allowed to read; prctl(PR_GET_SECCOMP) may kill it. */
static bool has_filter(void)
{
	char text[4096];
	ssize_t n = -1;
	const char *line;
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return true; /* unknown counts as a filter */
	text[n] = '\0';
	line = strstr(text, "\nSeccomp:");
	/* A kernel without filters has no such line. */
	return line && strtoul(line + sizeof("\nSeccomp:") - 1, NULL, 10) != 0;
}

/* How far the child got. */
enum tried {
	TRIED_NOTHING,
	TRIED_CALLS,  /* the calls of polls are allowed */
	TRIED_ENGINE, /* the calls of an engine are allowed too */
};

/* The next two run in a child with one thread, where a lock may be held for
 * ever: only system calls. */

static void make_calls(void)
{
	struct timespec now = {0};
	struct stat st;
	cpu_set_t all;

	sched_yield();
	poll(NULL, 0, 0);
	fstat(-1, &st);
	nanosleep(&now, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sched_getcpu();
	if (!sched_getaffinity(0, sizeof(all), &all))
		sched_setaffinity(0, sizeof(all), &all);
}

static bool is_refused(long ret)
{
	return ret < 0 &&
	       (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

/* Set where the C library registers restartable sequences for its threads. It does so for each
 * thread, and ends the process if that is refused. */
extern const unsigned int __rseq_size __attribute__((weak));

/* The C library ends a process that is refused these calls. */
static bool refuses_threads(void)
{
	u32 word = 0;

	return is_refused(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL,
				  NULL, 0)) ||
	       (&__rseq_size && __rseq_size &&
		is_refused(syscall(SYS_rseq, NULL, 0, 0, 0)));
}

/* Makes the calls of an engine and its thread that other programs may not need, in forms that do
 * nothing. A newer call with an older substitute may be refused, but must not kill. Returns whether
 * all may be made. */
static bool make_engine_calls(void)
{
	struct sockaddr_storage any = {0};
	struct timespec now = {0};
	struct epoll_event ev;
	char attr[48];
	cpu_set_t all;

	sched_yield();
	if (!sched_getaffinity(0, sizeof(all), &all))
		sched_setaffinity(0, sizeof(all), &all);
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	syscall(SYS_sched_getattr, 0, attr, sizeof(attr), 0);
	syscall(SYS_sched_setattr, 0, NULL, 0);
	syscall(SYS_clone3, NULL, 0);
	if (refuses_threads())
		return false;
	syscall(SYS_epoll_pwait2, -1, &ev, 1, &now, NULL, 0);
	/* A filter may refuse some kinds of sockets. */
	if (socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) < 0 &&
	    errno != EMFILE && errno != ENFILE)
		return false;
	return !is_refused(eventfd(0, EFD_CLOEXEC)) &&
	       !is_refused(epoll_create1(EPOLL_CLOEXEC)) &&
	       !is_refused(bind(-1, (struct sockaddr *)&any, sizeof(any))) &&
	       !is_refused(setsockopt(-1, SOL_SOCKET, SO_RCVBUF, &now, 4)) &&
	       !is_refused(getsockopt(-1, SOL_SOCKET, SO_RCVBUF, NULL, NULL)) &&
	       !is_refused(sendmsg(-1, NULL, 0)) &&
	       !is_refused(sendmmsg(-1, NULL, 0, 0)) &&
	       !is_refused(recvmsg(-1, NULL, 0)) &&
	       !is_refused(recvmmsg(-1, NULL, 0, 0, NULL)) &&
	       !is_refused(send(-1, NULL, 0, 0)) &&
	       !is_refused(recv(-1, NULL, 0, 0)) &&
	       !is_refused(write(-1, NULL, 0)) &&
	       !is_refused(pread(-1, NULL, 0, 0)) &&
	       !is_refused(pwrite(-1, NULL, 0, 0)) &&
	       !is_refused(epoll_wait(-1, &ev, 1, 0)) &&
	       !is_refused(epoll_ctl(-1, EPOLL_CTL_DEL, -1, &ev)) &&
	       !is_refused(fcntl(-1, F_DUPFD_CLOEXEC, 0)) &&
	       !is_refused(memfd_create("uroce-rings", MFD_CLOEXEC));
}

/* Tries the calls in a child. The filter is older than this process, whose
 * starter allowed it to run programs, so it may fork. A call may kill the
 * child, so the child records its progress in shared memory. One child makes
 * all calls, since copying a large program's page table takes time. */
static enum tried ask_filter(void)
{
	u32 *came = mmap(NULL, sizeof(*came), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum tried is = TRIED_NOTHING;
	pid_t pid, got;

	if (came == MAP_FAILED)
		return TRIED_NOTHING;
	pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (!pid) {
		/* A call that ends the child shall leave no core file. */
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		make_calls();
		__atomic_store_n(came, TRIED_CALLS, __ATOMIC_RELAXED);
		if (make_engine_calls())
			__atomic_store_n(came, TRIED_ENGINE, __ATOMIC_RELAXED);
		syscall(SYS_exit_group, 0);
	}
	if (pid > 0) {
		do
			got = waitpid(pid, NULL, __WALL);
		while (got < 0 && errno == EINTR);
		if (got == pid)
			is = __atomic_load_n(came, __ATOMIC_RELAXED);
	}
	munmap(came, sizeof(*came));
	return is;
}

/* Returns whether a child got so far, now or at the first call. */
static bool is_allowed(enum tried least)
{
	static u32 answer; /* result + 1; 0: not known */
	u32 is = __atomic_load_n(&answer, __ATOMIC_RELAXED);

	if (!is) {
		is = ask_filter() + 1;
		__atomic_store_n(&answer, is, __ATOMIC_RELAXED);
	}
	return is > least;
}

void ur_calls_probe(void)
{
	if (!ur_is_filtered())
		__atomic_store_n(&ur_calls_refused,
				 has_filter() && !is_allowed(TRIED_CALLS),
				 __ATOMIC_RELAXED);
}

/* ThreadSanitizer sees what the engine's thread copies, but not the
 * synchronization through rings, which the two have at different addresses: it would
 * report each message as a race. */
static bool watches_threads(void)
{
#ifdef __SANITIZE_THREAD__
	return false; /* tests/threads/together.c makes them one address */
#else
	return dlsym(RTLD_DEFAULT, "__tsan_init");
#endif
}

bool ur_calls_engine(void)
{
	return !watches_threads() && !ur_is_filtered() &&
	       (!has_filter() || is_allowed(TRIED_ENGINE));
}
