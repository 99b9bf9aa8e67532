/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_DEVICE_FORK_APART_H
#define UR_DEVICE_FORK_APART_H

#include <sys/types.h>

/* Forks a process that leaves uroced. The child has to close all descriptors that it does not
 * need: one of them is the lock of the run directory, which a killed uroced must not leave to
 * another process. In uroced the function returns only after that. Returns as fork(). */
pid_t ur_fork_apart(void);

/* Makes that process one of its own: it has a session, no signals blocked, /dev/null as its
 * standard files, and closes all other descriptors but low and high, which are at least 3 and
 * may be the same. Sets its name in ps, both comm and command line. argv: of main(), or
 * NULL. */
void ur_leave_uroced(char **argv, const char *name, int low, int high);

#endif
