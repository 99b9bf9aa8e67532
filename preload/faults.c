// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The handler of SIGSEGV and SIGBUS turns a fault of a copying instruction (copy.c) into the copy's
 * result. Everything else is the program's: its handler is called as the kernel would, with its
 * mask and on its stack; without one the signal's default follows.
 *
 * The kernel's action has the program's mask and flags, and our handler. The program's handler,
 * SA_RESETHAND and SA_SIGINFO are kept here, in one word for each signal. Two threads that set the
 * action of one signal at once may combine the handler of one with the mask of the other.
 *
 * System calls are made directly, since signals.c wraps the C library's functions.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "kernel-abi/uroce-copies.h"
#include "preload/copy.h"
#include "preload/faults.h"
#include "preload/fdmap.h"
#include "preload/real.h"
#include "util/os/filtered.h"

_Atomic int ur_faults_on;

#if UR_COPY_HERE
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Linux' include/uapi/asm-generic/signal-defs.h. */
#define SA_RESTORER_FLAG 0x04000000ul
#define KERNEL_MASK	 sizeof(unsigned long)

/* The kernel's struct sigaction, on both architectures. */
struct kernel_sigaction {
	uintptr_t handler;
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Flags in the word with the program's handler; no user address has these
 * bits. */
#define WAS_RESETHAND (1ull << 63)
#define WAS_SIGINFO   (1ull << 62)
#define HANDLER(word) ((uintptr_t)((word) & ~(WAS_RESETHAND | WAS_SIGINFO)))

typedef void handler(int sig, siginfo_t *info, void *context);

static _Atomic uint64_t programs[2]; /* of SIGSEGV, of SIGBUS */
/* Number of changes of actions; a thread that has seen fewer checks again. */
static _Atomic uint32_t changes;

/* The calling thread's knowledge about itself. */
static __thread struct {
	uint64_t until; /* end of validity; 0: nothing is known */
	uint32_t changes;
	int may;
	int engines; /* it is an engine's thread */
} own __attribute__((tls_model("initial-exec")));

static const int sigs[2] = {SIGSEGV, SIGBUS};

#define BIT(sig)  (1ul << ((sig)-1))
#define BOTH_BITS (BIT(SIGSEGV) | BIT(SIGBUS))

#ifdef __x86_64__
/* Unwinders recognise a signal's frame by these bytes. */
void ur_faults_return(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".balign 16\n"
	"nop\n" /* unwinders look for the caller one byte before */
	".globl ur_faults_return\n"
	".hidden ur_faults_return\n"
	".type ur_faults_return, @function\n"
	"ur_faults_return:\n"
	"movq $15, %rax\n" /* rt_sigreturn */
	"syscall\n"
	".size ur_faults_return, . - ur_faults_return\n"
	".popsection\n");
#define RESTORER       ur_faults_return
#define PC(uc)	       ((uintptr_t)(uc)->uc_mcontext.gregs[REG_RIP])
#define SET_PC(uc, pc) ((uc)->uc_mcontext.gregs[REG_RIP] = (greg_t)(pc))
#define RESTORER_FLAG  SA_RESTORER_FLAG
#else
/* The vDSO has a restorer. */
#define RESTORER	  NULL
#define PC(uc)		  ((uintptr_t)(uc)->uc_mcontext.pc)
#define SET_PC(uc, where) ((uc)->uc_mcontext.pc = (where))
#define RESTORER_FLAG	  0ul
#endif

static long kernel_action(int sig, const struct kernel_sigaction *set,
			  struct kernel_sigaction *old)
{
	return syscall(SYS_rt_sigaction, sig, set, old, KERNEL_MASK);
}

static long kernel_mask(int how, const unsigned long *set, unsigned long *old)
{
	return syscall(SYS_rt_sigprocmask, how, set, old, KERNEL_MASK);
}

static _Atomic uint64_t *program_of(int sig)
{
	return &programs[sig == SIGBUS];
}

/* ---- handling a signal ---- */

/* Returns whether it is a fault of an instruction: not a sent signal, nor the
 * report of a broken page that was not accessed. */
static bool is_fault(int sig, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       !(sig == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

static bool is_copying(uintptr_t pc)
{
	return pc >= (uintptr_t)ur_copy_begin && pc < (uintptr_t)ur_copy_end;
}

/* Ends the process by the signal's default, once this handler returns. If the
 * signal is not delivered (the first process of a namespace gets none of its
 * own), a fault recurs. */
static void end(int sig, siginfo_t *info)
{
	static const struct kernel_sigaction none;

	kernel_action(sig, &none, NULL);
	atomic_fetch_add(&changes, 1);
	syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid),
		sig, info);
}

/* Handles a signal that an engine's thread got. The thread blocks it from now on, so that a thread
 * of the program gets it. */
static void pass_on(int sig, siginfo_t *info, ucontext_t *uc)
{
	const unsigned long both = BOTH_BITS;

	if (is_fault(sig, info)) {
		end(sig, info);
		return;
	}
	own.until = 0;
	kernel_mask(SIG_BLOCK, &both, NULL);
	sigaddset(&uc->uc_sigmask, SIGSEGV);
	sigaddset(&uc->uc_sigmask, SIGBUS);
	/* Only signals of sigqueue() can be sent on unchanged; others lose
	 * their sender. */
	if (syscall(SYS_rt_sigqueueinfo, syscall(SYS_getpid), sig, info))
		syscall(SYS_kill, syscall(SYS_getpid), sig);
}

/* Returns the program's action, and resets it if SA_RESETHAND is set. */
static uint64_t take_action(int sig)
{
	_Atomic uint64_t *word = program_of(sig);
	uint64_t is = atomic_load(word);

	while ((is & WAS_RESETHAND) && HANDLER(is) != (uintptr_t)SIG_DFL &&
	       !atomic_compare_exchange_weak(
		       word, &is, is & (WAS_RESETHAND | WAS_SIGINFO)))
		;
	return is;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int saved = errno;
	uintptr_t there;

	if (is_fault(sig, info) && is_copying(PC(uc))) {
		SET_PC(uc, (uintptr_t)ur_copy_fault);
		return;
	}
	if (own.engines) {
		pass_on(sig, info, uc);
		errno = saved;
		return;
	}
	there = HANDLER(take_action(sig));
	if (there != (uintptr_t)SIG_DFL && there != (uintptr_t)SIG_IGN) {
		/* The kernel passes all three arguments to any handler. */
		((handler *)there)(sig, info, context);
		return;
	}
	/* Another thread is about to ignore the signal; faults cannot be
	 * ignored. */
	if (there == (uintptr_t)SIG_DFL || is_fault(sig, info))
		end(sig, info);
	errno = saved;
}

/* ---- setting an action ---- */

#define OUR_HANDLER ((uintptr_t)on_fault)

static bool is_ours(const struct kernel_sigaction *a)
{
	return a->handler == OUR_HANDLER;
}

static uint64_t word_of(uintptr_t handler, unsigned long flags)
{
	return handler | (flags & (unsigned)SA_RESETHAND ? WAS_RESETHAND : 0) |
	       (flags & (unsigned)SA_SIGINFO ? WAS_SIGINFO : 0);
}

/* Returns the kernel's action for a program's. */
static struct kernel_sigaction
before_it(const struct kernel_sigaction *programs_own)
{
	struct kernel_sigaction a = *programs_own;

	a.handler = OUR_HANDLER;
	a.flags &= ~(unsigned long)(unsigned)SA_RESETHAND;
	a.flags |= (unsigned)SA_SIGINFO | RESTORER_FLAG;
	a.restorer = RESTORER;
	return a;
}

/* Shows the program its action: the kernel's, with word. */
static void show(struct sigaction *old, const struct kernel_sigaction *is,
		 uint64_t word)
{
	unsigned long flags = is->flags & ~RESTORER_FLAG;

	memset(old, 0, sizeof(*old));
	if (is_ours(is)) {
		flags &= ~(unsigned long)(unsigned)SA_SIGINFO;
		flags |= word & WAS_SIGINFO ? (unsigned)SA_SIGINFO : 0;
		flags |= word & WAS_RESETHAND ? (unsigned)SA_RESETHAND : 0;
	}
	old->sa_handler =
		(void (*)(int))(is_ours(is) ? HANDLER(word) : is->handler);
	old->sa_flags = (int)flags;
	memcpy(&old->sa_mask, &is->mask, sizeof(is->mask));
}

int ur_faults_action(int sig, const struct sigaction *act,
		     struct sigaction *old)
{
	uint64_t word = atomic_load(program_of(sig));
	struct kernel_sigaction set = {0}, was;
	bool child = ur_fdmap_borrowed();

	if (act) {
		set.handler = (uintptr_t)act->sa_handler;
		set.flags = (unsigned)act->sa_flags | RESTORER_FLAG;
		set.restorer = RESTORER;
		memcpy(&set.mask, &act->sa_mask, sizeof(set.mask));
	}
	if (act && !child && act->sa_handler != SIG_IGN) {
		word = atomic_exchange(program_of(sig),
				       word_of(set.handler, set.flags));
		set = before_it(&set);
	}
	if (kernel_action(sig, act ? &set : NULL, &was))
		return -1;
	if (act && !child)
		atomic_fetch_add(&changes, 1);
	if (old)
		show(old, &was, word);
	return 0;
}

void ur_faults_masked(void)
{
	own.until = 0;
}

/* ---- for the engine ---- */

/* Takes over the program's present action. */
static int stand_before(int sig)
{
	struct kernel_sigaction is, set;

	if (kernel_action(sig, NULL, &is))
		return -EOPNOTSUPP;
	if (is.handler == (uintptr_t)SIG_IGN || is_ours(&is))
		return 0;
	atomic_store(program_of(sig), word_of(is.handler, is.flags));
	set = before_it(&is);
	return kernel_action(sig, &set, NULL) ? -EOPNOTSUPP : 0;
}

/* Returns whether a sanitizer records memory accesses: it sees the C library's calls but not our
 * copies, and delays signals. */
static bool has_records(void)
{
	return dlsym(RTLD_DEFAULT, "__tsan_init") ||
	       dlsym(RTLD_DEFAULT, "__msan_init");
}

#ifdef __x86_64__
/* stores past the caches are faster here */
static bool away;

/* the string instruction is fast */
static bool string;

/* Bytes from which the string instruction is faster than vector stores; measured on Xeon and EPYC. */
#define STRING_BYTES 4096u
#define PAGE_MASK    4095u
#define CLOSE	     64u
#define ERMS	     (1u << 9) /* of leaf 7, ebx: "enhanced rep movsb" */

/* Calls cpuid twice: in a virtual machine each takes 20 us of a program's start. */
static void know_processor(void)
{
	unsigned int max, name[3], a, b, c, d;

	__cpuid(0, max, name[0], name[2], name[1]);
	away = !memcmp(name, "AuthenticAMD", sizeof(name));
	if (max >= 7) {
		__cpuid_count(7, 0, a, b, c, d);
		string = b & ERMS;
	}
}

/* Returns whether ur_copy_string() is faster; see there. */
static bool by_string(const void *to, const void *from, size_t len)
{
	uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;

	return len >= STRING_BYTES && string &&
	       ((ahead - 1) & PAGE_MASK) >= CLOSE;
}
#endif

static int start(void)
{
	static _Atomic int begun;
	int err = 0;

	if (has_records() || ur_fdmap_borrowed())
		return -EOPNOTSUPP;
	if (atomic_exchange(&begun, 1))
		return 0;
#ifdef __x86_64__
	know_processor();
#endif
	/* From here on the program's calls go through ur_faults_action(). */
	atomic_store(&ur_faults_on, 1);
	for (int i = 0; i < 2 && !err; i++)
		err = stand_before(sigs[i]);
	return err;
}

/* Asks the kernel whether signals reach this thread. */
static int reaches(void)
{
	unsigned long mask;
	struct kernel_sigaction is;

	if (kernel_mask(SIG_BLOCK, NULL, &mask) || (mask & BOTH_BITS))
		return 0;
	for (int i = 0; i < 2; i++)
		if (kernel_action(sigs[i], NULL, &is) || !is_ours(&is))
			return 0;
	return 1;
}

static int may(__u64 now)
{
	uint32_t changed = atomic_load(&changes);
	int saved = errno;

	if (now < own.until && own.changes == changed)
		return own.may;
	/* A filter may kill the program for an unexpected call. */
	if (!atomic_load(&ur_faults_on) || ur_is_filtered())
		return 0;
	own.may = reaches();
	own.changes = changed;
	own.until = now + UROCE_COPIES_BELIEVED_NS;
	errno = saved;
	return own.may;
}

static void own_thread(void)
{
	const unsigned long both = BOTH_BITS;

	own.engines = 1;
	kernel_mask(SIG_UNBLOCK, &both, NULL);
	own.until = 0;
}

static int copy(void *to, const void *from, size_t len)
{
#ifdef __x86_64__
	if (by_string(to, from, len))
		return ur_copy_string(to, from, len);
#endif
	return ur_copy(to, from, len);
}

static int copy_away(void *to, const void *from, size_t len)
{
#ifdef __x86_64__
	if (by_string(to, from, len))
		return ur_copy_string(to, from, len);
	if (away)
		return ur_copy_away(to, from, len);
#endif
	return ur_copy(to, from, len);
}

UR_EXPORT const struct uroce_copies uroce_copies = {
	.version = UROCE_COPIES_VERSION,
	.start = start,
	.may = may,
	.own_thread = own_thread,
	.copy = copy,
	.copy_away = copy_away,
	.swap = ur_copy_swap,
};

#else

static int start(void)
{
	return -EOPNOTSUPP;
}

UR_EXPORT const struct uroce_copies uroce_copies = {
	.version = UROCE_COPIES_VERSION,
	.start = start,
};

int ur_faults_action(int sig, const struct sigaction *act,
		     struct sigaction *old)
{
	return ur_real(sigaction)(sig, act, old);
}

void ur_faults_masked(void)
{
}

#endif
