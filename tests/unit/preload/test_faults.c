// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Copies whose faults are their results, and the handler that makes them so: the program
 * sees its own signals and its own actions, and nothing of ours. Linked with the library,
 * which is thereby in front of the C library.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kernel-abi/uroce-copies.h"
#include "tests/check.h"
#include "tests/machine.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define PAGE 65536u /* of any system */

static uint64_t now = 1000000000;
static uint8_t
	*pages; /* the first can be written to, the second is not there */
static volatile sig_atomic_t came;
static void *volatile where;
static sigjmp_buf back;

static void start(void)
{
	if (uroce_copies.start())
		SKIP("no copies on this processor");
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && !munmap(pages + PAGE, PAGE));
}

/* A thread asks again after some time only. */
static int may(void)
{
	now += 1000;
	return uroce_copies.may(now);
}

static int may_later(void)
{
	now += 2 * UROCE_COPIES_BELIEVED_NS;
	return uroce_copies.may(now);
}

/* A fault of a copy is an error; the program's handlers are not called. */
static void check_copies(void)
{
	uint8_t bytes[64] = {1, 2, 3};
	int before = came;

	CHECK(may());
	CHECK_EQ(uroce_copies.copy(pages + PAGE - 32, bytes, 64), -EFAULT);
	CHECK_EQ(uroce_copies.copy(bytes, pages + PAGE - 32, 64), -EFAULT);
	CHECK_EQ(uroce_copies.copy(pages + PAGE, bytes, 1), -EFAULT);
	CHECK_EQ(uroce_copies.copy(bytes, (void *)(1ull << 62), 16), -EFAULT);
	CHECK_EQ(uroce_copies.copy_away(pages + PAGE - 64, pages + PAGE, 64),
		 -EFAULT);
	CHECK_EQ(uroce_copies.copy_away(pages + PAGE, pages, 64), -EFAULT);
	CHECK_EQ(uroce_copies.copy(pages, bytes, 64), 0);
	CHECK(!memcmp(pages, bytes, 64));
	CHECK_EQ(came, before);
}

static void handle(int sig, siginfo_t *info, void *context)
{
	came++;
	where = info->si_addr;
	siglongjmp(back, 1);
}

static void note(int sig)
{
	came++;
}

/* A fault of the program's own. */
static void check_fault(void)
{
	int before = came;

	where = NULL;
	if (!sigsetjmp(back, 1))
		*(volatile uint8_t *)(pages + PAGE + 5) = 1;
	CHECK_EQ(came, before + 1);
	CHECK(where == pages + PAGE + 5);
}

static void set(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction act = {.sa_sigaction = handler,
				.sa_flags = SA_SIGINFO | flags};

	CHECK(!sigaction(sig, &act, NULL));
}

static int status_of(void (*in_child)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		in_child();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static bool dies(void (*in_child)(void), int sig)
{
	int status = status_of(in_child);

	return WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

static void fault(void)
{
	*(volatile uint8_t *)(pages + PAGE) = 1;
}

static void send_segv(void)
{
	kill(getpid(), SIGSEGV);
}

static void raise_bus(void)
{
	raise(SIGBUS);
}

/* ---- copies ---- */

/* All small sizes and alignments, with what is beside them left alone. */
static void test_sizes(void)
{
	uint8_t from[256], to[256], want[256];

	start();
	CHECK(may());
	for (uint32_t i = 0; i < 256; i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (uint32_t len = 0; len <= 160; len++)
		for (uint32_t at = 0; at < 32 * 9; at++) {
			uint32_t dst = at % 32, src = at / 32;

			memset(to, 0xee, sizeof(to));
			memset(want, 0xee, sizeof(want));
			memcpy(want + dst, from + src, len);
			CHECK(!uroce_copies.copy(to + dst, from + src, len));
			CHECK(!memcmp(to, want, sizeof(to)));
			memset(to, 0xee, sizeof(to));
			CHECK(!uroce_copies.copy_away(to + dst, from + src,
						      len));
			CHECK(!memcmp(to, want, sizeof(to)));
		}
}

/* Bytes before the page that is not there may have been copied, no others. */
static void test_part(void)
{
	uint8_t bytes[200];

	start();
	CHECK(may());
	memset(bytes, 5, sizeof(bytes));
	for (uint32_t there = 1; there < 100; there++) {
		uint8_t *p = pages + PAGE - there;

		memset(pages, 0, PAGE);
		CHECK_EQ(uroce_copies.copy(p, bytes, 200), -EFAULT);
		CHECK(!p[-1] && *p == 5);
	}
}

typedef int copier(void *to, const void *from, size_t len);

/* Long ones, whose middles some processors move in another way, wherever the two lie in their pages. */
static void test_long(copier *copy)
{
	static uint8_t from[3 * 4096], to[3 * 4096], want[3 * 4096];

	start();
	CHECK(may());
	for (uint32_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t dst = i % 80, src = i / 25, len = 4040 + i * 37 % 4096;

		memset(to, 0xee, sizeof(to));
		memset(want, 0xee, sizeof(want));
		memcpy(want + dst, from + src, len);
		CHECK(!copy(to + dst, from + src, len));
		CHECK(!memcmp(to, want, sizeof(to)));
	}
}

/* So many of them lie before memory that is not there, or after it. */
static void check_hole(copier *copy, uint8_t *hole, uint32_t before,
		       uint32_t after)
{
	static uint8_t bytes[PAGE];
	uint32_t len = before + after;

	memset(hole - PAGE, 0, PAGE);
	memset(hole + PAGE, 0, PAGE);
	memset(bytes, 5, sizeof(bytes));
	if (before) {
		CHECK_EQ(copy(hole - before, bytes, len), -EFAULT);
		CHECK(!hole[-(int)before - 1]);
		CHECK_EQ(copy(bytes, hole - before, len), -EFAULT);
	} else {
		CHECK_EQ(copy(hole + PAGE - 1, bytes, len), -EFAULT);
		CHECK_EQ(copy(bytes, hole + PAGE - 1, len), -EFAULT);
	}
	CHECK(!hole[PAGE + len] && bytes[len] == 5);
}

/* A fault at the first byte, at the last one and between them, of source and target. */
static void test_hole(copier *copy)
{
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint32_t len = 16384;

	start();
	CHECK(may() && p != MAP_FAILED && !munmap(p + PAGE, PAGE));
	check_hole(copy, p + PAGE, 0, len);
	for (uint32_t i = 1; i < 200; i++) {
		check_hole(copy, p + PAGE, i, len - i);
		check_hole(copy, p + PAGE, len / 2 + i, len / 2 - i);
		check_hole(copy, p + PAGE, len - i, i);
	}
}

/* Whoever sees the last byte sees all. */
struct watched {
	uint8_t *last;
	_Atomic int seen, done;
};

#define LONG 16379u

static void *watch(void *arg)
{
	struct watched *w = arg;
	volatile uint8_t *last = w->last;

	for (uint8_t round = 1; !w->done; round++) {
		while (*last != round && !w->done)
			sched_yield();
		atomic_thread_fence(memory_order_acquire);
		for (uint32_t i = 1; i < LONG && !w->done; i++)
			CHECK_EQ(last[-(int)i], round);
		w->seen++;
	}
	return NULL;
}

static void test_last(copier *copy)
{
	uint8_t *from = malloc(LONG);
	struct watched w = {0};
	pthread_t t;

	start();
	CHECK(may());
	memset(pages, 0, PAGE);
	w.last = pages + 3 + LONG - 1;
	CHECK(!pthread_create(&t, NULL, watch, &w));
	for (int round = 1; round <= 500; round++) {
		memset(from, round, LONG);
		CHECK(!copy(pages + 3, from, LONG));
		while (w.seen < round)
			sched_yield();
	}
	w.done = 1;
	CHECK(!pthread_join(t, NULL));
	free(from);
}

static void test_swap(void)
{
	__u64 *word = NULL, old = 5;

	start();
	CHECK(may());
	word = (__u64 *)pages;
	*word = 7;
	CHECK_EQ(uroce_copies.swap(word, &old, 9), 1);
	CHECK(old == 7 && *word == 7);
	CHECK_EQ(uroce_copies.swap(word, &old, 9), 0);
	CHECK(old == 7 && *word == 9);
	CHECK(!mprotect(pages, PAGE, PROT_READ));
	/* Some processors do not write where the words differ. */
	old = 9;
	CHECK_EQ(uroce_copies.swap(word, &old, 9), -EFAULT);
	CHECK_EQ(uroce_copies.copy(word, &old, 8), -EFAULT);
	CHECK_EQ(uroce_copies.copy(&old, word, 8), 0);
	CHECK_EQ(old, 9);
}

/* SIGBUS. */
static void test_file(void)
{
	int fd = memfd_create("file", 0);
	uint64_t word;
	uint8_t *p;

	start();
	CHECK(may() && !ftruncate(fd, PAGE));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(uroce_copies.copy(p, &now, 8), 0);
	CHECK(!ftruncate(fd, 0));
	CHECK_EQ(uroce_copies.copy(p, &now, 8), -EFAULT);
	CHECK_EQ(uroce_copies.copy(&word, p, 8), -EFAULT);
}

/* ---- the program's actions ---- */

static void test_handler(bool before)
{
	if (before)
		set(SIGSEGV, handle, 0);
	start();
	if (!before)
		set(SIGSEGV, handle, 0);
	for (int i = 0; i < 3; i++) {
		check_copies();
		check_fault();
	}
}

/* Its mask and its stack hold while it runs. */
static sigset_t seen;
static char *stack, here;

static void look(int sig, siginfo_t *info, void *context)
{
	char local;

	pthread_sigmask(SIG_BLOCK, NULL, &seen);
	here = &local >= stack && &local < stack + PAGE;
	siglongjmp(back, 1);
}

static void test_circumstances(void)
{
	struct sigaction act = {.sa_sigaction = look,
				.sa_flags = SA_SIGINFO | SA_ONSTACK},
			 is;
	stack_t st = {.ss_size = PAGE};

	start();
	st.ss_sp = stack = malloc(PAGE);
	CHECK(!sigaltstack(&st, NULL));
	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGUSR2);
	CHECK(!sigaction(SIGSEGV, &act, NULL));
	if (!sigsetjmp(back, 1))
		fault();
	CHECK(sigismember(&seen, SIGUSR2) && sigismember(&seen, SIGSEGV) &&
	      !sigismember(&seen, SIGUSR1) && here);
	/* And are what it sees of its action. */
	CHECK(!sigaction(SIGSEGV, NULL, &is));
	CHECK(is.sa_sigaction == look && sigismember(&is.sa_mask, SIGUSR2) &&
	      !sigismember(&is.sa_mask, SIGUSR1));
	CHECK_EQ(is.sa_flags, SA_SIGINFO | SA_ONSTACK);
	check_copies();
}

/* Each function gives back what was set before, by whichever. */
static void test_functions(void)
{
	struct sigaction is;

	start();
	CHECK(signal(SIGSEGV, note) == SIG_DFL);
	CHECK(!sigaction(SIGSEGV, NULL, &is));
	CHECK(is.sa_handler == note && is.sa_flags == SA_RESTART);
	CHECK(!siginterrupt(SIGSEGV, 1) && !sigaction(SIGSEGV, NULL, &is));
	CHECK(is.sa_handler == note && !is.sa_flags);
	CHECK(signal(SIGSEGV, SIG_DFL) == note);
	CHECK(sysv_signal(SIGSEGV, note) == SIG_DFL);
	CHECK(!sigaction(SIGSEGV, NULL, &is));
	CHECK_EQ((unsigned)is.sa_flags, SA_RESETHAND | SA_NODEFER);
	CHECK(ssignal(SIGSEGV, SIG_DFL) == note);
	CHECK(sigset(SIGBUS, note) == SIG_DFL);
	check_copies();
	CHECK(sigset(SIGBUS, SIG_HOLD) == note && !may());
	CHECK(sigset(SIGBUS, SIG_DFL) == SIG_HOLD && may());
	CHECK(signal(SIGSEGV, SIG_ERR) == SIG_ERR && errno == EINVAL);
	CHECK(!sigaction(SIGUSR1, NULL, &is) && is.sa_handler == SIG_DFL);
	CHECK(signal(SIGBUS, note) == SIG_DFL && !raise(SIGBUS));
	CHECK_EQ(came, 1);
	check_copies();
}

/* A signal that somebody sends is the program's. */
static void test_sent(void)
{
	start();
	CHECK(signal(SIGSEGV, note) == SIG_DFL);
	CHECK(!raise(SIGSEGV) && came == 1);
	CHECK(!kill(getpid(), SIGSEGV) && came == 2);
	check_copies();
}

static void test_default(void)
{
	if (is_emulated())
		SKIP("qemu-user ends by its own assertion");
	start();
	check_copies();
	CHECK(dies(fault, SIGSEGV));
	CHECK(dies(send_segv, SIGSEGV));
	CHECK(dies(raise_bus, SIGBUS));
	CHECK(dies(abort, SIGABRT));
	check_copies();
}

static void fault_twice(void)
{
	struct sigaction is;

	check_fault();
	if (sigaction(SIGSEGV, NULL, &is) || is.sa_handler != SIG_DFL)
		_exit(1);
	check_copies();
	fault();
}

static void test_once(void)
{
	if (is_emulated())
		SKIP("qemu-user ends by its own assertion");
	start();
	set(SIGSEGV, handle, (int)SA_RESETHAND);
	CHECK(dies(fault_twice, SIGSEGV));
}

/* ---- where the kernel has to copy ---- */

static void test_ignored(bool before)
{
	struct sigaction is;

	if (before)
		signal(SIGSEGV, SIG_IGN);
	start();
	if (!before) {
		CHECK(may());
		CHECK(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
	}
	CHECK(!may());
	CHECK(!raise(SIGSEGV) && !kill(getpid(), SIGSEGV));
	CHECK(!sigaction(SIGSEGV, NULL, &is) && is.sa_handler == SIG_IGN);
	CHECK(dies(fault, SIGSEGV));
	CHECK(!may_later());
	CHECK(signal(SIGSEGV, note) == SIG_IGN);
	check_copies();
}

static void test_blocked(void)
{
	sigset_t set_of, before;

	start();
	CHECK(may());
	sigemptyset(&set_of);
	sigaddset(&set_of, SIGBUS);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set_of, &before));
	CHECK(!may() && !may_later());
	CHECK(!sigprocmask(SIG_SETMASK, &before, NULL));
	CHECK(may());
	CHECK(!sighold(SIGSEGV) && !may());
	CHECK(!sigrelse(SIGSEGV) && may());
}

/* Some runtimes set actions past the C library. */
static void test_past_us(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags, restorer, mask;
	} raw = {0};

	start();
	CHECK(may());
	CHECK(!syscall(SYS_rt_sigaction, SIGSEGV, &raw, NULL, 8));
	CHECK(!may_later());
	set(SIGSEGV, handle, 0);
	check_copies();
	check_fault();
}

static void *engine(void *arg)
{
	uroce_copies.own_thread();
	CHECK(may_later());
	*(_Atomic int *)arg = 1;
	while (may_later())
		sched_yield();
	return NULL;
}

/* The engine's thread is the only one that does not block it, but it is not who it is
 * for. */
static void test_engine(void)
{
	_Atomic int runs = 0;
	sigset_t all, one;
	siginfo_t info;
	pthread_t t;

	if (is_emulated())
		SKIP("qemu-user does not take the mask of a signal's frame");
	start();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	CHECK(!pthread_create(&t, NULL, engine, &runs));
	while (!runs)
		sched_yield();
	CHECK(!kill(getpid(), SIGSEGV));
	CHECK(!pthread_join(t, NULL));
	sigemptyset(&one);
	sigaddset(&one, SIGSEGV);
	CHECK_EQ(sigwaitinfo(&one, &info), SIGSEGV);
	CHECK(info.si_code == SI_USER && info.si_pid == getpid());
}

/* ---- other processes ---- */

static void test_child(void)
{
	start();
	set(SIGSEGV, handle, 0);
	check_copies();
	CHECK_EQ(status_of(check_copies), 0);
	CHECK_EQ(status_of(check_fault), 0);
}

/* It sets the action for what it executes, in our memory. */
static void test_vfork(void)
{
	volatile int ok = 0;
	struct sigaction is;
	pid_t pid;

	if (is_emulated())
		SKIP("to qemu-user a vfork is a fork");
	start();
	set(SIGSEGV, handle, 0);
	pid = vfork();
	if (!pid) {
		sigaction(SIGSEGV, NULL, &is);
		ok = is.sa_sigaction == handle;
		signal(SIGSEGV, SIG_IGN);
		sigaction(SIGSEGV, NULL, &is);
		ok += is.sa_handler == SIG_IGN;
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(ok, 2);
	check_copies();
	check_fault();
}

/* The handlers are gone after exec(), and what is ignored stays so. */
static void test_exec(const char *self, int sig, void (*handler)(int),
		      const char *want)
{
	pid_t pid;
	int status;

	if (is_emulated())
		SKIP("qemu-user has handlers of its own");
	start();
	CHECK(signal(sig, handler) != SIG_ERR);
	pid = fork();
	if (!pid) {
		execl(self, self, "show", want, NULL);
		_exit(127);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static int show(const char *want)
{
	struct sigaction segv, bus;

	sigaction(SIGSEGV, NULL, &segv);
	sigaction(SIGBUS, NULL, &bus);
	return !(segv.sa_handler == (strchr(want, 's') ? SIG_IGN : SIG_DFL) &&
		 bus.sa_handler == (strchr(want, 'b') ? SIG_IGN : SIG_DFL));
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "show"))
		return show(argv[2]);
	cases(&argc, argv);
	CASE(test_sizes());
	CASE(test_part());
	CASE(test_long(uroce_copies.copy));
	CASE(test_long(uroce_copies.copy_away));
	CASE(test_hole(uroce_copies.copy));
	CASE(test_hole(uroce_copies.copy_away));
	CASE(test_last(uroce_copies.copy));
	CASE(test_last(uroce_copies.copy_away));
	CASE(test_swap());
	CASE(test_file());
	CASE(test_handler(true));
	CASE(test_handler(false));
	CASE(test_circumstances());
	CASE(test_functions());
	CASE(test_sent());
	CASE(test_default());
	CASE(test_once());
	CASE(test_ignored(true));
	CASE(test_ignored(false));
	CASE(test_blocked());
	CASE(test_past_us());
	CASE(test_engine());
	CASE(test_child());
	CASE(test_vfork());
	CASE(test_exec("/proc/self/exe", SIGSEGV, note, "-"));
	CASE(test_exec("/proc/self/exe", SIGBUS, SIG_IGN, "b"));
	CASE(test_exec("/proc/self/exe", SIGSEGV, SIG_IGN, "s"));
	return cases_status();
}
