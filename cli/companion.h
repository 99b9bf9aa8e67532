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
 * ur_companion_start() - start a program
 * @argv: NULL terminated; the first is its name, found beside this program in a build tree,
 * and in libexec if installed
 * @run_dir: of the device that it gets; NULL: the host's own RDMA devices
 *
 * Prints errors on stderr. Return: 0, and the caller calls ur_companion_wait() after reading
 * all lines; or -errno.
 */
int ur_companion_start(struct ur_companion *companion, const char *const argv[],
		       const char *run_dir);

/* Closes its output and waits for its end. Returns 0, or -ENOEXEC if it could not be
 * executed. */
int ur_companion_wait(struct ur_companion *companion);

/* Executes it in this process. If that fails, prints the reason and returns an exit status. */
int ur_companion_become(const char *const argv[], const char *run_dir);

#endif
