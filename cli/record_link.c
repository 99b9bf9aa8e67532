// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Correlates events: work requests with their packets and completions, sent packets with
 * the same ones received, queue pairs with their peers. Searches are bounded, whatever the
 * file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record.h"
#include "transport/packet.h"

#define PSN_MASK 0xffffffu
/* Search limits: work requests of a queue pair, and equal packets. */
#define SEARCH_SENDS   4096
#define SEARCH_PACKETS 64
/* Search limit: queue pairs with the same number. */
#define SEARCH_PEERS 1024
/* A packet sent this shortly before the end may be in flight. */
#define FLIGHT_NS 2000000ull

struct buckets {
	uint32_t *first;
	uint32_t mask;
};

static int psn_diff(uint32_t a, uint32_t b)
{
	return (int)((a - b) << 8) >> 8;
}

static bool is_response(uint8_t op)
{
	return ur_opcode_lookup(op)->flags & UR_OPF_RESPONSE;
}

/* A notification of congestion has no PSN. */
static bool has_no_send(uint8_t op)
{
	return is_response(op) || op == UR_OP_CNP;
}

static uint32_t dest_of(const struct ur_record_event *e)
{
	const uint8_t *bth = e->packet->headers;

	return (uint32_t)bth[5] << 16 | (uint32_t)bth[6] << 8 | bth[7];
}

/* ---- work requests ---- */

static void add_send(struct ur_record *record, uint32_t i)
{
	struct ur_record_event *e = &record->events[i];
	struct ur_record_qp *qp = &record->qps[e->qp];

	qp->sends++;
	e->chain = qp->last_send;
	if (qp->last_send != UR_RECORD_NONE)
		record->events[qp->last_send].next_send = i;
	if (qp->oldest_send == UR_RECORD_NONE)
		qp->oldest_send = i;
	qp->last_send = i;
}

/* A completion matches the oldest work request that fits; earlier ones were unsignaled. */
static void add_completion(struct ur_record *record, uint32_t i)
{
	struct ur_record_event *e = &record->events[i];
	struct ur_record_qp *qp = &record->qps[e->qp];
	uint32_t at = qp->oldest_send;

	qp->completions++;
	if (e->r.flags & UROCE_RECORD_F_RECV)
		return;
	for (int n = 0; at != UR_RECORD_NONE && n < SEARCH_SENDS; n++) {
		struct ur_record_event *s = &record->events[at];

		if (s->r.wr_id == e->r.wr_id &&
		    (e->r.status || s->r.flags & UROCE_RECORD_F_SIGNALED)) {
			s->done = i;
			e->send = at;
			qp->oldest_send = s->next_send;
			return;
		}
		at = s->next_send;
	}
}

/* Finds the work request whose PSN range contains psn. */
static uint32_t find_send(const struct ur_record *record,
			  const struct ur_record_qp *qp, uint32_t psn)
{
	uint32_t at = qp->last_send;

	for (int n = 0; at != UR_RECORD_NONE && n < SEARCH_SENDS; n++) {
		const struct ur_record_event *s = &record->events[at];

		if (s->r.flags & UROCE_RECORD_F_PSN &&
		    ((psn - s->r.psn) & PSN_MASK) < s->r.psns)
			return at;
		at = s->chain;
	}
	return UR_RECORD_NONE;
}

/* ---- packets ---- */

static uint32_t bucket(const struct buckets *b, const struct ur_record_event *e)
{
	uint32_t h =
		dest_of(e) * 2654435761u ^ e->r.psn * 40503u ^ e->r.op * 97u;

	return (h ^ h >> 15) & b->mask;
}

static bool is_same(const struct ur_record_event *a,
		    const struct ur_record_event *b)
{
	return a->r.psn == b->r.psn && a->r.op == b->r.op &&
	       a->r.length == b->r.length && dest_of(a) == dest_of(b) &&
	       !memcmp(a->packet->saddr, b->packet->saddr, 16) &&
	       !memcmp(a->packet->daddr, b->packet->daddr, 16);
}

static void packet_out(struct ur_record *record, struct buckets *b, uint32_t i)
{
	struct ur_record_event *e = &record->events[i];
	struct ur_record_qp *qp = &record->qps[e->qp];
	uint32_t *first = &b->first[bucket(b, e)];

	qp->packets_out++;
	e->chain = *first;
	*first = i;
	if (has_no_send(e->r.op) || e->r.qpn <= 1)
		return;
	e->send = find_send(record, qp, e->r.psn);
	if (qp->sent && psn_diff(e->r.psn, qp->next_psn) < 0) {
		e->resent = true;
		qp->resent++;
		return;
	}
	qp->sent = true;
	qp->next_psn = e->r.psn + 1;
}

static void packet_in(struct ur_record *record, struct buckets *b, uint32_t i)
{
	struct ur_record_event *e = &record->events[i];
	struct ur_record_qp *qp = &record->qps[e->qp];
	uint32_t at = b->first[bucket(b, e)];

	qp->packets_in++;
	if (is_response(e->r.op))
		e->send = find_send(record, qp, e->r.psn);
	for (int n = 0; at != UR_RECORD_NONE && n < SEARCH_PACKETS; n++) {
		struct ur_record_event *out = &record->events[at];

		if (out->other == UR_RECORD_NONE && is_same(out, e)) {
			out->other = i;
			e->other = at;
			return;
		}
		at = out->chain;
	}
}

/* ---- queue pairs ---- */

/* Chains queue pairs by number only: a peer may be in any process of any device. Reuses the
 * buckets of ur_record_read(), which needs them no more. */
static void chain_qps(struct ur_record *record)
{
	uint32_t mask = record->qp_buckets - 1;

	memset(record->qp_bucket, 0xff,
	       record->qp_buckets * sizeof(*record->qp_bucket));
	/* In reverse, so that the first of equal ones is found first. */
	for (uint32_t i = record->n_qps; i-- > 0;) {
		struct ur_record_qp *qp = &record->qps[i];
		uint32_t *first = &record->qp_bucket[qp->qpn & mask];

		qp->chain = *first;
		*first = i;
	}
}

/* Among queue pairs of one number, prefers one whose peer is ours. */
static void find_peer(struct ur_record *record, uint32_t i)
{
	struct ur_record_qp *qp = &record->qps[i], *other;
	uint32_t mask = record->qp_buckets - 1, at;

	if (qp->dest_qpn <= 1)
		return;
	at = record->qp_bucket[qp->dest_qpn & mask];
	for (int n = 0; at != UR_RECORD_NONE && n < SEARCH_PEERS; n++) {
		other = &record->qps[at];
		if (other->qpn == qp->dest_qpn && other->dest_qpn == qp->qpn) {
			qp->peer = at;
			return;
		}
		at = other->chain;
	}
}

static void note_dest(struct ur_record *record, const struct ur_record_event *e)
{
	struct ur_record_qp *qp = &record->qps[e->qp];
	uint32_t dest = e->r.dest_qpn;

	if (e->r.kind == UROCE_RECORD_PACKET_OUT)
		dest = dest_of(e);
	if (dest)
		qp->dest_qpn = dest;
}

/* Returns whether the receiving device was recorded when the packet arrived and later. */
static bool is_watched(const struct ur_record *record,
		       const struct ur_record_event *e)
{
	const struct ur_record_qp *qp = &record->qps[e->qp], *peer;
	const struct ur_record_device *d;

	if (qp->peer == UR_RECORD_NONE)
		return false;
	peer = &record->qps[qp->peer];
	d = &record->devices[peer->device];
	return peer->packets_in && e->ns >= d->first_ns &&
	       e->ns + FLIGHT_NS < d->last_ns;
}

static void note_time(struct ur_record *record, const struct ur_record_event *e)
{
	struct ur_record_device *d =
		&record->devices[record->qps[e->qp].device];

	if (!d->first_ns)
		d->first_ns = e->ns;
	d->last_ns = e->ns;
}

int ur_record_link(struct ur_record *record)
{
	struct buckets b = {.mask = 1};
	struct ur_record_event *e;

	while (b.mask < record->n_events && b.mask < 1u << 22)
		b.mask = b.mask * 2 + 1;
	b.first = malloc(((size_t)b.mask + 1) * sizeof(*b.first));
	if (!b.first)
		return -ENOMEM;
	memset(b.first, 0xff, ((size_t)b.mask + 1) * sizeof(*b.first));
	for (uint32_t i = 0; i < record->n_events; i++) {
		e = &record->events[i];
		note_time(record, e);
		note_dest(record, e);
		if (e->r.kind == UROCE_RECORD_SEND)
			add_send(record, i);
		else if (e->r.kind == UROCE_RECORD_COMPLETION)
			add_completion(record, i);
		else if (e->r.kind == UROCE_RECORD_PACKET_OUT)
			packet_out(record, &b, i);
		else if (e->r.kind == UROCE_RECORD_PACKET_IN)
			packet_in(record, &b, i);
	}
	free(b.first);
	if (record->n_qps)
		chain_qps(record);
	for (uint32_t i = 0; i < record->n_qps; i++)
		find_peer(record, i);
	for (uint32_t i = 0; i < record->n_events; i++) {
		e = &record->events[i];
		e->vanished = e->r.kind == UROCE_RECORD_PACKET_OUT &&
			      e->other == UR_RECORD_NONE &&
			      is_watched(record, e);
	}
	return 0;
}
