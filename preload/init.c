// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Starts the library when it is loaded: finds the functions behind its own,
 * makes its tables, and prepares for fork, exec and exit. Every program of a
 * host may pay for it (`uroce enable --host`), so what only RDMA needs is done
 * when a program uses it.
 */
#include <errno.h>

#include "preload/exec.h"
#include "preload/exit.h"
#include "preload/fdmap.h"
#include "preload/real.h"

static __attribute__((constructor(101))) void init(void)
{
	int saved = errno;

	ur_real_init();
	ur_fdmap_init();
	ur_exec_init();
	ur_exit_init();
	errno = saved;
}
