// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs that forbid themselves system calls once they are connected: by the strict
 * mode of seccomp(2), or by a filter that refuses all but what that has. A card's program
 * needs none to post and to poll. In strict mode it ends by exit(2), which is the end of its
 * one thread, and else by _exit().
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs.h"

#define ROUNDS 400

#define ALLOW(nr)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static bool be_strict(void)
{
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

/* Other calls fail with that errno. */
static bool refuse(unsigned number, bool by_prctl)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(rt_sigreturn),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
	};
	struct sock_fprog prog = {sizeof(filter) / sizeof(*filter), filter};

	if (by_prctl)
		return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	/* Root may, and the C library has no function for it that we could see. */
	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

static bool refuse_eperm(void)
{
	return refuse(EPERM, true);
}

static bool refuse_enosys(void)
{
	return refuse(ENOSYS, true);
}

static bool refuse_unseen(void)
{
	return refuse(EPERM, false);
}

static void end(bool strict, const char *what, int status)
{
	if (write(1, what, strlen(what)) < 0)
		status = 2;
	if (strict)
		syscall(SYS_exit, (long)status);
	_exit(status);
}

/* Waits until the other one is as far: where a filter came unseen, what the last one to end
 * acknowledges may not leave. */
static bool meet(int sock)
{
	char byte = 0;

	return write(sock, &byte, 1) == 1 && read(sock, &byte, 1) == 1;
}

static void confine(bool (*forbid)(void), struct ibv_context *context,
		    const struct rounds_peer *peer, bool sleeps)
{
	struct rounds r;

	rounds_connect(&r, context, peer, sleeps);
	/* Code is found, pages are there. */
	must(!rounds_run(&r, ROUNDS), "rounds");
	must(forbid(), "a filter");
	if (rounds_run(&r, ROUNDS) || !meet(peer->sock))
		end(forbid == be_strict, "failed: rounds\n", 1);
	end(forbid == be_strict, "done 0\n", 0);
}

static const struct {
	const char *name;
	bool (*forbid)(void);
	bool sleeps;
} ways[] = {
	{"strict", be_strict, false},
	{"strict_sleeps", be_strict, true},
	{"eperm", refuse_eperm, false},
	{"eperm_sleeps", refuse_eperm, true},
	{"enosys", refuse_enosys, false},
	{"enosys_sleeps", refuse_enosys, true},
	{"unseen", refuse_unseen, false},
};

bool run_confined(const char *name, struct ibv_context *context,
		  const struct rounds_peer *peer)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(name, ways[i].name)) {
			confine(ways[i].forbid, context, peer, ways[i].sleeps);
			return true;
		}
	return false;
}
