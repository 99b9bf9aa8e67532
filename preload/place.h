/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The run directory of this process is the one that its environment names; else its
 * user's own; else, where no device has been there, that of the
 * whole host. A process with the rights of another user (AT_SECURE: set-uid,
 * set-gid, capabilities of its file) looks at the host's only: its caller may have
 * written everything else.
 */
#ifndef UR_PRELOAD_PLACE_H
#define UR_PRELOAD_PLACE_H

#include <stdbool.h>

/* Bytes of such a name, with its end. */
#define UR_RUNDIR_MAX 512

/* Returns the run directory, without a trailing slash. */
const char *ur_place(void);

/* Looks whether it is the host's directory: before a name of the device's is used.
 * Once a device has been found somewhere, it stays there. */
void ur_place_look(void);

/* Returns whether the tree exists: there is, or was, a device process. */
bool ur_place_serves(void);

/* Returns the rest of @name, "/...", where it lies in the run directory, or
 * NULL. */
const char *ur_place_behind(const char *name);

#endif
