// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Processes that keep an on-demand daemon: one pidfd each, watched by the
 * control loop, and counted among the descriptors of their user.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device/hold.h"
#include "device/quota.h"
#include "device/session.h"
#include "util/assert.h"

struct ur_hold {
	struct ur_list node; /* in the daemon's holds */
	struct ur_daemon *daemon;
	int pidfd; /* readable when the process has ended */
	uid_t uid;
};

bool ur_hold_unused(const struct ur_daemon *daemon)
{
	return !daemon->n_sessions && ur_list_empty(&daemon->holds);
}

static void end_hold(struct ur_hold *h)
{
	ur_assert(!ur_list_empty(&h->node));
	ur_loop_del(h->daemon->loop, h->pidfd);
	close(h->pidfd);
	ur_quota_give_fds(h->uid, 1);
	ur_list_del(&h->node);
	free(h);
}

static void on_end(void *arg, u32 events)
{
	struct ur_hold *h = arg;
	struct ur_daemon *daemon = h->daemon;

	end_hold(h);
	if (daemon->on_demand && ur_hold_unused(daemon))
		ur_loop_timer_set(daemon->loop, &daemon->idle,
				  ur_loop_now() + UR_IDLE_NS);
}

int ur_hold_add(struct ur_daemon *daemon, pid_t pid, uid_t uid)
{
	struct ur_hold *h;
	int err = ur_quota_take_fds(uid, 1);

	ur_assert(ur_loop_mine(daemon->loop));
	if (err)
		return err;
	err = -ENOMEM;
	h = calloc(1, sizeof(*h));
	if (!h)
		goto err_quota;
	h->daemon = daemon;
	h->uid = uid;
	h->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (h->pidfd < 0) {
		err = errno == EINVAL ? -ESRCH : -errno;
		goto err_free;
	}
	err = ur_loop_add(daemon->loop, h->pidfd, EPOLLIN, on_end, h);
	if (err)
		goto err_close;
	ur_list_add_tail(&daemon->holds, &h->node);
	return 0;
err_close:
	close(h->pidfd);
err_free:
	free(h);
err_quota:
	ur_quota_give_fds(uid, 1);
	return err;
}

void ur_hold_end_all(struct ur_daemon *daemon)
{
	ur_list_for_each_safe(it, &daemon->holds)
		end_hold(ur_list_entry(it, struct ur_hold, node));
}
