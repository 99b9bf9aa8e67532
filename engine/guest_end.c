// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether the threads of engines are all that a process has left. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include "engine/guest_end.h"
#include "util/os/first_thread.h"

/* The process, which a child of fork is not, and how many threads of engines it has. Each
 * counts itself, so there are never fewer. */
static _Atomic u64 threads;

static void count(int by)
{
	u64 was = atomic_load(&threads), is, pid = (u64)syscall(SYS_getpid);

	do
		is = (was >> 32 == pid ? was : pid << 32) + (u64)by;
	while (!atomic_compare_exchange_weak(&threads, &was, is));
}

void ur_guest_end_begins(void)
{
	count(1);
}

void ur_guest_end_ends(void)
{
	count(-1);
}

/* Returns how many threads there are, the first one among them; 0: that one has not ended, or
 * nobody knows. */
static u32 threads_left(void)
{
	char text[512], state = 0;
	unsigned int n = 0;
	const char *after;
	ssize_t len = -1;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* The name may have anything in it; proc_pid_stat(5). */
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1,
			     " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			     " %*s %*s %*s %*s %*s %u",
			     &state, &n) != 2)
		return 0;
	return state == 'Z' ? n : 0;
}

bool ur_guest_end_is(u64 now, u64 *looked)
{
	if (!ur_first_thread_ends() || now - *looked < UR_GUEST_END_NS)
		return false;
	*looked = now;
	return threads_left() == (u32)atomic_load(&threads) + 1;
}
