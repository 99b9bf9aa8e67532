// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners: a list, searched once per new request. Several may share a service
 * id on different addresses; the most specific one gets the request.
 */
#include "cm/conn.h"

/* Returns how well a listener matches; 0: not at all. */
static int fitness(const struct ur_cm_match *m, const struct ur_cm_path *from,
		   const struct ur_cm_event *event)
{
	int fit = 1;

	if (!m->any_port) {
		if (m->port != from->port)
			return 0;
		fit += 1;
	}
	if (!m->ip_version)
		return fit;
	if (!event->has_ip)
		return 0;
	if (m->any_addr) {
		if (m->ip_version == event->ip.ip_version)
			return fit + 4;
		return m->ip_version == 6 && !m->v6_only ? fit + 2 : 0;
	}
	if (m->ip_version != event->ip.ip_version ||
	    memcmp(m->addr, event->ip.dst, 16))
		return 0;
	return fit + 8;
}

/* Also fills event->has_ip and event->ip. */
struct ur_cm_id *ur_cm_find_listener(struct ur_cm *cm,
				     const struct ur_cm_path *from,
				     u64 service_id, const u8 *data, u32 bytes,
				     struct ur_cm_event *event)
{
	struct ur_cm_id *best = NULL;
	int best_fit = 0;

	event->has_ip = ur_ip_cm_is_service(service_id) &&
			!ur_ip_cm_parse(data, bytes, &event->ip);
	ur_list_for_each(n, &cm->listeners) {
		struct ur_cm_id *id = ur_list_entry(n, struct ur_cm_id, listen);
		int fit;

		if (!id->match.any_service && id->service_id != service_id)
			continue;
		fit = fitness(&id->match, from, event);
		if (fit && !id->match.any_service)
			fit += 16;
		if (fit > best_fit) {
			best = id;
			best_fit = fit;
		}
	}
	return best;
}
