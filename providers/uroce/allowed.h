/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * System calls that this provider makes in polls, and another card's does not: to
 * let others run, to leave a processor, to see that the device is gone. Where a
 * filter of the program's (seccomp(2)) might end it for one of them, none is made.
 */
#ifndef UR_PROVIDERS_UROCE_ALLOWED_H
#define UR_PROVIDERS_UROCE_ALLOWED_H

#include "util/bytes.h"
#include "util/os/filtered.h"

/* the result of the last ur_calls_probe(): the calls may not be made */
extern bool ur_calls_refused;

/* Returns whether polls may make them. Calls nothing. Any thread. */
static inline bool ur_calls_allowed(void)
{
	return !__atomic_load_n(&ur_calls_refused, __ATOMIC_RELAXED) &&
	       !ur_is_filtered();
}

/*
 * Finds out whether the calling thread has a filter, and if so whether that
 * lets them through: a child, whose end raises no signal, makes them and may be
 * ended for it. The answer is remembered for the process, as long as there is a
 * filter. Before a context is used; any thread.
 */
void ur_calls_probe(void);

/* Returns whether an engine may be in this process, whose thread would have the
 * filter of the calling one; found out, and remembered, in the same way. A program that
 * has asked for a filter itself has no engine: it may ask for more; nor has one with
 * ThreadSanitizer, which would find races that are none. Any thread. */
bool ur_calls_engine(void);

#endif
