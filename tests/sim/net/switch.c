// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A switch: one buffer for all ports, of which each queue may have a part of
 * what is free; marks by the length of the queue at the port that a frame
 * leaves by (RED, instantaneous); PFC by what came in by a port; a hash that
 * chooses among equal ways.
 *
 * A frame of a priority with PFC counts where it came in. Beyond its part of
 * what is free it is in the headroom, and the sender gets a PAUSE; it goes
 * on when the headroom is empty and two frames have room again.
 */
#include "tests/sim/net/net.h"
#include <stdlib.h>

#define XON_BYTES (2 * NET_FRAME_BYTES)

u64 net_headroom(u64 bps, ur_time delay)
{
	/* Frames on their way there and back, and at both ends one that had
	 * begun. */
	return 2 * delay * bps / 8000000000ull + 3 * NET_FRAME_BYTES;
}

/* ---- ECMP ---- */

static u32 hash(const struct net_node *node, const struct net_frame *f)
{
	u64 x = (u64)f->src << 40 ^ (u64)f->dst << 24 ^ f->sport;

	x = (x ^ node->salt) * 0x9e3779b97f4a7c15ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return (u32)(x >> 32);
}

static struct net_port *way(struct net_node *node, const struct net_frame *f)
{
	u32 first = node->to[f->dst], paths = node->paths[f->dst];

	return &node->port[paths > 1 ? first + hash(node, f) % paths : first];
}

/* ---- marks ---- */

static u32 draw(struct net *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return (u32)(n->random >> 24) & 0xffff;
}

static bool is_marked(struct net_node *node, u64 queue)
{
	const struct net_switch *sw = &node->sw;

	if (!sw->mark_most || queue <= sw->mark_least)
		return false;
	if (queue > sw->mark_most)
		return true;
	return draw(node->net) < (queue - sw->mark_least) * sw->mark_max /
					 (sw->mark_most - sw->mark_least);
}

/* A token bucket, which the frame is taken out of if it fits. */
static bool is_beyond(struct net_node *node, u32 bytes)
{
	struct net_switch *sw = &node->sw;
	ur_time now = node->net->now, least, each;

	if (!sw->meter_bps)
		return false;
	each = bytes * 8000000000ull / sw->meter_bps;
	least = now > sw->meter_at ? now : sw->meter_at;
	if (least - now + each > sw->meter_frames * each)
		return true;
	sw->meter_at = least + each;
	return false;
}

/* Returns whether the frame is to be dropped in place of a mark. */
static bool mark(struct net_port *out, struct net_frame *f)
{
	u8 ecn = f->tos & 3;

	if (ecn && ecn != 3 && is_beyond(out->node, f->bytes)) {
		f->tos |= 3;
		out->marked++;
		return false;
	}
	if (ecn == 3 || (!ecn && !out->node->sw.red) ||
	    !is_marked(out->node, out->queue[f->prio].bytes))
		return false;
	if (!ecn)
		return true;
	f->tos |= 3;
	out->marked++;
	return false;
}

/* ---- room ---- */

static bool has_pfc(const struct net_switch *sw, u32 prio)
{
	return sw->lossless >> prio & 1;
}

static u64 room(const struct net_node *node)
{
	const struct net_switch *sw = &node->sw;
	u32 prios = (u32)__builtin_popcount(sw->lossless);
	u64 apart = prios * sw->headroom * node->n_ports;

	return sw->buffer - apart - sw->used;
}

/* Returns the part that one queue may have now. */
static u64 part(const struct net_node *node)
{
	u64 free_bytes = room(node);

	return node->sw.share_8 ? free_bytes * node->sw.share_8 / 8
				: free_bytes;
}

static void use(struct net_switch *sw, u32 bytes)
{
	sw->used += bytes;
	if (sw->used > sw->used_most)
		sw->used_most = sw->used;
}

static bool admit_lossy(struct net_port *out, u32 bytes)
{
	struct net_node *node = out->node;
	struct net_switch *sw = &node->sw;

	if (bytes > room(node) ||
	    (sw->share_8 && out->queued + bytes > part(node)) ||
	    (sw->port_limit && out->queued + bytes > sw->port_limit))
		return false;
	use(sw, bytes);
	return true;
}

static bool admit_lossless(struct net_port *port, u32 prio, u32 bytes)
{
	struct net_node *node = port->node;
	struct net_ingress *in = &port->in[prio];

	if (!in->headroom && bytes <= room(node) &&
	    in->shared + bytes <= part(node)) {
		in->shared += bytes;
		use(&node->sw, bytes);
		return true;
	}
	if (in->headroom + bytes > node->sw.headroom)
		return false;
	in->headroom += bytes;
	if (!in->off)
		net_pause(port, prio, true);
	in->off = true;
	return true;
}

static void resume(struct net_port *port, u32 prio)
{
	struct net_ingress *in = &port->in[prio];

	if (!in->off || in->headroom ||
	    (in->shared && in->shared + XON_BYTES > part(port->node)))
		return;
	in->off = false;
	net_pause(port, prio, false);
}

void net_switch_rx(struct net_port *port, struct net_frame *f)
{
	struct net_node *node = port->node;
	struct net_port *out = way(node, f);
	bool fits;

	if (node->sw.lose && draw(node->net) < node->sw.lose) {
		out->lost++;
		free(f);
		return;
	}
	if (mark(out, f)) {
		out->dropped++;
		free(f);
		return;
	}
	fits = has_pfc(&node->sw, f->prio)
		       ? admit_lossless(port, f->prio, f->bytes)
		       : admit_lossy(out, f->bytes);

	if (!fits) {
		out->dropped++;
		free(f);
		return;
	}
	f->in = port;
	net_send(out, f);
}

void net_switch_left(struct net_node *node, struct net_frame *f)
{
	struct net_ingress *in = &f->in->in[f->prio];
	u64 bytes = f->bytes, apart;

	if (!has_pfc(&node->sw, f->prio)) {
		node->sw.used -= bytes;
		return;
	}
	apart = ur_min_u64(bytes, in->headroom);
	in->headroom -= apart;
	in->shared -= bytes - apart;
	node->sw.used -= bytes - apart;
	resume(f->in, f->prio);
}
