// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The end of a process that ends itself. An adapter would have fetched posted
 * requests long ago; an engine in the program, or its engine process, reads them
 * from the process's memory, so it sends while that exists. A process that is
 * killed asks nobody: then only requests in mapped memory still leave.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/exit.h"
#include "preload/forks.h"
#include "preload/real.h"
#include "util/os/filtered.h"
#include "util/os/first_thread.h"

UR_EXPORT uint32_t ur_preload_first_ends;

static void at_exit(int status, void *arg)
{
	ur_forks_last();
}

static void at_quick(void)
{
	ur_forks_last();
}

void ur_exit_init(void)
{
	/* The first registered handler runs last, and on_exit() belongs to no
	 * library: so this runs after all destructors, which may post. */
	on_exit(at_exit, NULL);
	at_quick_exit(at_quick);
}

UR_EXPORT void _exit(int status)
{
	ur_forks_last();
	ur_real(_exit)(status);
}

UR_EXPORT void _Exit(int status)
{
	ur_forks_last();
	ur_real(_Exit)(status);
}

void ur_exit_first(void)
{
	__atomic_store_n(&ur_preload_first_ends, 1, __ATOMIC_RELAXED);
	ur_forks_last();
}

/* The process may continue without its first thread. Under a filter the kernel is not asked which
 * thread this is. */
UR_EXPORT void pthread_exit(void *ret)
{
	if (ur_is_filtered() || gettid() == (pid_t)syscall(SYS_getpid))
		ur_exit_first();
	ur_real(pthread_exit)(ret);
}
