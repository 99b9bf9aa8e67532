// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Starts detached threads. */
#include <pthread.h>
#include <signal.h>

#include "util/os/thread.h"

int ur_thread_start(size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE,
				     SIGILL,  SIGTRAP, SIGSYS};
	pthread_attr_t attr;
	sigset_t set, before;
	pthread_t thread;
	int err = -pthread_attr_init(&attr);

	if (err)
		return err;
	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack_bytes);
	pthread_sigmask(SIG_SETMASK, &set, &before);
	err = -pthread_create(&thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}
