// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A neighbour's process, with his descriptors, which ends while he shows files of it. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/fuzz/peer_world.h"

/* So many have one input. */
#define MORTALS 6u

static struct peer_world *const w = &peer_world;
static u32 begun;
/* The engine's thread may end it, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* It has this memory, and is gone from one moment to the next. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int
be_there(void *arg)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

/* A copy of the memory under ASan takes longer than the rest. */
static pid_t begin_beside(void)
{
#ifdef __SANITIZE_THREAD__ /* knows no such process */
	return -1;
#else
	static u8 stack[16384] __attribute__((aligned(16)));

	return clone(be_there, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
#endif
}

static void begin(void)
{
	if (w->mortal || begun++ >= MORTALS)
		return;
	w->mortal = begin_beside();
	if (w->mortal < 0)
		w->mortal = fork();
	CHECK(w->mortal >= 0);
	if (!w->mortal)
		be_there(NULL);
}

void peer_process_begin(void)
{
	pthread_mutex_lock(&lock);
	begin();
	pthread_mutex_unlock(&lock);
}

void peer_process_end(void)
{
	pthread_mutex_lock(&lock);
	if (w->mortal) {
		CHECK(!kill(w->mortal, SIGKILL));
		CHECK_EQ(waitpid(w->mortal, NULL, 0), w->mortal);
		w->mortal = 0;
	}
	pthread_mutex_unlock(&lock);
}

void peer_process_again(void)
{
	peer_process_end();
	w->ends_when_mapped = false;
	begun = 0;
}
