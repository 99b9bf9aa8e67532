/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The handler of faults that stands before the program's own, from when an engine in the
 * program asks for copies on (kernel-abi/uroce-copies.h). Until then nothing of it is
 * there but one load in the functions of signals.c. */
#ifndef UR_PRELOAD_FAULTS_H
#define UR_PRELOAD_FAULTS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Nonzero once the handler stands there. */
extern _Atomic int ur_faults_on;

/* Returns whether ur_faults_action() is to be asked about the signal. */
static inline bool ur_faults_guards(int sig)
{
	return __builtin_expect(atomic_load_explicit(&ur_faults_on,
						     memory_order_relaxed) != 0,
				0) &&
	       (sig == SIGSEGV || sig == SIGBUS);
}

/* Does for one of those signals what sigaction(2) does, with what the program sees as its
 * action. The kernel's is ours, with the program's mask and flags, except where the program
 * ignores the signal: that must survive exec(). Any thread, signal handlers, and children
 * of vfork(), which change the kernel's alone. */
int ur_faults_action(int sig, const struct sigaction *act,
		     struct sigaction *old);

/* The calling thread may have changed what it blocks. */
void ur_faults_masked(void);

#endif
