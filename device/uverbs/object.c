// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Objects and their handles: creation, lookup, use counts, destruction. A handle is the
 * lowest free number of its file; quotas and memory are charged here.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <stdlib.h>
#include "engine/ground/limits.h"
#include "device/kept_events.h"
#include "device/memory.h"
#include "device/uverbs/object.h"
#include "device/uverbs/ufile.h"
#include "util/assert.h"

/* The array doubles, but is initialized in steps: clearing millions of slots takes
 * milliseconds. */
#define SLOTS_MORE 4096u

static int grow_handles(struct ur_handles *h)
{
	u32 cap = h->cap ? h->cap * 2 : 64, more;
	struct ur_object **slot;

	if (h->size == h->cap) {
		if (cap > UR_MAX_HANDLES)
			return -ENOMEM;
		slot = realloc(h->slot, cap * sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		h->slot = slot;
		h->cap = cap;
	}
	more = ur_min_u32(h->cap - h->size, SLOTS_MORE);
	memset(h->slot + h->size, 0, more * sizeof(*h->slot));
	h->size += more;
	return 0;
}

#define FILES_APART 1023u

_Static_assert((FILES_APART + 1ull) * UR_MAX_HANDLES <= 1ull << 32,
	       "each file has its own");

void ur_handles_begin(struct ur_handles *h, u32 n)
{
	h->base = (n % FILES_APART + 1) * UR_MAX_HANDLES;
}

/* Returns the limit of a type in the device's attributes; 0: none. */
static u32 limit_of(const struct ur_limits *limits, u32 type)
{
	switch (type) {
	case UVERBS_OBJECT_PD:
		return limits->max_pd;
	case UVERBS_OBJECT_CQ:
		return limits->max_cq;
	case UVERBS_OBJECT_QP:
		return limits->max_qp;
	case UVERBS_OBJECT_SRQ:
		return limits->max_srq;
	case UVERBS_OBJECT_AH:
		return limits->max_ah;
	case UVERBS_OBJECT_MR:
		return limits->max_mr;
	case UVERBS_OBJECT_MW:
		return limits->max_mw;
	default:
		return 0;
	}
}

void *ur_object_new(struct ur_ufile *file, const struct ur_object_type *type)
{
	return ur_object_new_of(file, type,
				type->kib ? type->kib : UR_KIB_OBJECT);
}

void *ur_object_new_of(struct ur_ufile *file, const struct ur_object_type *type,
		       u32 kib)
{
	struct ur_handles *h = &file->handles;
	struct ur_quota *q = &file->dev->objects[type->id];
	struct ur_object *obj;

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	while (h->first_free < h->size && h->slot[h->first_free])
		h->first_free++;
	if (h->first_free == h->size && grow_handles(h))
		return NULL;
	q->what = type->name;
	q->where = file->dev->name;
	q->max = type->max ? type->max
			   : limit_of(&file->dev->daemon->limits, type->id);
	if (ur_quota_take(q, file->uid, 1))
		return NULL;
	if (ur_memory_take(file->uid, kib))
		goto err_give;
	obj = calloc(1, type->size);
	if (!obj)
		goto err_memory;
	obj->kib = kib;
	ur_assert(type->id < UR_ARRAY_SIZE(file->dev->objects));
	obj->file = file;
	obj->type = type;
	obj->number = file->dev->object_numbers[type->id]++;
	ur_assert(h->first_free < h->size && !h->slot[h->first_free]);
	h->slot[h->first_free] = obj;
	if (!file->slot && type->id != UVERBS_OBJECT_ASYNC_EVENT)
		ur_kept_events_object(file->session);
	obj->handle = h->base + ++h->first_free;
	h->count++;
	return obj;
err_memory:
	ur_memory_give(file->uid, kib);
err_give:
	ur_quota_give(q, file->uid, 1);
	return NULL;
}

/* Placeholder of a hidden object, which keeps its handle reserved. */
static const struct ur_object_type gone_type = {.id = UR_OBJECT_GONE};
static struct ur_object gone = {.type = &gone_type};

static u32 index_of(const struct ur_object *obj)
{
	return obj->handle - 1 - obj->file->handles.base;
}

static struct ur_object **slot_of(const struct ur_object *obj)
{
	ur_assert(index_of(obj) < obj->file->handles.size);
	return &obj->file->handles.slot[index_of(obj)];
}

void ur_object_hide(struct ur_object *obj)
{
	ur_assert(*slot_of(obj) == obj || *slot_of(obj) == &gone);
	*slot_of(obj) = &gone;
}

void ur_object_abort(struct ur_object *obj)
{
	struct ur_handles *h = &obj->file->handles;

	ur_assert(ur_loop_mine(obj->file->dev->daemon->loop));
	ur_assert(h->count && !obj->users);
	*slot_of(obj) = NULL;
	if (index_of(obj) < h->first_free)
		h->first_free = index_of(obj);
	h->count--;
	ur_quota_give(&obj->file->dev->objects[obj->type->id], obj->file->uid,
		      1);
	ur_memory_give(obj->file->uid, obj->kib);
	free(obj);
}

void *ur_object_get(struct ur_ufile *file, u32 type, u64 handle)
{
	struct ur_object *obj;

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	handle -= file->handles.base;
	if (!handle || handle > file->handles.size)
		return NULL;
	obj = file->handles.slot[handle - 1];
	return obj && obj->type->id == type ? obj : NULL;
}

int ur_object_destroy(struct ur_object *obj)
{
	int err;

	ur_assert(ur_loop_mine(obj->file->dev->daemon->loop));
	if (obj->users)
		return -EBUSY;
	/* destroy() may wait for the engine without the lock. */
	ur_object_hide(obj);
	err = obj->type->destroy(obj);
	if (err) {
		*slot_of(obj) = obj;
		return err;
	}
	ur_object_abort(obj);
	return 0;
}

/* Limits of one hold of the lock while a file is closed: an object may cost a call of the
 * engine, a fifth of a millisecond. */
#define OBJECTS_AT_ONCE 16
#define SLOTS_AT_ONCE	4096
#define NS_AT_ONCE	200000u

struct pieces {
	struct ur_loop *loop;
	u32 objects, slots; /* since the lock was last released */
	u64 since_ns;
};

static void next_slot(struct pieces *p)
{
	if (++p->slots < SLOTS_AT_ONCE && p->objects < OBJECTS_AT_ONCE &&
	    (!p->objects || ur_loop_now() - p->since_ns < NS_AT_ONCE))
		return;
	if (ur_loop_step_aside(p->loop))
		ur_loop_lock(p->loop);
	p->objects = p->slots = 0;
	p->since_ns = ur_loop_now();
}

void ur_object_destroy_all(struct ur_ufile *file)
{
	static const u8 order[] = {
		UVERBS_OBJECT_FLOW,	   UVERBS_OBJECT_QP,
		UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_OBJECT_WQ,
		UVERBS_OBJECT_AH,	   UVERBS_OBJECT_SRQ,
		UVERBS_OBJECT_MW,	   UVERBS_OBJECT_MR,
		UVERBS_OBJECT_DM,	   UVERBS_OBJECT_CQ,
		UVERBS_OBJECT_XRCD,	   UVERBS_OBJECT_PD,
		UVERBS_OBJECT_COUNTERS,	   UVERBS_OBJECT_COMP_CHANNEL,
		UVERBS_OBJECT_ASYNC_EVENT,
	};
	struct ur_handles *h = &file->handles;
	struct pieces pieces = {.loop = file->dev->daemon->loop,
				.since_ns = ur_loop_now()};

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	for (u32 i = 0; i < UR_ARRAY_SIZE(order); i++) {
		for (u32 j = 0; j < h->size; j++) {
			struct ur_object *obj;

			next_slot(&pieces);
			obj = h->slot[j];
			if (!obj || obj->type->id != order[i])
				continue;
			pieces.objects++;
			if (ur_object_destroy(obj))
				ur_log("object %u of type %u is still busy",
				       obj->handle, obj->type->id);
		}
	}
	free(h->slot);
	memset(h, 0, sizeof(*h));
}
