/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fault handler in front of the program's own. It is installed when an engine in the program
 * first asks for copies (kernel-abi/uroce-copies.h). Before that it costs one load in the functions
 * of signals.c. */
#ifndef UR_PRELOAD_FAULTS_H
#define UR_PRELOAD_FAULTS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Nonzero once the handler is installed. */
extern _Atomic int ur_faults_on;

/* Returns whether ur_faults_action() must handle the signal's action. */
static inline bool ur_faults_guards(int sig)
{
	return __builtin_expect(atomic_load_explicit(&ur_faults_on,
						     memory_order_relaxed) != 0,
				0) &&
	       (sig == SIGSEGV || sig == SIGBUS);
}

/* Does what sigaction(2) does, on the action that the program sees. The kernel keeps our handler,
 * with the program's mask and flags; except where the program ignores the signal, which must
 * survive exec(). Any thread, signal handlers, and children of vfork(), which change only the
 * kernel's action. */
int ur_faults_action(int sig, const struct sigaction *act,
		     struct sigaction *old);

/* Called after the calling thread may have changed its signal mask. */
void ur_faults_masked(void);

#endif
