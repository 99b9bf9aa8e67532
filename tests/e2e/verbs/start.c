// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * verbs_start: opens the first device, makes a queue pair, moves data through it
 * and ends. verbs_start ERRNO: the same in a child for each system call there is,
 * under a filter that answers this one with ERRNO. Such a child may be refused what
 * it asks for, but ends by itself. Prints the calls with which one did not.
 * verbs_start filtered: once, under a filter that refuses nothing.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/e2e/verbs/bench.h"

#define BYTES	64
#define CALLS	470 /* their numbers are below */
#define NO_CALL 0xffffu
#define AT_ONCE 4
#define LIMIT_S 20
#define POLL_S	5
/* of exit, where a failed CHECK has 1 */
#define NOTHING_CAME 3

/* As libseccomp does, past the C library's functions. */
static void refuse(unsigned int call, unsigned int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, filter};

	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	CHECK(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog));
}

static bool write_and_poll(struct bench *t)
{
	time_t end = time(NULL) + POLL_S;
	struct ibv_wc wc = {0};
	int n = 0;

	memset(t->a.buf, 'a', BYTES);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.buf,
			   t->b.mr->rkey, BYTES),
		 0);
	while (!n && time(NULL) < end)
		n = ibv_poll_cq(t->a.cq, 1, &wc);
	if (!n)
		return false;
	CHECK_EQ(n, 1);
	CHECK(wc.status != IBV_WC_SUCCESS ||
	      !memcmp(t->a.buf, t->b.buf, BYTES));
	return true;
}

/* The filter is there from the beginning, or once queue pairs are connected; err is 0
 * where there is none. */
static int start(unsigned int call, unsigned int err, bool late)
{
	struct bench t;
	bool came;

	if (err && !late)
		refuse(call, err);
	bench_open(&t, 16);
	if (err && late)
		refuse(call, err);
	came = write_and_poll(&t);
	bench_close(&t);
	return came ? 0 : NOTHING_CAME;
}

static pid_t start_without(unsigned int call, unsigned int err, bool late)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();

	if (pid)
		return pid;
	/* Its complaints are expected. */
	CHECK(freopen("/dev/null", "w", stdout) &&
	      freopen("/dev/null", "w", stderr));
	alarm(LIMIT_S);
	exit(start(call, err, late));
}

/* Returns whether it ended by itself, after its data. A post wakes a device that sleeps
 * by write(). */
static bool ends(unsigned int call, pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		printf("without call %u: %s\n", call,
		       WTERMSIG(status) == SIGALRM
			       ? "did not end"
			       : strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == NOTHING_CAME && call != SYS_write)
		printf("without call %u: no completion came\n", call);
	else
		return true;
	return false;
}

/* The kernel's brk() has no errors: the C library takes one for an address. A process
 * with a thread, as that of an engine, it ends where futex() is refused. */
static bool may_refuse(unsigned int call, bool late)
{
	if (late && call == SYS_futex)
		return false;
	return call != SYS_exit_group && call != SYS_exit &&
	       call != SYS_rt_sigreturn && call != SYS_brk;
}

static int start_without_each(unsigned int err, bool late)
{
	pid_t pid[CALLS] = {0};
	int bad = 0;

	for (unsigned int call = 0; call < CALLS + AT_ONCE; call++) {
		unsigned int first = call - AT_ONCE;

		if (call < CALLS && may_refuse(call, late))
			pid[call] = start_without(call, err, late);
		if (call >= AT_ONCE && pid[first])
			bad += !ends(first, pid[first]);
	}
	return bad != 0;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return start(0, 0, false);
	if (!strcmp(argv[1], "filtered"))
		return start(NO_CALL, EPERM, false);
	return start_without_each((unsigned int)atoi(argv[1]), argc > 2);
}
