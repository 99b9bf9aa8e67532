/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The RDMA programs that come with uroce, which itself links no RDMA library. They run with
 * the device present, and print lines that uroce reads. */
#ifndef UR_CLI_COMPANION_H
#define UR_CLI_COMPANION_H

#include <stdio.h>
#include <sys/types.h>

struct ur_companion {
	pid_t pid;
	FILE *said; /* its standard output */
};

/**
 * ur_companion_start() - start one
 * @argv: NULL ended; the first is its name, which lies beside this program in a
 * build tree and in libexec where it is installed
 * @run_dir: of the device that it gets; NULL: it has the host's own
 *
 * Says on stderr what is wrong. Return: 0, and ur_companion_wait() is to be
 * called when all lines are read; or -errno.
 */
int ur_companion_start(struct ur_companion *companion, const char *const argv[],
		       const char *run_dir);

/* Closes its output and waits for its end. Returns 0, or -ENOEXEC if it could not be
 * executed. */
int ur_companion_wait(struct ur_companion *companion);

/* Executes it in this process. If that fails, prints the reason and returns an exit status. */
int ur_companion_become(const char *const argv[], const char *run_dir);

#endif
