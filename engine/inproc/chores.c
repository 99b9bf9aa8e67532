// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Runs chores, one after the other. */
#include "engine/inproc/chores.h"

#include "engine/core/engine_impl.h"

void ur_chores_init(struct ur_chores *c)
{
	ur_list_init(&c->waiting);
	c->runs = NULL;
}

void ur_chore_ask(struct ur_engine *e, struct ur_chore *chore)
{
	if (chore->node.next)
		return;
	ur_list_add_tail(&e->chores.waiting, &chore->node);
}

static void take_out(struct ur_chore *chore)
{
	ur_list_del(&chore->node);
	chore->node.next = NULL;
}

void ur_chore_forget(struct ur_engine *e, struct ur_chore *chore)
{
	if (chore->node.next)
		take_out(chore);
	if (e->chores.runs == chore)
		e->chores.runs = NULL;
}

bool ur_chores_wait(const struct ur_engine *e)
{
	return !ur_list_empty(&e->chores.waiting);
}

bool ur_chores_run(struct ur_engine *e)
{
	struct ur_chore *chore;

	if (!ur_chores_wait(e))
		return false;
	chore = ur_list_first(&e->chores.waiting, struct ur_chore, node);
	take_out(chore);
	ur_assert(!e->chores.runs);
	e->chores.runs = chore;
	chore->run(e, chore);
	e->chores.runs = NULL;
	return true;
}

void ur_chores_restart(struct ur_engine *e)
{
	struct ur_chore *chore = e->chores.runs;

	e->chores.runs = NULL;
	if (chore)
		ur_chore_ask(e, chore);
}

void ur_chore_steps_aside(struct ur_engine *e)
{
	pthread_mutex_unlock(&e->mailbox.owner);
}

bool ur_chore_steps_back(struct ur_engine *e)
{
	atomic_fetch_or(&e->inproc.waits, UR_INPROC_WAITS);
	pthread_mutex_lock(&e->mailbox.owner);
	atomic_fetch_and(&e->inproc.waits, ~(u32)UR_INPROC_WAITS);
	return e->chores.runs;
}
