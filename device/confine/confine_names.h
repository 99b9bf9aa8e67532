/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lists of system calls by name, whatever their arguments. Names unknown on this machine
 * are skipped.
 */
#ifndef UR_DEVICE_CONFINE_CONFINE_NAMES_H
#define UR_DEVICE_CONFINE_CONFINE_NAMES_H

#include <stddef.h>

struct ur_call_names {
	const char *const *name;
	size_t count;
};

/* the calls that the device needs */
extern const struct ur_call_names ur_calls_plain;
/* the calls that only an intruder makes */
extern const struct ur_call_names ur_calls_fatal;
/* LeakSanitizer stops the threads with ptrace, and both sanitizers read /proc. */
extern const struct ur_call_names ur_calls_sanitizers;
/* the calls that the keeper needs */
extern const struct ur_call_names ur_calls_keeper;

#endif
