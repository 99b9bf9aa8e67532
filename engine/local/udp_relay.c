// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Puts packets into the relays' rings, as far as there is room. */
#include <sys/epoll.h>
#include "engine/grant/slot_numbers.h"
#include "engine/local/udp_relay_impl.h"

/* First and last retry interval while a ring is full and the program sends no wake-up. */
#define RETRY_NS      1000000u
#define RETRY_LAST_NS 64000000u
/* Bytes of the largest record. */
#define LARGEST (UR_PEER_BYTES + UR_PEER_MESSAGE_BYTES)

static void watch_all(struct ur_udp_relay *r, u32 events)
{
	ur_list_for_each(it, &r->addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);
		struct epoll_event ev = {.events = events,
					 .data.ptr = &a->watch};

		if (a->fd >= 0)
			epoll_ctl(r->wire->wire.engine->epoll_fd, EPOLL_CTL_MOD,
				  a->fd, &ev);
	}
}

static void retry_later(struct ur_udp_relay *r, ur_time when)
{
	struct ur_engine *e = r->wire->wire.engine;

	r->retry_at = when;
	e->wire_retry_at = ur_min_u64(e->wire_retry_at, when);
}

static u32 room(struct ur_udp_relay *r)
{
	u32 space = ur_peer_space(&r->out);

	/* One record less, since one may not fit before the end of the area. */
	return space < LARGEST ? 0 : (space - LARGEST) / LARGEST;
}

u32 ur_udp_relay_room(struct ur_udp_relay *r)
{
	u32 n;

	/* A shared relay has no ring of its own. A packet that finds its program's ring full is dropped, since packets of
	 * other programs wait behind it. */
	if (!r->slot)
		return UR_UDP_RX_MSGS;
	n = room(r);
	/* Packets for a program with a broken ring are dropped. */
	if (r->out.broken)
		return UR_UDP_RX_MSGS;
	if (n || r->full)
		return n;
	if (ur_peer_wait(&r->out, 3 * LARGEST))
		return room(r);
	r->full = true;
	r->step = RETRY_NS;
	watch_all(r, 0);
	retry_later(r, r->wire->wire.engine->now + r->step);
	return 0;
}

struct ur_udp_run {
	const u8 *data;
	u32 len, seg;
	u32 first; /* index of the first packet in the datagram */
};

static void put(struct ur_udp_relay *r, const struct ur_rx_meta *meta,
		const struct ur_udp_run *run)
{
	struct ur_peer_message m = {
		.flow_label = meta->flow_label,
		.len = run->len,
		.seg = (u16)run->seg,
		.first = (u8)run->first,
		.sport = meta->udp_sport,
		.tos = meta->tos,
		.ttl = meta->ttl,
	};
	u8 *to;

	memcpy(m.saddr, meta->saddr, 16);
	memcpy(m.daddr, meta->daddr, 16);
	to = ur_peer_room(&r->out, &m);
	if (!to) {
		ur_engine_tally(r->wire->wire.engine, UR_CNT_rx_missed_errors,
				(run->len + run->seg - 1) / run->seg);
		return;
	}
	memcpy(to, run->data, run->len);
	ur_peer_put(&r->out, &m);
	ur_slot_set_add(&r->wire->relayed, r->slot);
}

static void put_all(struct ur_udp_relay *r, const struct ur_rx_meta *meta,
		    const u8 *data, u32 len, u32 seg)
{
	put(r, meta, &(struct ur_udp_run){data, len, seg, 0});
}

/* Returns the slot of the program whose queue pair the packet is for; or 0, also for a number of the slot's earlier
 * holder. */
static u32 slot_at(const struct ur_wire_udp *w, const u8 *data, u32 len, u32 at)
{
	u32 qpn, slot;

	if (len - at < UR_BTH_BYTES)
		return 0;
	qpn = ur_get_be24(data + at + 5);
	slot = ur_slot_of(qpn);
	if (!w->relays[slot])
		return 0;
	if (w->relays[slot]->seen != qpn &&
	    !ur_slot_numbers_has(w->wire.engine->numbers, qpn))
		return 0;
	w->relays[slot]->seen = qpn;
	return slot;
}

/* The kernel steers a datagram by its first packet only. Its other packets may be for other slots, and only their
 * programs may see them. */
bool ur_udp_relay_put(struct ur_udp_addr *a, const struct ur_rx_meta *meta,
		      const u8 *data, u32 len, u32 seg)
{
	const struct ur_wire_udp *w = a->wire;
	bool all = true;
	u32 end;

	/* No valid packet is so short, and no burst has so many packets. */
	if (!len || seg < UR_BTH_BYTES || seg > UINT16_MAX ||
	    (len + seg - 1) / seg > UR_PEER_PACKETS)
		return false;
	/* Each member of a group has a socket of its own. */
	if (a->mcast) {
		put_all(a->relay, meta, data, len, seg);
		return true;
	}
	for (u32 at = 0; at < len; at = end) {
		u32 slot = slot_at(w, data, len, at);

		for (end = at + seg;
		     end < len && slot_at(w, data, len, end) == slot;
		     end += seg)
			;
		end = ur_min_u32(end, len);
		if (slot)
			put(w->relays[slot], meta,
			    &(struct ur_udp_run){data + at, end - at, seg,
						 at / seg});
		else
			all = false;
	}
	return all;
}

/* Watches the sockets again if the ring has room now. */
static void retry_now(struct ur_udp_relay *r)
{
	if (!r->full)
		return;
	if (room(r)) {
		r->full = false;
		watch_all(r, EPOLLIN);
	} else if (r->retry_at <= r->wire->wire.engine->now) {
		r->step = ur_min_u64(2 * r->step, RETRY_LAST_NS);
		retry_later(r, r->wire->wire.engine->now + r->step);
		/* Where nobody reads, nobody may be asleep either. */
		ur_peer_wait(&r->out, 3 * LARGEST);
	}
}

void ur_udp_relay_woken(struct ur_wire_udp *w, u32 slot)
{
	if (w->relays[slot])
		retry_now(w->relays[slot]);
}

void ur_udp_relays_retry(struct ur_wire *wire)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		struct ur_udp_relay *r = w->relays[slot];

		if (!r || !r->full)
			continue;
		retry_now(r);
		if (r->full)
			retry_later(r, r->retry_at);
	}
	w->wire.engine->wire_retry_at = ur_min_u64(
		w->wire.engine->wire_retry_at, ur_udp_outboxes_retry_at(w));
}
