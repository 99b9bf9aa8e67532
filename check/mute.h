/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of --check-mute. A line is an id or "*", and, separated by a space,
 * a place, or nothing for everywhere. A place is a function, a file, a file with
 * a line ("server.c:88") or a library. It is held against every frame of the
 * mistake's stack. "#" begins a comment.
 */
#ifndef UR_CHECK_MUTE_H
#define UR_CHECK_MUTE_H

#include <stdbool.h>

#include "check/stack.h"

/* Reads the file; says on standard error what is wrong with it. */
void ur_mute_read(const char *path);

/* Returns whether the mistake @id at @place is not to be named. */
bool ur_mute_has(const char *id, const struct ur_stack *place);

#endif
