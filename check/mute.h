/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of --check-mute. A line is an id or "*" and, after a space, a place,
 * or nothing for everywhere. A place is a function, a file, a file with a line
 * ("server.c:88") or a library; it is compared with every frame of the
 * mistake's stack. "#" begins a comment.
 */
#ifndef UR_CHECK_MUTE_H
#define UR_CHECK_MUTE_H

#include <stdbool.h>

#include "check/stack.h"

/* Reads the file; prints errors in it on standard error. */
void ur_mute_read(const char *path);

/* Returns whether mistake @id at @place is muted. */
bool ur_mute_has(const char *id, const struct ur_stack *place);

#endif
