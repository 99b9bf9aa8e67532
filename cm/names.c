/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names for traces, and the invariants of the manager. */
#include "cm/conn.h"

const char *ur_cm_state_name(enum ur_cm_state state)
{
	static const char *const names[] = {
#define STATE_NAME(name) #name,
		UR_CM_STATES(STATE_NAME)
#undef STATE_NAME
	};

	return (u32)state < UR_ARRAY_SIZE(names) ? names[state] : "?";
}

const char *ur_cm_event_name(enum ur_cm_event_type type)
{
	static const char *const names[] = {
#define EVENT_NAME(name) #name,
		UR_CM_EVENTS(EVENT_NAME)
#undef EVENT_NAME
	};

	return (u32)type < UR_ARRAY_SIZE(names) ? names[type] : "?";
}

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
