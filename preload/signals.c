// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions that set a signal's action or the signal mask. Once a handler of ours precedes the
 * program's (faults.c), the program still sees and sets its own. The C library's functions call
 * each other past wrappers, so each is wrapped. siginterrupt() is only recorded: it changes a flag
 * of the kernel's action, which has the program's flags.
 */
#include <errno.h>
#include <signal.h>

#include "preload/faults.h"
#include "preload/real.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* siginterrupt() was called for SIGSEGV or SIGBUS, so signal() does not set
 * SA_RESTART. */
static _Atomic int interrupts[2];

UR_EXPORT int sigaction(int sig, const struct sigaction *act,
			struct sigaction *old)
{
	return ur_faults_guards(sig) ? ur_faults_action(sig, act, old)
				     : ur_real(sigaction)(sig, act, old);
}

UR_EXPORT int __sigaction(int sig, const struct sigaction *act,
			  struct sigaction *old)
{
	return sigaction(sig, act, old);
}

static sighandler_t set(int sig, sighandler_t handler, int flags, bool masks)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&act.sa_mask);
	if (masks)
		sigaddset(&act.sa_mask, sig);
	return ur_faults_action(sig, &act, &old) ? SIG_ERR : old.sa_handler;
}

static sighandler_t set_bsd(int sig, sighandler_t handler)
{
	return set(sig, handler,
		   atomic_load(&interrupts[sig == SIGBUS]) ? 0 : SA_RESTART,
		   true);
}

/* The flags as glibc and signal(2) define them. */
static sighandler_t set_sysv(int sig, sighandler_t handler)
{
	return set(sig, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

#define DEFINE_SIGNAL(name, set)                                            \
	UR_EXPORT sighandler_t name(int sig, sighandler_t handler)          \
	{                                                                   \
		return ur_faults_guards(sig) ? set(sig, handler)            \
					     : ur_real(name)(sig, handler); \
	}

DEFINE_SIGNAL(signal, set_bsd)
DEFINE_SIGNAL(bsd_signal, set_bsd)
DEFINE_SIGNAL(ssignal, set_bsd)
DEFINE_SIGNAL(sysv_signal, set_sysv)
DEFINE_SIGNAL(__sysv_signal, set_sysv)

UR_EXPORT int siginterrupt(int sig, int flag)
{
	int ret = ur_real(siginterrupt)(sig, flag);

	if (!ret && (sig == SIGSEGV || sig == SIGBUS))
		atomic_store(&interrupts[sig == SIGBUS], flag != 0);
	return ret;
}

/* ---- System V's ---- */

UR_EXPORT int sigignore(int sig)
{
	if (!ur_faults_guards(sig))
		return ur_real(sigignore)(sig);
	return set(sig, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

UR_EXPORT sighandler_t sigset(int sig, sighandler_t disposition)
{
	struct sigaction is;
	sigset_t one, before;
	sighandler_t was;

	if (!ur_faults_guards(sig))
		return ur_real(sigset)(sig, disposition);
	sigemptyset(&one);
	sigaddset(&one, sig);
	if (disposition == SIG_HOLD) {
		if (ur_faults_action(sig, NULL, &is))
			return SIG_ERR;
		was = is.sa_handler;
	} else {
		was = set(sig, disposition, 0, false);
	}
	if (was == SIG_ERR ||
	    pthread_sigmask(disposition == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK,
			    &one, &before))
		return SIG_ERR;
	return sigismember(&before, sig) ? SIG_HOLD : was;
}

/* ---- masks ---- */

/* Calls a function that changes the mask, and makes the thread check its mask
 * again. */
#define MASKED(call)                                                           \
	({                                                                     \
		__typeof__(call) ret_ = (call);                                \
                                                                               \
		if (atomic_load_explicit(&ur_faults_on, memory_order_relaxed)) \
			ur_faults_masked();                                    \
		ret_;                                                          \
	})

UR_EXPORT int pthread_sigmask(int how, const sigset_t *mask, sigset_t *old)
{
	return MASKED(ur_real(pthread_sigmask)(how, mask, old));
}

UR_EXPORT int sigprocmask(int how, const sigset_t *mask, sigset_t *old)
{
	return MASKED(ur_real(sigprocmask)(how, mask, old));
}

UR_EXPORT int sigblock(int mask)
{
	return MASKED(ur_real(sigblock)(mask));
}

UR_EXPORT int sigsetmask(int mask)
{
	return MASKED(ur_real(sigsetmask)(mask));
}

UR_EXPORT int sighold(int sig)
{
	return MASKED(ur_real(sighold)(sig));
}

UR_EXPORT int sigrelse(int sig)
{
	return MASKED(ur_real(sigrelse)(sig));
}
