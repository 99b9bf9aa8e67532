/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The end of a program whose threads end one by one. A process ends with its last thread. Threads of
 * engines must not keep it alive, but the system and the C library count them. So each checks whether
 * only threads of engines are left, and then ends as well.
 */
#ifndef UR_ENGINE_INPROC_INPROC_END_H
#define UR_ENGINE_INPROC_INPROC_END_H

#include <stdbool.h>
#include "util/bytes.h"

/* Interval of that check, once the first thread may have ended. */
#define UR_INPROC_END_NS 100000000u

/* Count the calling thread as an engine's; end that. */
void ur_inproc_end_begins(void);
void ur_inproc_end_ends(void);
/* Returns whether the process has threads of engines only. Checks at most once each
 * UR_INPROC_END_NS, and only if the first thread may have ended. *checked: time of the calling
 * thread's last check. */
bool ur_inproc_end_is(u64 now, u64 *checked);

#endif
