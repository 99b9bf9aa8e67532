// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds out which system calls a filter of the program's lets through. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "allowed.h"

bool ur_calls_refused;

/* "Seccomp:\t0" of proc(5). By a read, which any program that opens a device must
 * be allowed; prctl(PR_GET_SECCOMP) may be what it is ended for. */
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
		return true; /* for all that is known */
	text[n] = '\0';
	line = strstr(text, "\nSeccomp:");
	/* A kernel without filters has no such line. */
	return line && strtoul(line + sizeof("\nSeccomp:") - 1, NULL, 10) != 0;
}

/* Makes the calls in a child of one thread, in which any lock may be held by
 * nobody: only system calls. */
static void make_calls(void)
{
	static const struct rlimit none;
	struct timespec now = {0};
	cpu_set_t all;

	/* A call that ends the child shall leave no core file. */
	setrlimit(RLIMIT_CORE, &none);
	sched_yield();
	poll(NULL, 0, 0);
	nanosleep(&now, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sched_getcpu();
	if (!sched_getaffinity(0, sizeof(all), &all))
		sched_setaffinity(0, sizeof(all), &all);
	syscall(SYS_exit_group, 0);
}

/* The filter was there before this process asked for one: who started it let it
 * start programs, so it may have a child. */
static bool ask_filter(void)
{
	int status;
	pid_t pid, got;

	pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid < 0)
		return false;
	if (!pid)
		make_calls();
	do
		got = waitpid(pid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	return got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ur_calls_probe(void)
{
	static u32 asked; /* 1: not allowed; 2: allowed */
	u32 answer;
	bool refused = false;

	if (&ur_preload_filtered &&
	    __atomic_load_n(&ur_preload_filtered, __ATOMIC_RELAXED))
		return;
	if (has_filter()) {
		answer = __atomic_load_n(&asked, __ATOMIC_RELAXED);
		if (!answer) {
			answer = ask_filter() ? 2 : 1;
			__atomic_store_n(&asked, answer, __ATOMIC_RELAXED);
		}
		refused = answer != 2;
	}
	__atomic_store_n(&ur_calls_refused, refused, __ATOMIC_RELAXED);
}
