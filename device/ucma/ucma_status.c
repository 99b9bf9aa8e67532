// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rdma_cm ids and the connection manager's counters as JSON. */
#include <arpa/inet.h>
#include <json-c/json.h>
#include <stdio.h>

#include "device/administrator.h"
#include "device/listing.h"
#include "device/ucma/ucma.h"
#include "util/assert.h"

bool ucma_sa_print(char *text, size_t size, const union ur_sa *sa)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (sa->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &sa->in.sin_addr, host, sizeof(host));
	else if (sa->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &sa->in6.sin6_addr, host, sizeof(host));
	else if (sa->sa.sa_family == AF_IB)
		inet_ntop(AF_INET6, sa->ib.sib_addr, host, sizeof(host));
	else
		return false;
	snprintf(text, size, sa->sa.sa_family == AF_INET ? "%s:%u" : "[%s]:%u",
		 host, ucma_sa_port(sa));
	return true;
}

static void add_address(struct json_object *o, const char *key,
			const union ur_sa *sa)
{
	char text[INET6_ADDRSTRLEN + 16];

	if (ucma_sa_print(text, sizeof(text), sa))
		ur_json_text(o, key, text);
}

static const char *space_name(u16 ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IB:
		return "IB";
	default:
		return "IPOIB";
	}
}

static struct json_object *describe(const struct ucma_id *id, bool whole)
{
	static const char *const states[] = {
		[UCMA_IDLE] = "IDLE",
		[UCMA_BOUND] = "ADDR_BOUND",
		[UCMA_ADDR_QUERY] = "ADDR_QUERY",
		[UCMA_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[UCMA_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[UCMA_CONNECT] = "CONNECT",
		[UCMA_DISCONNECT] = "DISCONNECT",
		[UCMA_LISTEN] = "LISTEN",
	};
	struct json_object *o = ur_json_object();
	const struct ur_session *s = id->file->session;

	ur_json_text(o, "device", id->dev ? id->dev->name : "");
	ur_json_int(o, "session", s->id);
	if (!whole) {
		ur_listing_hide(o);
		return o;
	}
	ur_json_int(o, "pid", (u64)s->pid);
	ur_json_text(o, "comm", s->comm);
	ur_json_int(o, "id", id->number);
	ur_json_text(o, "port_space", space_name(id->ps));
	ur_json_text(o, "state",
		     id->lost ? "DEVICE_REMOVAL" : states[id->state]);
	if (id->cm)
		ur_json_text(o, "cm_state",
			     ur_cm_state_name(ur_cm_id_state(id->cm)));
	add_address(o, "src", &id->src);
	add_address(o, "dst", &id->dst);
	ur_json_int(o, "qpn", id->qp_num);
	return o;
}

/* unused numbers skipped in one step */
#define STEP_NUMBERS 256

bool ur_status_next_cm_id(struct ur_listing *w, struct json_object **o)
{
	const struct ur_ucma *ucma = w->daemon->cm;
	u32 end = ur_min_u32(w->at + STEP_NUMBERS, UCMA_ID_MAX);

	ur_assert(ur_loop_mine(w->daemon->loop));
	while (ucma && w->at < end) {
		const struct ucma_id *id = ucma->ids.slot[w->at++];

		if (!id || id->state == UCMA_SPARE)
			continue;
		*o = describe(id, ur_may_see(w->asker, id->file->session->uid));
		return true;
	}
	return ucma && w->at < UCMA_ID_MAX;
}

static void add_by_attr(struct json_object *o, const char *direction,
			const u64 *count)
{
	char key[32];

	for (u32 i = 0; i < UR_CM_ATTR_END - UR_CM_REQ; i++) {
		snprintf(key, sizeof(key), "%s_%s", direction,
			 ur_cm_attr_name((u16)(UR_CM_REQ + i)));
		ur_json_int(o, key, count[i]);
	}
}

struct json_object *ur_ucma_status_counters(struct ur_daemon *daemon)
{
	struct json_object *o = ur_json_object();
	struct ur_ucma *ucma = daemon->cm;
	struct ur_cm_stats s;

	if (!ucma)
		return o;
	ur_cm_get_stats(ucma->cm, &s);
	add_by_attr(o, "rx", s.rx_by_attr);
	add_by_attr(o, "tx", s.tx_by_attr);
#define COUNTER(name) ur_json_int(o, #name, s.name)
	COUNTER(rx_mads);
	COUNTER(rx_malformed);
	COUNTER(rx_duplicate);
	COUNTER(rx_unknown_id);
	COUNTER(rx_wrong_state);
	COUNTER(rx_wrong_peer);
	COUNTER(rx_no_listener);
	COUNTER(rx_stale);
	COUNTER(dropped_backlog);
	COUNTER(dropped_pending);
	COUNTER(dropped_no_memory);
	COUNTER(retransmitted);
	COUNTER(timeouts);
	COUNTER(evicted_lingering);
	COUNTER(ids);
	COUNTER(pending);
	COUNTER(lingering);
#undef COUNTER
	return o;
}
