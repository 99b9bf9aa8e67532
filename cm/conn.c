// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The manager and the life of an id: creation under caps, common steps, and
 * what remains after its owner has destroyed it.
 */
#include <errno.h>
#include <stdlib.h>

#include "cm/conn.h"
#include "util/assert.h"

#define MAX_IDS_DEFAULT	      65536
#define MAX_PENDING_DEFAULT   4096
#define MAX_LINGERING_DEFAULT 8192

struct ur_cm *ur_cm_create(const struct ur_cm_config *config)
{
	struct ur_cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return NULL;
	cm->config = *config;
	if (!cm->config.max_ids)
		cm->config.max_ids = MAX_IDS_DEFAULT;
	if (!cm->config.max_pending)
		cm->config.max_pending = MAX_PENDING_DEFAULT;
	if (!cm->config.max_lingering)
		cm->config.max_lingering = MAX_LINGERING_DEFAULT;
	cm->deadlines.place =
		calloc(cm->config.max_ids, sizeof(*cm->deadlines.place));
	if (!cm->deadlines.place) {
		free(cm);
		return NULL;
	}
	cm->secret.key[0] = config->key[0];
	cm->secret.key[1] = config->key[1];
	cm->tid_hi = (u32)ur_secret_u64(&cm->secret) | 1;
	ur_list_init(&cm->all);
	ur_list_init(&cm->listeners);
	ur_list_init(&cm->lingerers);
	ur_cm_peers_init(cm);
	return cm;
}

void ur_cm_destroy(struct ur_cm *cm)
{
	if (!cm)
		return;
	while (!ur_list_empty(&cm->all))
		ur_cm_free(ur_list_first(&cm->all, struct ur_cm_id, all));
	free(cm->deadlines.place);
	free(cm);
}

void ur_cm_set_now(struct ur_cm *cm, u64 now)
{
	if (now > cm->now)
		cm->now = now;
}

void ur_cm_get_stats(const struct ur_cm *cm, struct ur_cm_stats *stats)
{
	*stats = cm->stats;
}

static void evict_lingerer(struct ur_cm *cm)
{
	if (ur_list_empty(&cm->lingerers))
		return;
	cm->stats.evicted_lingering++;
	ur_cm_free(ur_list_first(&cm->lingerers, struct ur_cm_id, linger));
}

/* Draws the id at random: a peer that knows some, from its own connections,
 * cannot predict others. */
static u32 new_local_id(struct ur_cm *cm)
{
	u32 id;

	do {
		id = (u32)ur_secret_u64(&cm->secret);
	} while (!id || ur_cm_find_local(cm, id));
	return id;
}

struct ur_cm_id *ur_cm_id_create(struct ur_cm *cm, void *ctx)
{
	struct ur_cm_id *id;

	if (cm->stats.ids >= cm->config.max_ids)
		evict_lingerer(cm);
	if (cm->stats.ids >= cm->config.max_ids)
		return NULL;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	id->cm = cm;
	id->ctx = ctx;
	id->local_id = new_local_id(cm);
	ur_list_init(&id->all);
	ur_list_init(&id->by_local_id);
	ur_list_init(&id->by_remote_id);
	ur_list_init(&id->by_remote_qpn);
	ur_list_init(&id->linger);
	ur_list_init(&id->listen);
	ur_list_init(&id->sibling);
	ur_list_init(&id->children);
	ur_list_add_tail(&cm->all, &id->all);
	ur_cm_index_local(id);
	cm->stats.ids++;
	return id;
}

void ur_cm_free(struct ur_cm_id *id)
{
	struct ur_cm *cm = id->cm;

	ur_cm_not_pending(id);
	ur_cm_unlisten(id);
	ur_cm_disarm(id);
	ur_cm_unindex_remote(id);
	ur_list_del(&id->by_local_id);
	ur_list_del(&id->all);
	ur_list_del(&id->linger);
	if (id->lingering) {
		ur_assert(cm->stats.lingering);
		cm->stats.lingering--;
	}
	ur_assert(cm->stats.ids);
	ur_assert(ur_list_empty(&id->children) && ur_list_empty(&id->listen));
	cm->stats.ids--;
	free(id);
}

void *ur_cm_id_ctx(const struct ur_cm_id *id)
{
	return id->ctx;
}

void ur_cm_id_set_ctx(struct ur_cm_id *id, void *ctx)
{
	id->ctx = ctx;
}

void ur_cm_set_attr_mod(struct ur_cm_id *id, u32 attr_mod)
{
	id->attr_mod = attr_mod;
}

enum ur_cm_state ur_cm_id_state(const struct ur_cm_id *id)
{
	return id->state;
}

u32 ur_cm_id_local_comm_id(const struct ur_cm_id *id)
{
	return id->local_id;
}

struct ur_cm_id *ur_cm_new_passive(struct ur_cm *cm, struct ur_cm_id *listener,
				   const struct ur_cm_path *from)
{
	struct ur_cm_id *id;

	if (listener->waiting >= listener->backlog) {
		cm->stats.dropped_backlog++;
		return NULL;
	}
	if (cm->stats.pending >= cm->config.max_pending) {
		cm->stats.dropped_pending++;
		return NULL;
	}
	id = ur_cm_id_create(cm, NULL);
	if (!id) {
		cm->stats.dropped_no_memory++;
		return NULL;
	}
	ur_assert(listener->cm == cm && id != listener);
	id->path = *from;
	id->passive = true;
	id->counted_pending = true;
	id->listener = listener;
	ur_list_add_tail(&listener->children, &id->sibling);
	listener->waiting++;
	cm->stats.pending++;
	return id;
}

void ur_cm_not_pending(struct ur_cm_id *id)
{
	if (id->listener) {
		ur_assert(id->listener->waiting);
		id->listener->waiting--;
	}
	id->listener = NULL;
	ur_list_del(&id->sibling);
	if (id->counted_pending) {
		ur_assert(id->cm->stats.pending);
		id->cm->stats.pending--;
	}
	id->counted_pending = false;
}

void ur_cm_id_taken(struct ur_cm_id *id)
{
	ur_cm_not_pending(id);
}

/* Formed like the kernel's: the agent's number above, the id below. */
u64 ur_cm_new_tid(struct ur_cm_id *id)
{
	return ((u64)id->cm->tid_hi << 32) | id->local_id;
}

void ur_cm_set_state(struct ur_cm_id *id, enum ur_cm_state state)
{
	id->state = state;
}

void ur_cm_emit(struct ur_cm *cm, const struct ur_cm_path *path, const u8 *mad)
{
	ur_assert(ur_get_be16(mad + 16) - UR_CM_REQ <
		  (int)UR_ARRAY_SIZE(cm->stats.tx_by_attr));
	cm->stats.tx_by_attr[ur_get_be16(mad + 16) - UR_CM_REQ]++;
	cm->config.send(cm->config.ctx, path, mad);
}

void ur_cm_request(struct ur_cm_id *id, const struct ur_cm_mad *mad)
{
	ur_cm_mad_build(mad, id->request);
	id->retries_left = id->max_retries;
	ur_cm_arm(id, id->cm->now + id->rto_ns);
	ur_cm_emit(id->cm, &id->path, id->request);
}

void ur_cm_reply(struct ur_cm_id *id, const struct ur_cm_mad *mad)
{
	ur_cm_mad_build(mad, id->reply);
	id->has_reply = true;
	ur_cm_emit(id->cm, &id->path, id->reply);
}

void ur_cm_repeat_reply(struct ur_cm_id *id)
{
	if (id->has_reply)
		ur_cm_emit(id->cm, &id->path, id->reply);
}

void ur_cm_report(struct ur_cm_id *id, enum ur_cm_event_type type, int status,
		  const struct ur_cm_mad *mad)
{
	struct ur_cm_event event = {
		.type = type, .status = status, .mad = mad, .path = &id->path};

	if (id->lingering)
		return;
	id->cm->config.event(id->cm->config.ctx, id, &event);
}

void ur_cm_to_idle(struct ur_cm_id *id)
{
	ur_cm_not_pending(id);
	ur_cm_disarm(id);
	ur_cm_unindex_remote(id);
	id->remote_id = 0;
	id->asked = false;
	id->has_reply = false;
	ur_cm_set_state(id, UR_CM_IDLE_STATE);
}

void ur_cm_to_timewait(struct ur_cm_id *id)
{
	ur_assert(!id->listener || id->listener->cm == id->cm);
	ur_cm_not_pending(id);
	ur_cm_set_state(id, UR_CM_TIMEWAIT_STATE);
	/* No longer connected: its QPN does not make another request stale. */
	ur_cm_unindex_remote_qpn(id);
	ur_cm_arm(id, id->cm->now + ur_cm_time_ns(id->ack_timeout));
}

void ur_cm_linger(struct ur_cm_id *id)
{
	struct ur_cm *cm = id->cm;

	if (cm->stats.lingering >= cm->config.max_lingering)
		evict_lingerer(cm);
	ur_assert(!id->lingering && ur_list_empty(&id->linger));
	id->lingering = true;
	id->ctx = NULL;
	ur_list_add_tail(&cm->lingerers, &id->linger);
	cm->stats.lingering++;
}

struct ur_cm_id *ur_cm_find_stale(struct ur_cm *cm,
				  const struct ur_cm_path *from, u64 guid,
				  u32 qpn)
{
	struct ur_cm_id *id = ur_cm_find_remote_qpn(cm, from, guid, qpn);

	if (!id || !id->lingering || id->state != UR_CM_DREQ_SENT_STATE)
		return id;
	ur_cm_free(id);
	return NULL;
}

int ur_cm_put_private(u8 *to, u32 room, const void *data, u32 bytes)
{
	if (bytes > room)
		return -EINVAL;
	if (data && bytes)
		memcpy(to, data, bytes);
	return 0;
}

void ur_cm_reject_stranger(struct ur_cm *cm, const struct ur_cm_path *path,
			   u64 tid, u32 local_comm_id, u32 remote_comm_id,
			   u8 answers, u16 reason)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REJ, .tid = tid};
	u8 buf[UR_CM_MAD_BYTES];

	mad.u.rej.local_comm_id = local_comm_id;
	mad.u.rej.remote_comm_id = remote_comm_id;
	mad.u.rej.answers = answers;
	mad.u.rej.reason = reason;
	ur_cm_mad_build(&mad, buf);
	ur_cm_emit(cm, path, buf);
}

void ur_cm_id_abandon(struct ur_cm_id *id)
{
	ur_cm_free(id);
}

void ur_cm_unlisten(struct ur_cm_id *id)
{
	ur_list_del(&id->listen);
	/* Requests that were reported live on without their listener. */
	ur_list_for_each_safe(n, &id->children) {
		struct ur_cm_id *child =
			ur_list_entry(n, struct ur_cm_id, sibling);

		ur_list_del(&child->sibling);
		child->listener = NULL;
	}
}
