// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The keeper's own process. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "device/fork_apart.h"
#include "device/keeper.h"
#include "engine/engine.h"
#include "engine/ground/keep.h"
#include "util/assert.h"
#include "util/os/peer_user.h"
#include "util/os/scm.h"

/* The limit of consecutive uroceds that end before they have taken over: the kept state may
 * be what ends them. */
#define TRIES_MAX 32u

#define OWN_FDS 16u

#define NAME "uroced-keeper"

struct kept {
	struct ur_kept what;
	int fd;
};

struct keeper {
	int link; /* -1: uroced has gone */
	int listener;
	u32 tries; /* failed take-overs since the last success */
	struct kept *kept;
	u32 n, most;
};

/* ---- kept descriptors ---- */

static struct kept *find(struct keeper *k, const struct ur_kept *what)
{
	for (u32 i = 0; i < k->n; i++)
		if (ur_kept_is_same(&k->kept[i].what, what))
			return &k->kept[i];
	return NULL;
}

/* Takes fd over if it returns 0. */
static int put(struct keeper *k, const struct ur_kept *what, int fd)
{
	struct kept *at = find(k, what), *more;

	if (at) {
		close(at->fd);
		*at = (struct kept){*what, fd};
		return 0;
	}
	if (k->n == k->most)
		return -ENOSPC;
	more = realloc(k->kept, (k->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->kept = more;
	k->kept[k->n++] = (struct kept){*what, fd};
	return 0;
}

/* Preserves the order: what a program continues with was put first. */
static void drop(struct keeper *k, struct kept *at)
{
	ur_assert(at >= k->kept && at < k->kept + k->n);
	close(at->fd);
	k->n--;
	memmove(at, at + 1, (size_t)(k->kept + k->n - at) * sizeof(*at));
}

static _Noreturn void end_keeper(struct keeper *k)
{
	for (u32 i = 0; i < k->n; i++)
		close(k->kept[i].fd);
	_exit(0);
}

/* ---- messages ---- */

static int send_msg(int link, const struct ur_keep_msg *msg, int fd)
{
	return ur_scm_send_one(link, msg, sizeof(*msg), &fd, fd >= 0, 0);
}

static int answer_uroced(const struct keeper *k, int link, int ret)
{
	const struct ur_keep_msg msg = {.version = UR_KEEP_VERSION,
					.op = UR_KEEP_DONE,
					.ret = ret,
					.used = UR_KEEP_MAX - k->most + k->n};

	return send_msg(link, &msg, -1);
}

/* Returns 1, 0 at the end of the link, or -errno. *fd: -1 if none came. */
static int receive_order(int link, struct ur_keep_msg *msg, int *fd)
{
	int flags;
	ssize_t n = ur_scm_recv_one(link, msg, sizeof(*msg), fd, 1, &flags);

	if (n <= 0)
		return (int)n;
	return n == sizeof(*msg) && !(flags & MSG_TRUNC) ? 1 : -EPROTO;
}

static int do_put(struct keeper *k, const struct ur_keep_msg *msg, int *fd)
{
	int err = *fd < 0 ? -EMFILE : put(k, &msg->what, *fd);

	if (!err)
		*fd = -1;
	return err;
}

static void do_drop(struct keeper *k, const struct ur_keep_msg *msg)
{
	struct kept *at = find(k, &msg->what);

	if (at)
		drop(k, at);
}

/* Returns whether msg is valid; then *answer is the reply to uroced. */
static bool obey(struct keeper *k, const struct ur_keep_msg *msg, int *fd,
		 int *answer)
{
	*answer = 0;
	if (msg->op == UR_KEEP_END)
		end_keeper(k);
	if (msg->version != UR_KEEP_VERSION)
		return false;
	switch (msg->op) {
	case UR_KEEP_PUT:
		*answer = do_put(k, msg, fd);
		return true;
	case UR_KEEP_DROP:
		do_drop(k, msg);
		return true;
	case UR_KEEP_RECOVERY_DONE:
		k->tries = 0;
		return true;
	default:
		return false;
	}
}

/* Returns whether more may come. What uroced sent before it was killed is read to the end: ECONNRESET says only that it
 * left replies unread. */
static bool serve_one(struct keeper *k)
{
	struct ur_keep_msg msg;
	int fd, answer, ret = receive_order(k->link, &msg, &fd);
	bool more = ret == 1 && obey(k, &msg, &fd, &answer);

	if (more)
		answer_uroced(k, k->link, answer);
	if (fd >= 0)
		close(fd);
	return more || ret == -ECONNRESET;
}

/* ---- without a uroced ---- */

/* Drops programs that have ended. Returns whether any are left. */
static bool look_at_programs(struct keeper *k)
{
	bool any = false;

	for (u32 i = k->n; i--;) {
		struct pollfd p = {.fd = k->kept[i].fd};

		if (!ur_kept_is_liveness(&k->kept[i].what))
			continue;
		if (poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)))
			drop(k, &k->kept[i]);
		else
			any = true;
	}
	return any;
}

/* Returns whether that process has an engine. */
static bool has_program(const struct keeper *k, u64 process)
{
	for (u32 i = 0; i < k->n; i++)
		if (k->kept[i].what.kind == UR_KEPT_LIVENESS &&
		    k->kept[i].what.value == process)
			return true;
	return false;
}

/* Clears uroced's entries in the file of ports. */
static void uroced_has_gone(struct keeper *k)
{
	close(k->link);
	k->link = -1;
	for (u32 i = 0; i < k->n; i++)
		if (k->kept[i].what.kind == UR_KEPT_PORTS)
			ur_engine_left(k->kept[i].fd);
	look_at_programs(k);
	for (u32 i = k->n; i--;)
		if (k->kept[i].what.kind == UR_KEPT_EVENTS &&
		    !ur_kept_is_liveness(&k->kept[i].what) &&
		    !has_program(k, k->kept[i].what.value))
			drop(k, &k->kept[i]);
}

static int show_all(struct keeper *k, int link)
{
	struct ur_keep_msg msg = {.version = UR_KEEP_VERSION,
				  .op = UR_KEEP_HERE};
	int err = 0;

	for (u32 i = 0; i < k->n && !err; i++) {
		msg.what = k->kept[i].what;
		err = send_msg(link, &msg, k->kept[i].fd);
	}
	return err ? err : answer_uroced(k, link, 0);
}

static void greet(struct keeper *k)
{
	int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (!ur_peer_is_own_user(fd)) {
		close(fd);
		return;
	}
	if (k->tries++ >= TRIES_MAX)
		end_keeper(k);
	if (show_all(k, fd))
		close(fd);
	else
		k->link = fd;
}

/* Waits for the next uroced, or the end of the last program. */
static void wait_for_next(struct keeper *k)
{
	struct pollfd *p = calloc(k->n + 1, sizeof(*p));
	nfds_t n = 1;

	if (!p)
		end_keeper(k);
	p[0] = (struct pollfd){k->listener, POLLIN, 0};
	for (u32 i = 0; i < k->n; i++)
		if (ur_kept_is_liveness(&k->kept[i].what))
			p[n++] = (struct pollfd){k->kept[i].fd, 0, 0};
	if (poll(p, n, -1) > 0 && (p[0].revents & POLLIN))
		greet(k);
	free(p);
}

/* ---- the process ---- */

/* Leaves some descriptors for the link, the listener and what is on its way. */
static u32 most_kept(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0 ||
	    rl.rlim_cur >= UR_KEEP_MAX + OWN_FDS)
		return UR_KEEP_MAX;
	return rl.rlim_cur > OWN_FDS ? (u32)rl.rlim_cur - OWN_FDS : 0;
}

_Noreturn void ur_keeper_serve(int link, int listener,
			       const struct ur_daemon *daemon)
{
	struct keeper k = {
		.link = link, .listener = listener, .most = most_kept()};

	ur_leave_uroced(daemon->argv, NAME, link < listener ? link : listener,
			link < listener ? listener : link);
	ur_confine_keeper(daemon->run_dir);
	if (answer_uroced(&k, link, 0))
		_exit(0);
	for (;;) {
		if (k.link >= 0 && !serve_one(&k))
			uroced_has_gone(&k);
		if (k.link >= 0)
			continue;
		if (!look_at_programs(&k))
			end_keeper(&k);
		wait_for_next(&k);
	}
}
