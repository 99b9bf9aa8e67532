// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The functions of cm.h: a MAD comes, time passes, a listener starts, an id
 * ends. Each is one switch over the states; active.c, passive.c, teardown.c and
 * sidr.c handle the messages.
 */
#include <errno.h>

#include "cm/conn.h"
#include "util/assert.h"

void ur_cm_id_destroy(struct ur_cm_id *id)
{
	static const struct ur_cm_sidr_rep refused = {
		.status = UR_CM_SIDR_REJECT};

	switch (id->state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_MRA_REQ_RCVD_STATE:
		/* The peer knows this id by our GUID, IBA 12.6.7.2. */
		ur_cm_send_rej(id, UR_CM_REJ_TIMEOUT,
			       id->request + UR_CM_REQ_GUID_AT, 8, NULL, 0);
		break;
	case UR_CM_REQ_RCVD_STATE:
	case UR_CM_MRA_REQ_SENT_STATE:
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
	case UR_CM_REP_RCVD_STATE:
	case UR_CM_MRA_REP_SENT_STATE:
		ur_cm_send_rej(id, UR_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL,
			       0);
		break;
	case UR_CM_ESTABLISHED_STATE:
		ur_cm_send_dreq(id, NULL, 0);
		break;
	case UR_CM_DREQ_RCVD_STATE:
		ur_cm_send_drep(id, NULL, 0);
		break;
	case UR_CM_SIDR_REQ_SENT_STATE:
		ur_cm_to_idle(id);
		break;
	case UR_CM_SIDR_REQ_RCVD_STATE:
		ur_cm_send_sidr_rep(id, &refused);
		break;
	default:
		break;
	}
	/* Only an id with a deadline owes the peer something. */
	if (ur_heap_has(&id->due))
		ur_cm_linger(id);
	else
		ur_cm_free(id);
}

static void dispatch(struct ur_cm *cm, const struct ur_cm_path *from,
		     const struct ur_cm_mad *mad)
{
	switch (mad->attr) {
	case UR_CM_REQ:
		ur_cm_rx_req(cm, from, mad);
		return;
	case UR_CM_MRA:
		ur_cm_rx_mra(cm, from, mad);
		return;
	case UR_CM_REJ:
		ur_cm_rx_rej(cm, from, mad);
		return;
	case UR_CM_REP:
		ur_cm_rx_rep(cm, from, mad);
		return;
	case UR_CM_RTU:
		ur_cm_rx_rtu(cm, from, mad);
		return;
	case UR_CM_DREQ:
		ur_cm_rx_dreq(cm, from, mad);
		return;
	case UR_CM_DREP:
		ur_cm_rx_drep(cm, from, mad);
		return;
	case UR_CM_LAP:
		ur_cm_rx_lap(cm, from, mad);
		return;
	case UR_CM_SIDR_REQ:
		ur_cm_rx_sidr_req(cm, from, mad);
		return;
	case UR_CM_SIDR_REP:
		ur_cm_rx_sidr_rep(cm, from, mad);
		return;
	default:
		/* An APR answers a LAP, and we send none. */
		cm->stats.rx_wrong_state++;
	}
}

/* ---- invariants ---- */

static bool waits_for_peer(enum ur_cm_state state)
{
	switch (state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_MRA_REQ_RCVD_STATE:
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
	case UR_CM_DREQ_SENT_STATE:
	case UR_CM_TIMEWAIT_STATE:
	case UR_CM_SIDR_REQ_SENT_STATE:
		return true;
	default:
		return false;
	}
}

static const char *check_id(const struct ur_cm *cm, const struct ur_cm_id *id)
{
	if (id->cm != cm)
		return "an id belongs to its manager";
	if (ur_list_empty(&id->by_local_id))
		return "an id can be found by its local comm id";
	if (waits_for_peer(id->state) && !ur_heap_has(&id->due))
		return "who waits for the peer has a deadline";
	if (!waits_for_peer(id->state) && ur_heap_has(&id->due) &&
	    id->state != UR_CM_SIDR_REP_SENT_STATE)
		return "who waits for nobody has no deadline";
	if (id->lingering && !ur_heap_has(&id->due))
		return "a lingering id goes by itself";
	if (id->lingering && id->state != UR_CM_DREQ_SENT_STATE &&
	    id->state != UR_CM_TIMEWAIT_STATE &&
	    id->state != UR_CM_SIDR_REP_SENT_STATE)
		return "only what is owed to the peer lingers";
	if (id->listener && !id->counted_pending)
		return "who waits in a backlog is pending";
	if ((id->state == UR_CM_LISTEN_STATE) == ur_list_empty(&id->listen))
		return "listeners and nobody else are in the list of them";
	return NULL;
}

const char *ur_cm_check(const struct ur_cm *cm)
{
	u32 ids = 0, pending = 0, lingering = 0;
	const char *wrong;

	if (cm->stats.ids > cm->config.max_ids)
		return "ids stay under their cap";
	if (cm->stats.pending > cm->config.max_pending)
		return "pending requests stay under their cap";
	if (cm->stats.lingering > cm->config.max_lingering)
		return "lingering ids stay under their cap";
	ur_list_for_each(n, &cm->all) {
		const struct ur_cm_id *id =
			ur_list_entry(n, struct ur_cm_id, all);

		wrong = check_id(cm, id);
		if (wrong)
			return wrong;
		ids++;
		pending += id->counted_pending;
		lingering += id->lingering;
	}
	if (ids != cm->stats.ids || pending != cm->stats.pending ||
	    lingering != cm->stats.lingering)
		return "the counts are right";
	return ur_heap_check(&cm->deadlines);
}

/* Checks all ids at each step, as long as there are few, as in tests. */
static const char *check(const struct ur_cm *cm)
{
	return cm->stats.ids <= 64 ? ur_cm_check(cm) : NULL;
}

/* ---- a MAD, a deadline, a listener ---- */

void ur_cm_rx(struct ur_cm *cm, u64 now, const struct ur_cm_path *from,
	      const u8 *buf, size_t len)
{
	struct ur_cm_mad mad;

	ur_cm_set_now(cm, now);
	cm->stats.rx_mads++;
	if (ur_cm_mad_parse(buf, len, &mad)) {
		cm->stats.rx_malformed++;
		return;
	}
	cm->stats.rx_by_attr[mad.attr - UR_CM_REQ]++;
	dispatch(cm, from, &mad);
	ur_assert_rules_hot(check(cm));
}

u64 ur_cm_deadline(const struct ur_cm *cm)
{
	const struct ur_heap_node *first = ur_heap_first(&cm->deadlines);
	u64 parked = ur_cm_parked_deadline(cm);

	/* The host calls this after each of its own requests, too. */
	ur_assert_rules_hot(check(cm));
	return first ? ur_min_u64(first->at, parked) : parked;
}

static void give_up(struct ur_cm_id *id)
{
	id->cm->stats.timeouts++;
	switch (id->state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_MRA_REQ_RCVD_STATE:
		ur_cm_to_idle(id);
		ur_cm_report(id, UR_CM_EVENT_REQ_ERROR, -ETIMEDOUT, NULL);
		return;
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
		/* A peer that thinks it is connected learns otherwise. */
		ur_cm_send_rej(id, UR_CM_REJ_TIMEOUT,
			       id->request + UR_CM_REP_GUID_AT, 8, NULL, 0);
		ur_cm_to_idle(id);
		ur_cm_report(id, UR_CM_EVENT_REP_ERROR, -ETIMEDOUT, NULL);
		return;
	case UR_CM_DREQ_SENT_STATE:
		ur_cm_to_timewait(id);
		ur_cm_report(id, UR_CM_EVENT_DREQ_ERROR, -ETIMEDOUT, NULL);
		return;
	case UR_CM_SIDR_REQ_SENT_STATE:
		ur_cm_to_idle(id);
		ur_cm_report(id, UR_CM_EVENT_SIDR_REQ_ERROR, -ETIMEDOUT, NULL);
		return;
	default:
		return;
	}
}

static void expire_one(struct ur_cm_id *id)
{
	ur_cm_disarm(id);
	switch (id->state) {
	case UR_CM_TIMEWAIT_STATE:
	case UR_CM_SIDR_REP_SENT_STATE:
		if (id->lingering) {
			ur_cm_free(id);
			return;
		}
		if (id->state == UR_CM_SIDR_REP_SENT_STATE)
			return;
		ur_cm_to_idle(id);
		ur_cm_report(id, UR_CM_EVENT_TIMEWAIT_EXIT, 0, NULL);
		return;
	default:
		break;
	}
	if (!id->retries_left) {
		give_up(id);
		return;
	}
	id->retries_left--;
	id->cm->stats.retransmitted++;
	ur_cm_arm(id, id->cm->now + id->rto_ns);
	ur_cm_emit(id->cm, &id->path, id->request);
}

static void unpark(struct ur_cm *cm, struct ur_cm_parked *p)
{
	struct ur_cm_parked copy = *p;

	ur_assert(p->used && cm->n_parked);
	p->used = false;
	cm->n_parked--;
	cm->unparking = true;
	if (copy.mad.attr == UR_CM_REQ)
		ur_cm_rx_req(cm, &copy.from, &copy.mad);
	else
		ur_cm_rx_sidr_req(cm, &copy.from, &copy.mad);
	cm->unparking = false;
}

static void expire_parked(struct ur_cm *cm)
{
	for (u32 i = 0; cm->n_parked && i < UR_CM_PARKED_MAX; i++)
		if (cm->parked[i].used && cm->parked[i].deadline <= cm->now)
			unpark(cm, &cm->parked[i]);
}

void ur_cm_expire(struct ur_cm *cm, u64 now)
{
	struct ur_heap_node *first;

	ur_cm_set_now(cm, now);
	/* Terminates, since every new deadline is later than now. */
	while ((first = ur_heap_first(&cm->deadlines)) && first->at <= cm->now)
		expire_one(ur_container_of(first, struct ur_cm_id, due));
	expire_parked(cm);
	ur_assert_rules_hot(check(cm));
}

static bool same_match(const struct ur_cm_match *a, const struct ur_cm_match *b)
{
	return a->ip_version == b->ip_version && a->any_addr == b->any_addr &&
	       a->any_port == b->any_port && a->any_service == b->any_service &&
	       (a->any_port || a->port == b->port) &&
	       (a->any_addr || !a->ip_version || !memcmp(a->addr, b->addr, 16));
}

int ur_cm_listen(struct ur_cm_id *id, u64 service_id,
		 const struct ur_cm_match *match, u32 backlog)
{
	static const struct ur_cm_match all = {.any_port = true};
	struct ur_cm *cm = id->cm;

	if (id->state != UR_CM_IDLE_STATE)
		return -EINVAL;
	if (!match)
		match = &all;
	ur_list_for_each(n, &cm->listeners) {
		struct ur_cm_id *other =
			ur_list_entry(n, struct ur_cm_id, listen);

		if (other->service_id == service_id &&
		    same_match(&other->match, match))
			return -EADDRINUSE;
	}
	id->service_id = service_id;
	id->match = *match;
	id->backlog = backlog;
	ur_list_add_tail(&cm->listeners, &id->listen);
	ur_cm_set_state(id, UR_CM_LISTEN_STATE);
	ur_cm_unpark_service(cm, service_id);
	return 0;
}
