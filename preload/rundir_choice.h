/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The run directory of this process: the one that its environment names; else
 * its user's own; else, if no device has been there, the host's. A process with
 * another user's rights (AT_SECURE: set-uid, set-gid, file capabilities) uses
 * only the host's, since its caller may have written all others.
 */
#ifndef UR_PRELOAD_RUNDIR_CHOICE_H
#define UR_PRELOAD_RUNDIR_CHOICE_H

#include <stdbool.h>

/* Bytes of a run directory's name, with the NUL. */
#define UR_RUNDIR_MAX 512

/* Returns the run directory, without a trailing slash. */
const char *ur_chosen_rundir(void);

/* Decides whether the host's directory is used. Called before a name of the
 * device is used. Once a device was found, the choice stays. */
void ur_choose_rundir(void);

/* Returns whether the tree exists: a device process runs or ran. */
bool ur_chosen_rundir_serves(void);

/* Returns the part of @name behind the run directory, "/...", or NULL where
 * @name lies elsewhere. */
const char *ur_chosen_rundir_tail(const char *name);

#endif
