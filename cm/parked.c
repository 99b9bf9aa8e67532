// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests that came a moment too early. A server that asks its client by other
 * means to connect, and only then listens, races with the request: it wins on a
 * fast host, and would lose a connection on a loaded one. So a request for a
 * service without a listener may wait for config.listen_grace_ms before it is
 * rejected. A fixed number of requests may wait; others are rejected at once.
 */
#include "cm/conn.h"

static u64 service_of(const struct ur_cm_mad *mad)
{
	return mad->attr == UR_CM_REQ ? mad->u.req.service_id
				      : mad->u.sidr_req.service_id;
}

/* Nobody listens on port 0 of an IP service: its sender wants an answer, not a
 * service. */
static bool is_port_0(u64 service_id)
{
	return service_id && (service_id & 0xffff) == 0;
}

/* Returns whether the request waits for a listener now: the caller drops its copy, and ur_cm_expire()
 * receives the request again. */
bool ur_cm_park(struct ur_cm *cm, const struct ur_cm_path *from,
		const struct ur_cm_mad *mad)
{
	struct ur_cm_parked *free_slot = NULL;

	if (!cm->config.listen_grace_ms || cm->unparking ||
	    is_port_0(service_of(mad)))
		return false;
	for (u32 i = 0; i < UR_CM_PARKED_MAX; i++) {
		struct ur_cm_parked *p = &cm->parked[i];

		if (!p->used)
			free_slot = free_slot ? free_slot : p;
		else if (p->mad.tid == mad->tid && p->mad.attr == mad->attr &&
			 !memcmp(p->from.dgid, from->dgid, 16))
			return true; /* a repetition */
	}
	if (!free_slot)
		return false;
	free_slot->used = true;
	free_slot->deadline = cm->now + cm->config.listen_grace_ms * 1000000ull;
	free_slot->from = *from;
	free_slot->mad = *mad;
	cm->n_parked++;
	return true;
}

void ur_cm_unpark_service(struct ur_cm *cm, u64 service_id)
{
	/* Made due, not received: the next ur_cm_expire() does that, after the
	 * caller knows its new listener. */
	for (u32 i = 0; cm->n_parked && i < UR_CM_PARKED_MAX; i++)
		if (cm->parked[i].used &&
		    service_of(&cm->parked[i].mad) == service_id)
			cm->parked[i].deadline = cm->now;
}

u64 ur_cm_parked_deadline(const struct ur_cm *cm)
{
	u64 first = UR_CM_NEVER;

	for (u32 i = 0; cm->n_parked && i < UR_CM_PARKED_MAX; i++)
		if (cm->parked[i].used && cm->parked[i].deadline < first)
			first = cm->parked[i].deadline;
	return first;
}
