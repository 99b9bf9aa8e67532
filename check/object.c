// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of objects. */
#include <pthread.h>
#include <stdlib.h>

#include "check/object.h"

#define BUCKETS 4096
/* Keys are used long after their region is destroyed. */
#define DEAD_MRS 512

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ur_watched *by_handle[BUCKETS], *by_number[BUCKETS];
static struct ur_watched *newest[UR_KINDS];
static struct ur_watched_mr *dead[DEAD_MRS];
static unsigned int died;

void ur_table_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void ur_table_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

bool ur_table_trylock(void)
{
	return !pthread_mutex_trylock(&mutex);
}

const char *ur_kind_name(enum ur_kind kind)
{
	static const char *const names[UR_KINDS] = {
		[UR_KIND_CONTEXT] = "device context",
		[UR_KIND_PD] = "protection domain",
		[UR_KIND_MR] = "memory region",
		[UR_KIND_MW] = "memory window",
		[UR_KIND_CQ] = "completion queue",
		[UR_KIND_CHANNEL] = "completion channel",
		[UR_KIND_QP] = "queue pair",
		[UR_KIND_SRQ] = "shared receive queue",
		[UR_KIND_AH] = "address handle",
		[UR_KIND_CM_CHANNEL] = "rdma_cm event channel",
		[UR_KIND_CM_ID] = "rdma_cm_id",
	};

	return names[kind];
}

static unsigned int handle_bucket(enum ur_kind kind, const void *handle)
{
	return (unsigned int)(((uintptr_t)handle >> 4) * 2654435761u + kind) %
	       BUCKETS;
}

static unsigned int number_bucket(enum ur_kind kind, uint32_t number)
{
	return (number * 2654435761u + kind) % BUCKETS;
}

static void link_number(struct ur_watched *object)
{
	unsigned int b = number_bucket(object->kind, object->number);

	object->same_number = by_number[b];
	by_number[b] = object;
}

static void unlink_number(struct ur_watched *object)
{
	unsigned int b = number_bucket(object->kind, object->number);
	struct ur_watched **p = &by_number[b];

	while (*p && *p != object)
		p = &(*p)->same_number;
	if (*p)
		*p = object->same_number;
}

static void enter(struct ur_watched *object)
{
	unsigned int b = handle_bucket(object->kind, object->handle);

	object->same_handle = by_handle[b];
	by_handle[b] = object;
	link_number(object);
	object->newer = NULL;
	object->older = newest[object->kind];
	if (object->older)
		object->older->newer = object;
	newest[object->kind] = object;
}

void *ur_watch(enum ur_kind kind, size_t size, const void *handle,
	       const struct ibv_context *context, uint32_t number,
	       const struct ur_stack *made)
{
	struct ur_watched *object = calloc(1, size);

	if (!object)
		return NULL;
	object->kind = kind;
	object->handle = handle;
	object->context = context;
	object->number = number;
	object->made = *made;
	enter(object);
	return object;
}

void *ur_watched(enum ur_kind kind, const void *handle)
{
	struct ur_watched *object = by_handle[handle_bucket(kind, handle)];

	while (object && (object->kind != kind || object->handle != handle))
		object = object->same_handle;
	return object;
}

void *ur_watched_number(enum ur_kind kind, const void *context, uint32_t number)
{
	struct ur_watched *object = by_number[number_bucket(kind, number)];

	while (object && (object->kind != kind || object->number != number ||
			  (context && object->context != context)))
		object = object->same_number;
	return object;
}

void ur_watch_number(struct ur_watched *object, uint32_t number)
{
	unlink_number(object);
	object->number = number;
	link_number(object);
}

void ur_watch_needs_no(struct ur_watched *object, enum ur_kind kind)
{
	for (int i = 0; i < UR_NEEDS; i++) {
		if (!object->needs[i] || object->needs[i]->kind != kind)
			continue;
		object->needs[i]->users--;
		object->needs[i] = NULL;
	}
}

void ur_watch_needs(struct ur_watched *object, struct ur_watched *needed)
{
	if (!object || !needed)
		return;
	for (int i = 0; i < UR_NEEDS; i++) {
		if (object->needs[i])
			continue;
		object->needs[i] = needed;
		needed->users++;
		return;
	}
}

void ur_watch_out(struct ur_watched *object)
{
	unsigned int b = handle_bucket(object->kind, object->handle);
	struct ur_watched **p = &by_handle[b];

	while (*p && *p != object)
		p = &(*p)->same_handle;
	if (*p)
		*p = object->same_handle;
	unlink_number(object);
	if (object->newer)
		object->newer->older = object->older;
	else
		newest[object->kind] = object->older;
	if (object->older)
		object->older->newer = object->newer;
}

void ur_watch_back(struct ur_watched *object)
{
	enter(object);
}

static void free_parts(struct ur_watched *object)
{
	if (object->kind == UR_KIND_QP) {
		struct ur_watched_qp *qp = (struct ur_watched_qp *)object;

		free(qp->send.ring);
		free(qp->recv.ring);
		free(qp->build);
	} else if (object->kind == UR_KIND_SRQ) {
		free(((struct ur_watched_srq *)object)->recv.ring);
	} else if (object->kind == UR_KIND_CQ) {
		pthread_mutex_destroy(&((struct ur_watched_cq *)object)->poll);
	}
}

/* Removes references to a destroyed object, even if the program destroyed it
 * before its users (a context, all at once). */
static void forget_user(struct ur_watched *object)
{
	if (!object->users)
		return;
	for (int kind = 0; kind < UR_KINDS; kind++) {
		for (struct ur_watched *o = newest[kind]; o; o = o->older) {
			for (int i = 0; i < UR_NEEDS; i++)
				if (o->needs[i] == object)
					o->needs[i] = NULL;
			if (kind != UR_KIND_QP)
				continue;
			struct ur_watched_qp *qp = (struct ur_watched_qp *)o;

			if ((void *)qp->send_cq == object)
				qp->send_cq = NULL;
			if ((void *)qp->recv_cq == object)
				qp->recv_cq = NULL;
			if ((void *)qp->srq == object)
				qp->srq = NULL;
		}
	}
}

void ur_watch_gone(struct ur_watched *object)
{
	for (int i = 0; i < UR_NEEDS; i++)
		if (object->needs[i])
			object->needs[i]->users--;
	forget_user(object);
	if (object->kind == UR_KIND_MR) {
		unsigned int slot = died++ % DEAD_MRS;

		free(dead[slot]);
		dead[slot] = (struct ur_watched_mr *)object;
		return;
	}
	free_parts(object);
	free(object);
}

void *ur_watch_made(enum ur_kind kind, size_t size, const void *handle,
		    const struct ibv_context *context, enum ur_kind needed_kind,
		    const void *needed)
{
	struct ur_watched *object;
	struct ur_stack here;

	ur_stack_take(&here);
	ur_table_lock();
	object = ur_watch(kind, size, handle, context, 0, &here);
	ur_watch_needs(object, ur_watched(needed_kind, needed));
	ur_table_unlock();
	return object;
}

struct ur_watched *ur_watch_ending(enum ur_kind kind, const void *handle)
{
	struct ur_watched *object;

	ur_table_lock();
	object = ur_watched(kind, handle);
	if (object)
		ur_watch_out(object);
	ur_table_unlock();
	return object;
}

struct ur_watched *ur_watched_newest(enum ur_kind kind)
{
	return newest[kind];
}

const struct ur_watched_mr *ur_dead_mr(const void *context, uint32_t lkey)
{
	for (unsigned int i = 1; i <= DEAD_MRS; i++) {
		const struct ur_watched_mr *mr = dead[(died - i) % DEAD_MRS];

		if (mr && mr->o.context == context && mr->o.number == lkey)
			return mr;
	}
	return NULL;
}

void ur_watch_inherited(void)
{
	for (int kind = 0; kind < UR_KINDS; kind++)
		for (struct ur_watched *o = newest[kind]; o; o = o->older)
			o->inherited = true;
}

void ur_watched_print(FILE *out, const struct ur_watched *object, bool whole)
{
	struct ur_stack_frame frame;

	fprintf(out, "%s ", ur_kind_name(object->kind));
	if (object->kind == UR_KIND_QP)
		fprintf(out, "0x%06x ", object->number);
	else if (object->kind == UR_KIND_MR)
		fprintf(out, "lkey 0x%x ", object->number);
	fprintf(out, "(%p), created at ", object->handle);
	if (whole) {
		ur_stack_print(out, &object->made);
		return;
	}
	ur_frame_find(ur_stack_place(&object->made), &frame);
	ur_frame_print(out, &frame);
}
