// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/device.h"
#include "device/engine_process.h"
#include "device/uverbs/kept_programs.h"
#include "device/uverbs/grant_slot.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/shared_engine.h"
#include "util/assert.h"
#include "util/os/event_pair.h"

static struct ur_list engines = {&engines, &engines};

static struct ur_shared_engine *engine_at(struct ur_list *node)
{
	return ur_list_entry(node, struct ur_shared_engine, node);
}

/* Identifies the engine to the next uroced, in place of a pid. */
static pid_t kept_as(enum ur_grant_mode mode)
{
	return -1 - (pid_t)mode;
}

static bool has_ended(const struct ur_shared_engine *e)
{
	return e->ended ||
	       (e->process && ur_engine_process_has_ended(e->process));
}

static struct ur_shared_engine *find(const struct ur_ufile *file, u32 slot)
{
	ur_list_for_each(it, &engines) {
		struct ur_shared_engine *e = engine_at(it);

		if (e->dev == file->dev && e->uid == file->uid &&
		    e->mode == ur_ufile_grant_mode(file) &&
		    e->guarded == file->session->guarded && !has_ended(e) &&
		    (slot ? e->slot == slot : !e->left))
			return e;
	}
	return NULL;
}

static struct ur_shared_engine *new_engine(const struct ur_ufile *file)
{
	static u32 numbers;
	struct ur_shared_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->dev = file->dev;
	e->uid = file->uid;
	e->mode = ur_ufile_grant_mode(file);
	e->guarded = file->session->guarded;
	e->number = ++numbers ? numbers : ++numbers;
	ur_list_add_tail(&engines, &e->node);
	return e;
}

static void free_engine(struct ur_shared_engine *e)
{
	ur_list_del(&e->node);
	free(e);
}

/* ---- its process ---- */

static int talk(const struct ur_ufile *file, const struct ur_shared_engine *e,
		const struct ur_shared_part *part, u32 kib,
		const struct ur_grant *grant, int liveness, int sock[2])
{
	struct uroce_apart_context context = {
		.engine = e->number,
		.file = file->id,
		.listed = part->n_listed,
		.open = ur_slot_describe(e->dev, grant),
	};
	int fds[UROCE_APART_FDS];

	context.open.slot = e->slot;
	ur_slot_fds(grant, e->mode == UR_GRANT_FAR, fds);
	if (part->async) {
		fds[UROCE_APART_ASYNC_TX] = part->async->tx;
		fds[UROCE_APART_ASYNC_RX] = part->async->rx;
	}
	fds[UROCE_APART_LIVENESS] = liveness;
	fds[UROCE_APART_LISTED] = part->listed;
	return ur_slot_give_context(file, part->pid, part->mem, e->process, kib,
				    &context, fds, sock);
}

int ur_shared_engine_add(const struct ur_ufile *file,
			 const struct ur_shared_part *part, u32 kib,
			 int sock[2])
{
	const struct ur_shared_engine *e = file->shared;

	return e->left || has_ended(e)
		       ? -EOPNOTSUPP
		       : talk(file, e, part, kib, NULL, -1, sock);
}

/* Notifies the process that no more contexts come. */
static void report_end(const struct ur_shared_engine *e)
{
	struct uroce_apart_context none = {.engine = e->number};
	int fds[UROCE_APART_FDS];

	for (u32 i = 0; i < UROCE_APART_FDS; i++)
		fds[i] = -1;
	ur_engine_process_give(e->process, &none, fds);
}

/* ---- its slot ---- */

static int keep_liveness(struct ur_shared_engine *e, int fd[2])
{
	int err = ur_event_pair(fd);

	if (err)
		return err;
	err = ur_engine_keep_liveness(
		e->dev->engine, e->slot,
		&(struct ur_kept_liveness){fd[0], e->uid, kept_as(e->mode)});
	if (!err) {
		e->liveness = fd[0];
		return 0;
	}
	close(fd[0]);
	close(fd[1]);
	return err;
}

static void end_slot(struct ur_shared_engine *e)
{
	if (e->slot)
		ur_engine_grant_end(e->dev->engine, e->slot);
	ur_slot_give_part(e->dev, e->uid, false, e->mode, e->rings);
	if (e->liveness)
		close(e->liveness);
}

static int make(const struct ur_ufile *file, struct ur_shared_engine *e,
		const struct ur_shared_part *part,
		ur_engine_process_ended *ended, int sock[2])
{
	struct ur_grant grant;
	int liveness[2], err;

	err = ur_slot_take_part(e->dev, e->uid, false, e->mode);
	if (err)
		return err;
	err = ur_engine_process_get(file->session, ended, &e->process);
	if (!err)
		err = ur_engine_grant(e->dev->engine, e->uid, 0, false, e->mode,
				      &grant);
	if (!err) {
		e->slot = grant.slot;
		err = keep_liveness(e, liveness);
		if (!err) {
			err = talk(file, e, part, file->shared_kib, &grant,
				   liveness[1], sock);
			close(liveness[1]);
		}
		ur_slot_close_granted(&grant);
	}
	if (!err)
		return 0;
	end_slot(e);
	if (e->process)
		ur_engine_process_put(e->process);
	return err;
}

int ur_shared_engine_join(struct ur_ufile *file,
			  const struct ur_shared_part *part,
			  ur_engine_process_ended *ended, int sock[2])
{
	struct ur_shared_engine *e =
		ur_is_one_user(file->uid) ? find(file, 0) : NULL;
	int err;

	err = ur_slot_charge_apart(file->uid, true, &file->shared_kib);
	if (err)
		return err;
	if (e) {
		err = talk(file, e, part, file->shared_kib, NULL, -1, sock);
	} else {
		e = new_engine(file);
		err = e ? make(file, e, part, ended, sock) : -ENOMEM;
		if (err && e)
			free_engine(e);
	}
	if (err) {
		ur_slot_give_apart(file->uid, &file->shared_kib);
		return err;
	}
	e->files++;
	file->shared = e;
	return 0;
}

/* ---- of an earlier uroced ---- */

static void on_liveness(void *arg, u32 events)
{
	struct ur_shared_engine *e = arg;

	ur_loop_del(e->dev->daemon->loop, e->liveness);
	e->ended = true;
	e->on_end(e);
}

static int take_over(struct ur_shared_engine *e, u32 slot)
{
	int liveness =
		ur_kept_program_take(e->dev, slot, e->uid, kept_as(e->mode));

	if (liveness < 0)
		return liveness;
	e->slot = slot;
	e->liveness = liveness;
	e->left = true;
	return ur_loop_add(e->dev->daemon->loop, liveness, 0, on_liveness, e);
}

int ur_shared_engine_reattach(struct ur_ufile *file, u32 slot,
			      ur_shared_engine_ended *on_end)
{
	struct ur_shared_engine *e;
	int err = 0;

	if (slot >= UR_PLACES || !ur_is_one_user(file->uid))
		return -EINVAL;
	e = find(file, slot);
	if (!e) {
		e = new_engine(file);
		if (!e)
			return -ENOMEM;
		err = ur_slot_take_part(e->dev, e->uid, false, e->mode);
		if (err) {
			free_engine(e);
			return err;
		}
		e->on_end = on_end;
		err = take_over(e, slot);
		if (err) {
			end_slot(e);
			free_engine(e);
			return err;
		}
	}
	e->files++;
	file->shared = e;
	return 0;
}

void ur_shared_engine_put(struct ur_ufile *file)
{
	struct ur_shared_engine *e = file->shared;

	if (!e)
		return;
	file->shared = NULL;
	ur_slot_give_apart(file->uid, &file->shared_kib);
	ur_assert(e->files);
	if (--e->files)
		return;
	if (e->left && !e->ended)
		ur_loop_del(e->dev->daemon->loop, e->liveness);
	if (e->process && !has_ended(e))
		report_end(e);
	end_slot(e);
	if (e->process)
		ur_engine_process_put(e->process);
	free_engine(e);
}

void ur_shared_engine_wake(const struct ur_shared_engine *e)
{
	ur_program_wake(e->liveness);
}
