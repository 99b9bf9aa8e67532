// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of a context's objects: programs name them by number. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/apart/apart.h"
#include "device/memory.h"
#include "util/assert.h"
#include "util/os/scm.h"

static u32 kib_of(enum ur_apart_kind kind)
{
	return kind == UR_APART_QP || kind == UR_APART_WQ ? UR_KIB_QP
	       : kind == UR_APART_CQ			  ? UR_KIB_CQ
							  : UR_KIB_OBJECT;
}

bool ur_apart_fits(const struct ur_apart_client *c, u32 kib)
{
	u64 max = c->max_kib + (c->ops->room(c->ctx) >> 10);

	return c->kib <= max && kib <= max - c->kib;
}

int ur_apart_make_room(struct ur_apart_client *c, enum ur_apart_kind kind)
{
	u32 room = c->room ? 2 * c->room : 64;
	struct ur_apart_object *more;

	if (!ur_apart_fits(c, kib_of(kind)))
		return -EDQUOT;
	if (c->free || c->n_objects < c->room)
		return 0;
	if (room > UR_APART_OBJECTS)
		return -ENOMEM;
	more = realloc(c->objects, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->objects = more;
	c->room = room;
	return 0;
}

u32 ur_apart_add(struct ur_apart_client *c, enum ur_apart_kind kind, void *it)
{
	u32 at = c->free ? c->free - 1 : c->n_objects;

	ur_assert(kind != UR_APART_NONE && it && at < c->room);
	if (c->free)
		c->free = c->objects[at].next;
	else
		c->n_objects++;
	c->objects[at] = (struct ur_apart_object){.kind = kind, .it = it};
	c->kib += kib_of(kind);
	return at + 1;
}

struct ur_apart_object *ur_apart_find(struct ur_apart_client *c,
				      enum ur_apart_kind kind, u32 number)
{
	if (!number || number > c->n_objects ||
	    c->objects[number - 1].kind != kind)
		return NULL;
	return &c->objects[number - 1];
}

void *ur_apart_given(const struct ur_apart_call *c, enum ur_apart_kind kind,
		     u32 number)
{
	struct ur_apart_object *o = ur_apart_find(c->client, kind, number);

	return o ? o->it : NULL;
}

void ur_apart_del(struct ur_apart_client *c, struct ur_apart_object *o)
{
	ur_assert(o >= c->objects && o < c->objects + c->n_objects &&
		  o->kind != UR_APART_NONE);
	free(o->groups);
	c->kib -= kib_of(o->kind) + o->n_groups * UR_KIB_OBJECT;
	*o = (struct ur_apart_object){.next = c->free};
	c->free = (u32)(o - c->objects) + 1;
}

/* Returns the index of the group; n_groups: the queue pair is not in it. */
static u32 place_of(const struct ur_apart_object *qp, const u8 gid[16])
{
	u32 at = 0;

	while (at < qp->n_groups && memcmp(qp->groups[at], gid, 16))
		at++;
	return at;
}

int ur_apart_join(struct ur_apart_client *c, struct ur_apart_object *qp,
		  const u8 gid[16])
{
	void *more;

	if (place_of(qp, gid) < qp->n_groups)
		return 0;
	if (!ur_apart_fits(c, UR_KIB_OBJECT))
		return -EDQUOT;
	more = realloc(qp->groups, (qp->n_groups + 1) * 16ul);
	if (!more)
		return -ENOMEM;
	c->kib += UR_KIB_OBJECT;
	qp->groups = more;
	memcpy(qp->groups[qp->n_groups++], gid, 16);
	return 0;
}

void ur_apart_leave(struct ur_apart_client *c, struct ur_apart_object *qp,
		    const u8 gid[16])
{
	u32 at = place_of(qp, gid);

	if (at == qp->n_groups)
		return;
	memmove(qp->groups[at], qp->groups[--qp->n_groups], 16);
	c->kib -= UR_KIB_OBJECT;
}

static void leave_all(struct ur_apart_client *c, struct ur_apart_object *qp)
{
	while (qp->n_groups) {
		struct uroce_call call = {.msg.op = UROCE_CALL_MCAST,
					  .it = qp->it};

		memcpy(call.msg.gid.gid, qp->groups[--qp->n_groups], 16);
		c->ops->call(c->ctx, &call);
		c->kib -= UR_KIB_OBJECT;
	}
}

int ur_apart_pass(struct ur_apart_call *c)
{
	return c->client->ops->call(c->client->ctx, &c->call);
}

int ur_apart_destroy_flow(struct ur_apart_call *c)
{
	struct ur_apart_rule *flow = c->call.it;
	int err;

	c->call.it = flow->it;
	err = ur_apart_pass(c);
	if (err)
		return err;
	c->call.reply.counts = flow->counts;
	free(flow);
	return 0;
}

/* The caller destroys users of the object first. */
static int destroy(struct ur_apart_client *c, struct ur_apart_object *o)
{
	static const u32 ops[] = {
		[UR_APART_CQ] = UROCE_CALL_DESTROY_CQ,
		[UR_APART_SRQ] = UROCE_CALL_DESTROY_SRQ,
		[UR_APART_AH] = UROCE_CALL_DESTROY_AH,
		[UR_APART_QP] = UROCE_CALL_DESTROY_QP,
		[UR_APART_MR] = UROCE_CALL_DEREG_MR,
		[UR_APART_LISTED_MR] = UROCE_CALL_DEREG_MR,
		[UR_APART_MW] = UROCE_CALL_DEALLOC_MW,
		[UR_APART_WQ] = UROCE_CALL_DESTROY_QP,
		[UR_APART_FLOW] = UROCE_CALL_DESTROY_FLOW,
	};
	struct ur_apart_call call = {
		.client = c, .call = {.msg.op = ops[o->kind], .it = o->it}};
	int err;

	leave_all(c, o);
	err = o->kind == UR_APART_FLOW ? ur_apart_destroy_flow(&call)
				       : ur_apart_pass(&call);
	ur_scm_close(call.call.out, UR_ARRAY_SIZE(call.call.out));
	return err;
}

void ur_apart_destroy_all(struct ur_apart_client *c)
{
	static const enum ur_apart_kind order[] = {
		UR_APART_FLOW, UR_APART_QP,	   UR_APART_WQ,
		UR_APART_MW,   UR_APART_SRQ,	   UR_APART_CQ,
		UR_APART_MR,   UR_APART_LISTED_MR, UR_APART_AH};

	for (size_t k = 0; k < UR_ARRAY_SIZE(order); k++)
		for (u32 i = 0; i < c->n_objects; i++) {
			struct ur_apart_object *o = &c->objects[i];

			if (o->kind == order[k] && !destroy(c, o))
				ur_apart_del(c, o);
		}
	free(c->objects);
	c->kib -= c->raw_kib;
}
