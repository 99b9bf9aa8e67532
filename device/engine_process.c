// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When a process ends, its contexts end too: their programs' connections are hung up. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/engine_process.h"
#include "device/engine_starter.h"
#include "device/session.h"
#include "util/assert.h"
#include "util/os/scm.h"

/* The next program of the user often comes at once. */
#define LINGER_NS 1000000000ull

struct ur_engine_process {
	struct ur_list node;
	struct ur_daemon *daemon;
	struct ur_loop_timer unused;
	uid_t uid, as; /* the user of its contexts; its own */
	int link;
	u32 contexts;
	ur_engine_process_ended *tell;
	bool ended;
};

static struct ur_list processes = {&processes, &processes};

static void forget(struct ur_engine_process *p)
{
	ur_loop_timer_clear(p->daemon->loop, &p->unused);
	if (!p->ended)
		ur_loop_del(p->daemon->loop, p->link);
	close(p->link);
	ur_list_del(&p->node);
	ur_quota_give_fds(p->uid, 1);
	free(p);
}

static void on_unused(void *arg)
{
	forget(arg);
}

static void on_end(void *arg, u32 events)
{
	struct ur_engine_process *p = arg;

	p->ended = true;
	ur_loop_del(p->daemon->loop, p->link);
	p->tell(p->daemon, p);
	if (!p->contexts)
		forget(p);
}

static struct ur_engine_process *find(uid_t uid, uid_t as)
{
	ur_list_each(struct ur_engine_process, p, &processes, node) {
		if (p->uid == uid && p->as == as && !p->ended)
			return p;
	}
	return NULL;
}

/* With user isolation the process must not belong to the user whom it isolates, even before
 * it is confined; with RoCEv1 it has packet sockets, by which its user could send anything. A
 * guarded client's memory must reach no process of the user's. */
static uid_t runs_as(const struct ur_session *s)
{
	return s->daemon->by_user || s->daemon->roce_v1 || s->guarded
		       ? geteuid()
		       : s->uid;
}

static int start(const struct ur_session *s, int *link)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = ur_engine_starter_ask(runs_as(s), pair[1]);
	close(pair[1]);
	if (err)
		close(pair[0]);
	else
		*link = pair[0];
	return err;
}

static int make(struct ur_session *s, struct ur_engine_process **ret)
{
	struct ur_engine_process *p;
	int err = ur_quota_take_fds(s->uid, 1);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	err = p ? start(s, &p->link) : -ENOMEM;
	if (err)
		goto err_free;
	p->daemon = s->daemon;
	p->uid = s->uid;
	p->as = runs_as(s);
	p->unused.fn = on_unused;
	p->unused.arg = p;
	/* Only waits for hangup: the process sends nothing. */
	err = ur_loop_add(s->daemon->loop, p->link, 0, on_end, p);
	if (err)
		goto err_link;
	ur_list_add_tail(&processes, &p->node);
	*ret = p;
	return 0;
err_link:
	close(p->link);
err_free:
	free(p);
	ur_quota_give_fds(s->uid, 1);
	return err;
}

int ur_engine_process_get(struct ur_session *s, ur_engine_process_ended *ended,
			  struct ur_engine_process **ret)
{
	struct ur_engine_process *p =
		ur_is_one_user(s->uid) ? find(s->uid, runs_as(s)) : NULL;
	int err = p ? 0 : make(s, &p);

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (err)
		return err;
	ur_loop_timer_clear(p->daemon->loop, &p->unused);
	p->tell = ended;
	p->contexts++;
	*ret = p;
	return 0;
}

bool ur_engine_process_has_ended(const struct ur_engine_process *p)
{
	return p->ended;
}

void ur_engine_process_put(struct ur_engine_process *p)
{
	ur_assert(ur_loop_mine(p->daemon->loop) && p->contexts);
	if (--p->contexts)
		return;
	if (p->ended || !ur_is_one_user(p->uid))
		forget(p);
	else
		ur_loop_timer_set(p->daemon->loop, &p->unused,
				  ur_loop_now() + LINGER_NS);
}

/* Collects the descriptors that are not -1. Returns their number. */
static u32 gather(const int *fds, int *to, u32 *has)
{
	u32 n = 0;

	*has = 0;
	for (u32 i = 0; i < UROCE_APART_FDS; i++) {
		if (fds[i] < 0)
			continue;
		*has |= 1u << i;
		to[n++] = fds[i];
	}
	return n;
}

int ur_engine_process_give(const struct ur_engine_process *p,
			   struct uroce_apart_context *context, const int *fds)
{
	int there[UROCE_APART_FDS];
	u32 n = gather(fds, there, &context->has);

	context->version = UROCE_APART_VERSION;
	return ur_scm_send_one(p->link, context, sizeof(*context), there, n,
			       MSG_DONTWAIT);
}
