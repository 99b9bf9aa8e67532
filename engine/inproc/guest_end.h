/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The end of a program whose threads end one by one: the process ends with the last of them,
 * by exit() if that one ended by itself. The threads of engines are none of the program's, but the
 * system and the C library count them, so each looks whether such are all that is left, and
 * then ends as well.
 */
#ifndef UR_ENGINE_INPROC_GUEST_END_H
#define UR_ENGINE_INPROC_GUEST_END_H

#include <stdbool.h>
#include "util/bytes.h"

/* Where it may be so, an engine's thread looks so often. */
#define UR_GUEST_END_NS 100000000u

/* The calling thread is an engine's, until it says that it ends. */
void ur_guest_end_begins(void);
void ur_guest_end_ends(void);
/* Returns whether the process has threads of engines only. Looks, at most each
 * UR_GUEST_END_NS, where the first thread may have ended; nothing else costs. looked: when the
 * caller's thread did. */
bool ur_guest_end_is(u64 now, u64 *looked);

#endif
