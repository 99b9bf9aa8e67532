/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_DEVICE_FORK_APART_H
#define UR_DEVICE_FORK_APART_H

#include <sys/types.h>

/* Forks a process that leaves uroced: it has to close all descriptors that it does not name. Returns in
 * uroced once it has, since they include the lock of the run directory: a uroced that is killed before
 * would leave the lock to a process that the next uroced knows nothing of. Returns as fork(). */
pid_t ur_fork_apart(void);

#endif
