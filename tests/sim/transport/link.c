// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/link.h"

#include <stdlib.h>

#include "tests/sim/transport/oracle.h"
#include "transport/packet.h"

/* Frames waiting at a paused host beyond this are lost, as in a socket. */
#define RX_QUEUE_MAX 512

static struct sim_frame *frame_new(struct sim_world *w, u32 bytes)
{
	struct sim_frame *f = malloc(sizeof(*f) + bytes);

	if (!f)
		abort();
	f->next = NULL;
	f->damaged = false;
	f->cut = false;
	f->up = w->flying;
	f->link = &w->flying;
	if (f->up)
		f->up->link = &f->up;
	w->flying = f;
	return f;
}

void link_free(struct sim_frame *f)
{
	*f->link = f->up;
	if (f->up)
		f->up->link = f->link;
	free(f);
}

void link_free_all(struct sim_world *w)
{
	while (w->flying)
		link_free(w->flying);
}

static void arrive(struct sim_world *w, void *arg, u64 n)
{
	struct sim_frame *f = arg;
	struct sim_host *h = f->dst;

	if (!h->port || h->rx_count >= RX_QUEUE_MAX) {
		w->n_drop++;
		link_free(f);
		return;
	}
	if (h->rx_tail)
		h->rx_tail->next = f;
	else
		h->rx_head = f;
	h->rx_tail = f;
	h->rx_count++;
	sim_host_wake(h, w->now);
}

/* Bytes that routers may change; the ICRC takes them as ones. */
static bool masked(enum ur_frame_kind kind, u32 at)
{
	u32 ip = kind == UR_FRAME_V4 ? UR_IPV4_BYTES : UR_IPV6_BYTES;
	u32 head = (u32)ur_frame_header_bytes(kind);

	if (at == head + 4)
		return true;
	if (kind != UR_FRAME_V1 && (at == ip + 6 || at == ip + 7))
		return true;
	if (kind == UR_FRAME_V4)
		return at == 1 || at == 8 || at == 10 || at == 11;
	return at < 4 || at == 7;
}

/* One or a few bits, near each other as a burst is. */
static void flip(struct sim_world *w, struct sim_frame *f)
{
	u32 bit = ur_rng_below(&w->rng_link, f->len * 8);

	f->data[bit / 8] ^= (u8)(1u << (bit % 8));
	f->damaged = !masked(w->kind, bit / 8);
}

static void mark(struct sim_world *w, struct sim_frame *f)
{
	if (w->kind == UR_FRAME_V4) {
		f->data[1] |= UR_ECN_CE;
		ur_put_be16(f->data + 10, 0);
		ur_put_be16(f->data + 10, ur_frame_ipv4_checksum(f->data));
	} else {
		f->data[1] |= UR_ECN_CE << 4;
	}
}

static ur_time delay(struct sim_world *w, u32 src, u32 dst)
{
	const struct sim_faults *x = &w->faults;
	ur_time d = x->delay_min;

	if (!w->faults_on)
		return d;
	if (w->clog[src][dst] > w->now)
		d += w->clog[src][dst] - w->now;
	/* Without reordering the line keeps order: the delay is constant. */
	if (x->reorder && sim_chance(&w->rng_link, x->reorder))
		d += sim_exp(&w->rng_link, x->delay_mean) +
		     ur_rng_below(&w->rng_link, (u32)x->reorder_max + 1);
	return d;
}

static void fly(struct sim_world *w, struct sim_frame *f, ur_time start)
{
	const struct sim_faults *x = &w->faults;

	if (w->faults_on) {
		if (sim_chance(&w->rng_link, x->flip))
			flip(w, f);
		if (sim_chance(&w->rng_link, x->truncate)) {
			f->len -= 1 + ur_rng_below(&w->rng_link, f->len);
			f->cut = true;
		}
		if (!f->cut && !f->damaged && sim_chance(&w->rng_link, x->ecn))
			mark(w, f);
	}
	sim_event_add(&w->events,
		      start + delay(w, f->src->index, f->dst->index), arrive, f,
		      0);
}

ur_time link_send(struct sim_host *src, const struct ur_av *av, const u8 *bth,
		  u32 len, ur_time line_free)
{
	struct sim_world *w = src->w;
	struct ur_frame_addr addr = {
		.kind = av->v1	 ? UR_FRAME_V1
			: av->v4 ? UR_FRAME_V4
				 : UR_FRAME_V6,
		.tos = av->traffic_class,
		.ttl = av->hop_limit,
		.flow_label = av->flow_label,
		.df = true,
		.sport = av->udp_sport,
		.dport = UR_ROCE_V2_UDP_PORT,
	};
	struct sim_host *dst = sim_host_of_gid(w, av->dgid);
	u32 head = (u32)ur_frame_header_bytes(addr.kind), copies = 1;
	ur_time end;

	SIM_CHECK(w, dst, "packet for a stranger");
	SIM_CHECK(w, addr.kind == w->kind, "packet of another kind");
	SIM_CHECK(w, head + len + 4 <= UR_FRAME_MAX_BYTES, "packet too long");
	end = line_free + (u64)(head + len + 4 + 38) * 8 * 1000000000ull /
				  w->faults.link_bps;
	sim_trace_packet(&w->trace, w->now, "tx", src->index, dst->index, bth,
			 len);
	if (w->cut[src->index][dst->index] ||
	    (w->faults_on && sim_chance(&w->rng_link, w->faults.drop))) {
		sim_trace(&w->trace, w->now, "drop", src->index, dst->index,
			  ur_bth_psn(bth), 0);
		w->n_drop++;
		return end;
	}
	memcpy(addr.sgid, av->sgid, 16);
	memcpy(addr.dgid, av->dgid, 16);
	if (w->faults_on && sim_chance(&w->rng_link, w->faults.dup))
		copies += 1 + ur_rng_below(&w->rng_link, 2);
	while (copies--) {
		struct sim_frame *f = frame_new(w, head + len + 4);

		f->src = src;
		f->dst = dst;
		memcpy(f->data + head, bth, len);
		f->len = (u32)ur_frame_build(f->data, &addr, len);
		fly(w, f, end);
	}
	return end;
}

bool link_receive(struct sim_world *w, const struct sim_frame *f,
		  struct ur_frame *frame, struct ur_rx_meta *meta)
{
	enum ur_frame_error error =
		ur_frame_parse(frame, w->kind == UR_FRAME_V1, f->data, f->len);
	bool ours = !error && !memcmp(frame->addr.dgid, f->dst->gid, 16);

	if (!ours) {
		SIM_CHECK(w,
			  f->damaged || f->cut || !w->options.faults ||
				  w->faults.flip,
			  "a whole frame does not parse: %s",
			  ur_frame_error_name(error));
		sim_trace(&w->trace, w->now, "reject", f->src->index,
			  f->dst->index, error, f->len);
		return false;
	}
	SIM_CHECK(w, !f->damaged && !f->cut, "a damaged frame passed the ICRC");
	*meta = (struct ur_rx_meta){
		.v4 = frame->addr.kind == UR_FRAME_V4,
		.v1 = frame->addr.kind == UR_FRAME_V1,
		.tos = frame->addr.tos,
		.ttl = frame->addr.ttl,
		.udp_sport = frame->addr.sport,
		.flow_label = frame->addr.flow_label,
	};
	memcpy(meta->saddr, frame->addr.sgid, 16);
	memcpy(meta->daddr, frame->addr.dgid, 16);
	sim_trace_packet(&w->trace, w->now, "rx", f->src->index, f->dst->index,
			 frame->bth, (u32)frame->bth_bytes);
	return true;
}
