// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Contexts in engine processes at the end of the process, and when they are closed with objects: each engine
 * process is asked to send what was posted last, and is waited for a limited time. The engine process is a
 * thread here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel-abi/uroce-forks.h"
#include "providers/uroce/apart.h"
#include "providers/uroce/apart_channels.h"
#include "tests/check.h"
#include "util/os/clock.h"
#include "util/os/scm.h"

#define CONTEXTS 3
#define SHORT_NS 500000000u  /* nobody waits */
#define LONG_NS	 3000000000u /* whoever waits, waits less */

static void (*last)(void);

static void tell_end(void (*fn)(void))
{
	CHECK(!last);
	last = fn;
}

const struct uroce_forks uroce_forks = {.version = UROCE_FORKS_VERSION,
					.tell_end = tell_end};

/* ---- the engine process ---- */

static struct process {
	pthread_t thread;
	int sock;
	_Atomic bool silent; /* answers to DRAIN wait */
	_Atomic bool stuck;  /* answers nothing */
	_Atomic u32 seen;    /* messages */
	_Atomic u32 drains, owes;
	_Atomic bool hung_up;
} at[CONTEXTS];

static void reply(const struct process *p, struct uroce_call_msg *msg)
{
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[] = {-1, -1};
	union ur_scm scm;

	msg->ret = 0;
	if (msg->op == UROCE_CALL_BEGIN) {
		fds[0] = memfd_create("rings", MFD_CLOEXEC);
		fds[1] = eventfd(0, EFD_CLOEXEC);
	}
	ur_scm_put(&mh, &scm, fds, fds[0] < 0 ? 0 : 2);
	CHECK(sendmsg(p->sock, &mh, MSG_NOSIGNAL) == sizeof(*msg));
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void answer(struct process *p, struct uroce_call_msg *msg)
{
	struct uroce_call_msg settled = {.op = UROCE_CALL_DRAIN};

	if (msg->op == UROCE_CALL_DRAIN) {
		p->drains++;
		p->owes++;
		if (p->silent)
			return;
	}
	for (; p->owes; p->owes--)
		reply(p, &settled);
	msg->number = p->seen;
	if (msg->op != UROCE_CALL_DRAIN)
		reply(p, msg);
}

static void *serve(void *arg)
{
	struct uroce_call_msg msg;
	struct process *p = arg;

	while (recv(p->sock, &msg, sizeof(msg), 0) == sizeof(msg)) {
		p->seen++;
		while (p->stuck)
			sched_yield();
		answer(p, &msg);
	}
	close(p->sock);
	p->hung_up = true;
	return NULL;
}

static struct uroce_ectx *open_context(struct process *p)
{
	struct uroce_ectx_info info;
	struct uroce_ectx *ctx;
	int pair[2];

	*p = (struct process){0};
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	p->sock = pair[0];
	CHECK(!pthread_create(&p->thread, NULL, serve, p));
	CHECK_EQ(ur_apart_ops.open(NULL, pair[1], &ctx, &info), 0);
	return ctx;
}

/* Those that no test destroys are no leaks. */
static void *made[64];
static _Atomic u32 n_made;

static int alloc_mw(struct uroce_ectx *ctx, void **mw)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_ALLOC_MW, .mw = {1, 1, 1}}};
	int err = ur_apart_ops.call(ctx, &call);

	*mw = call.it;
	return err;
}

static void dealloc_mw(struct uroce_ectx *ctx, void *mw)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_DEALLOC_MW, .it = mw};

	CHECK_EQ(ur_apart_ops.call(ctx, &call), 0);
}

static void *make(struct uroce_ectx *ctx)
{
	u32 n = n_made++;

	CHECK(n < UR_ARRAY_SIZE(made));
	CHECK_EQ(alloc_mw(ctx, &made[n]), 0);
	return made[n];
}

static void end_process(struct process *p)
{
	CHECK(!pthread_join(p->thread, NULL));
	CHECK(p->hung_up);
}

static u64 now(void)
{
	return ur_clock_ns(CLOCK_MONOTONIC);
}

/* ---- tests ---- */

/* A context without objects asks for nothing, nor does one whose objects are gone. */
static void close_empty(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);

	dealloc_mw(ctx, make(ctx));
	ur_apart_ops.close(ctx);
	end_process(&at[0]);
	CHECK_EQ(at[0].drains, 0);
}

static void close_with_objects(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);

	make(ctx);
	ur_apart_ops.close(ctx);
	end_process(&at[0]);
	CHECK_EQ(at[0].drains, 1);
}

/* Each context drains. The process may go on all the same, if it cannot execute another program. */
static void process_ends(void)
{
	struct uroce_ectx *ctx[CONTEXTS];
	void *mw[CONTEXTS];

	for (int i = 0; i < CONTEXTS; i++) {
		ctx[i] = open_context(&at[i]);
		mw[i] = make(ctx[i]);
	}
	for (u32 n = 1; n <= 2; n++) {
		errno = ENOENT;
		last();
		CHECK_EQ(errno, ENOENT);
		for (int i = 0; i < CONTEXTS; i++)
			CHECK_EQ(at[i].drains, n);
	}
	for (int i = 0; i < CONTEXTS; i++) {
		dealloc_mw(ctx[i], mw[i]);
		ur_apart_ops.close(ctx[i]);
		end_process(&at[i]);
		CHECK_EQ(at[i].drains, 2);
	}
	last();
}

/* Replies that come too late are not taken for those of other messages. */
static void late(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);
	const struct ur_apart *apart = (const void *)ctx;
	u64 began = now();

	make(ctx);
	at[0].silent = true;
	last();
	CHECK(now() - began < LONG_NS);
	CHECK_EQ(at[0].drains, 1);
	CHECK_EQ(apart->undrained, 1);
	/* One that waits is not sent another. */
	last();
	CHECK_EQ(at[0].drains, 1);
	at[0].silent = false;
	make(ctx);
	CHECK_EQ(apart->undrained, 0);
	CHECK(!ur_apart_is_dead(apart));
	last();
	CHECK_EQ(at[0].drains, 2);
	at[0].silent = true;
	began = now();
	ur_apart_ops.close(ctx);
	CHECK(now() - began < LONG_NS);
	end_process(&at[0]);
}

static void process_has_ended(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);
	void *mw;
	u64 began = now();

	make(ctx);
	CHECK(!shutdown(at[0].sock, SHUT_RDWR));
	end_process(&at[0]);
	last();
	CHECK_EQ(alloc_mw(ctx, &mw), -EIO);
	ur_apart_ops.close(ctx);
	CHECK(now() - began < SHORT_NS);
}

/* The program has closed all descriptors, and has others behind their numbers. */
static void number_of_another_file(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);
	const struct ur_apart *apart = (const void *)ctx;
	char byte;
	int pair[2];

	make(ctx);
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	CHECK(dup2(pair[0], apart->sock) == apart->sock);
	last();
	CHECK_EQ(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1);
	ur_apart_ops.close(ctx);
	CHECK_EQ(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1);
	close(pair[0]);
	close(pair[1]);
	end_process(&at[0]);
	CHECK_EQ(at[0].drains, 0);
}

static void *make_one(void *ctx)
{
	make(ctx);
	return NULL;
}

/* A fork that waits for last() happens as it returns. This thread stays until the child has ended: ASan has locks
 * for a thread that ends, for which the child would wait for ever. */
static void *end_now(void *arg)
{
	last();
	while (at[0].stuck)
		sched_yield();
	return arg;
}

/* Another thread waits for the engine process, with the lock. */
static void another_holds_the_lock(void)
{
	struct uroce_ectx *ctx = open_context(&at[0]);
	pthread_t thread;
	u64 began;

	make(ctx);
	at[0].stuck = true;
	CHECK(!pthread_create(&thread, NULL, make_one, ctx));
	while (at[0].seen < 3)
		sched_yield();
	began = now();
	last();
	CHECK(now() - began < LONG_NS);
	at[0].stuck = false;
	CHECK(!pthread_join(thread, NULL));
	CHECK_EQ(at[0].drains, 0);
	ur_apart_ops.close(ctx);
	end_process(&at[0]);
}

/* With TSan no thread starts in a child of a process that has several. An emulated kernel may not wipe
 * memory at fork, by which a child knows what is its parent's. */
static bool may_fork(void)
{
#ifdef __SANITIZE_THREAD__
	return false;
#else
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	CHECK(page != MAP_FAILED && !madvise(page, 4096, MADV_WIPEONFORK));
	*page = 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(*page);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	munmap(page, 4096);
	return !status;
#endif
}

/* The child of fork has nothing of its parent's, waits for no lock that was held at the fork, and drains its
 * own context. */
static void be_child(struct uroce_ectx *parents)
{
	struct uroce_ectx *ctx;
	void *mw;
	u64 began = now();

	alarm(20);
	last();
	CHECK_EQ(alloc_mw(parents, &mw), -EIO);
	ur_apart_update_counts(parents, NULL);
	ctx = open_context(&at[1]);
	make(ctx);
	last();
	CHECK_EQ(at[1].drains, 1);
	ur_apart_ops.close(parents);
	ur_apart_ops.close(ctx);
	end_process(&at[1]);
	CHECK(now() - began < SHORT_NS);
	_exit(0);
}

/* What the other thread does when this one forks. */
static void fork_while(void *(*other)(void *), u32 drains)
{
	struct uroce_ectx *ctx = open_context(&at[0]);
	pthread_t thread;
	int status;
	pid_t pid;

	make(ctx);
	at[0].stuck = true;
	CHECK(!pthread_create(&thread, NULL, other, ctx));
	while (at[0].seen < 3)
		sched_yield();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		be_child(ctx);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	at[0].stuck = false;
	CHECK(!pthread_join(thread, NULL));
	/* The engine process is the parent's still. */
	make(ctx);
	CHECK_EQ(at[0].drains, drains);
	ur_apart_ops.close(ctx);
	end_process(&at[0]);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(close_empty());
	CASE(close_with_objects());
	CASE(process_ends());
	CASE(late());
	CASE(process_has_ended());
	CASE(number_of_another_file());
	CASE(another_holds_the_lock());
	if (may_fork()) {
		CASE(fork_while(make_one, 0));
		CASE(fork_while(end_now, 1));
	}
	return cases_status();
}
