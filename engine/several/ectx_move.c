// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A context goes to another engine of its device, with the regions, completion
 * queues and event files that it has: what no queue of the first engine uses
 * yet. Regions keep their keys, which programs have.
 */
#include <errno.h>
#include <sys/epoll.h>
#include "engine/faults/adverse.h"
#include "engine/core/engine_impl.h"
#include "engine/core/ringing.h"
#include "engine/several/shards.h"
#include "engine/core/wait.h"
#include "engine/ground/user.h"

/* Returns whether the engine has an event of one of its queues in hand, or the
 * client has left no room for one. */
static bool has_events(struct ur_engine *engine, const struct ur_ectx *x)
{
	ur_list_for_each(it, &engine->moderated)
		if (ur_list_entry(it, struct ur_ecq, mod_node)->ectx == x)
			return true;
	ur_list_for_each(it, &engine->due)
		if (ur_list_entry(it, struct ur_ecq, due_node)->ectx == x)
			return true;
	ur_list_for_each(it, &x->asyncs)
		if (ur_list_entry(it, struct ur_easync, node)->sock.watching)
			return true;
	ur_list_for_each(it, &x->chans)
		if (ur_list_entry(it, struct ur_echan, node)->sock.watching)
			return true;
	return x->adverse && ur_adverse_late(engine, x);
}

static void leave(struct ur_ectx *x, struct ur_list *end)
{
	for (struct ur_list *it = x->mrs.next; it != end; it = it->next)
		ur_mr_leave(ur_list_entry(it, struct ur_emr, node)->mr);
}

/* Never fails where it has just left: its keys are still free, since nobody else
 * has made anything. */
static int join(struct ur_engine *engine, struct ur_ectx *x)
{
	ur_list_for_each(it, &x->mrs) {
		int err =
			ur_mr_join(engine->port,
				   ur_list_entry(it, struct ur_emr, node)->mr);

		if (!err)
			continue;
		leave(x, it);
		return err;
	}
	ur_wait_add(engine, x);
	return 0;
}
UR_ENGINE_CALL(1, join, struct ur_ectx *);

/* The steps that may fail come first: they can be undone. */
static int put_in(struct ur_engine *engine, struct ur_ectx *x)
{
	int err = ur_engine_watch(engine, x->wake_fd, EPOLLIN | EPOLLET,
				  &x->wake_watch);

	if (err)
		return err;
	if (x->adverse)
		err = ur_adverse_join(engine, x);
	if (err)
		goto err_unwatch;
	err = join(engine, x);
	if (!err)
		return 0;
	if (x->adverse)
		ur_adverse_leave(engine, x);
err_unwatch:
	ur_engine_unwatch(engine, x->wake_fd);
	return err;
}
UR_ENGINE_CALL(1, put_in, struct ur_ectx *);

/* Out of the engine's lists, or refuses. */
static int take_out(struct ur_engine *engine, struct ur_ectx *x)
{
	if (has_events(engine, x))
		return -EOPNOTSUPP;
	leave(x, &x->mrs);
	ur_list_del(&x->node);
	ur_ringing_del(engine, x);
	ur_idle_forget(&engine->idle, &x->predictor);
	return 0;
}
UR_ENGINE_CALL(1, take_out, struct ur_ectx *);

/* And for good. */
static int forget(struct ur_engine *engine, struct ur_ectx *x)
{
	ur_engine_unwatch(engine, x->wake_fd);
	if (x->adverse)
		ur_adverse_leave(engine, x);
	return 0;
}
UR_ENGINE_CALL(1, forget, struct ur_ectx *);

static int move(struct ur_engine *from, struct ur_engine *to,
		struct ur_ectx *ectx)
{
	int err = call_take_out(from, ectx);

	if (err)
		return err;
	if (call_put_in(to, ectx)) {
		call_join(from, ectx);
		return -EOPNOTSUPP;
	}
	return call_forget(from, ectx);
}

int ur_ectx_move(struct ur_ectx *ectx, u32 shard)
{
	struct ur_engine *from = ectx->engine;
	struct ur_engine *to = ur_shards_nth(from, shard);
	int err;

	/* Events of the device that come while an engine is waited for are sent by the
	 * one that has the context afterwards. */
	ur_assert(!ectx->moves && from != to);
	ectx->moves = true;
	err = move(from, to, ectx);
	ectx->moves = false;
	if (err) {
		ur_easync_push_later(ectx);
		return err;
	}
	ectx->engine = to;
	ur_list_for_each(it, &ectx->asyncs)
		ur_list_entry(it, struct ur_easync, node)->sock.engine = to;
	ur_list_for_each(it, &ectx->chans)
		ur_list_entry(it, struct ur_echan, node)->sock.engine = to;
	ur_shards_leave(from);
	ur_shards_enter(to, ectx->mem->uid);
	ur_easync_push_later(ectx);
	return 0;
}
