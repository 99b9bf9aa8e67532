/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * System calls that this provider makes while polling, unlike other providers:
 * to yield, to leave a processor, to notice that the device is gone. None is
 * made where the program's system call filter (seccomp(2)) might kill the
 * program for it.
 */
#ifndef UR_PROVIDERS_UROCE_ALLOWED_H
#define UR_PROVIDERS_UROCE_ALLOWED_H

#include "util/bytes.h"
#include "util/os/filtered.h"

/* the last ur_calls_probe() found that the calls may not be made */
extern bool ur_calls_refused;

/* Returns whether polls may make these calls. Makes no system call. Any
 * thread. */
static inline bool ur_calls_allowed(void)
{
	return !__atomic_load_n(&ur_calls_refused, __ATOMIC_RELAXED) &&
	       !ur_is_filtered();
}

/*
 * Finds out whether the calling thread has a filter that forbids these calls. A
 * child process, whose end raises no signal, makes them and may be killed for
 * it. The result is kept for the process as long as it has a filter. Called
 * before a context is used, on any thread.
 */
void ur_calls_probe(void);

/* Returns whether an engine may run in this process: its thread inherits the
 * caller's filter. Finds this out, and keeps it, as ur_calls_probe() does. A
 * program that installed a filter itself gets no engine, since it may install a
 * stricter one. A program with ThreadSanitizer gets none either: its reports
 * would be false. Any thread. */
bool ur_calls_engine(void);

#endif
