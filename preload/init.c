// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The start of the library when it is loaded: it finds the functions behind its
 * own, makes its tables, and prepares for fork, exec and exit. Every program of a
 * host may pay for it (`uroce enable --host`): what only RDMA needs is done when a
 * program comes to it.
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
