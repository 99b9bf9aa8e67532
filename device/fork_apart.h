/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_DEVICE_FORK_APART_H
#define UR_DEVICE_FORK_APART_H

#include <sys/types.h>

/* Forks a process that leaves uroced. The child has to close all descriptors that it does not
 * need: one of them is the lock of the run directory, which a killed uroced must not leave to
 * another process. In uroced the function returns only after that. Returns as fork(). */
pid_t ur_fork_apart(void);

#endif
