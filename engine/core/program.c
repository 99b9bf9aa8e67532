// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A program's engine: its transport port, with what that asks of its host and what the engine's common
 * part asks of it. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/core/poll_loop.h"
#include "engine/core/transmit.h"
#include "engine/faults/adverse.h"
#include "engine/faults/faults.h"
#include "engine/gpu/gpu.h"
#include "engine/inproc/shared_thread.h"
#include "engine/record/record.h"
#include "engine/wire/wire.h"
#include "transport/qp.h"

/* Returns whether control waits, with its lock held. */
static bool is_wanted(void *ctx)
{
	struct ur_engine *e = ctx;

	return e->hurries || ur_mailbox_waits(e);
}

/* Only an engine in a program, whose memory is its own, gets payload room of the wire. */
static u8 *payload_room(void *ctx, const struct ur_av *av, u32 dqpn, u32 len)
{
	struct ur_engine *e = ctx;
	struct ur_wire *wire = ur_wire_of(e, av->v1);

	return e->config.inproc && wire->near->payload_room
		       ? wire->near->payload_room(wire, av, dqpn, len)
		       : NULL;
}

static const u8 *payload_place(void *ctx, const struct ur_av *av, u32 dqpn,
			       void *mem, u64 off, u32 len)
{
	struct ur_engine *e = ctx;
	struct ur_wire *wire = ur_wire_of(e, av->v1);

	return e->config.inproc && wire->near->payload_place
		       ? wire->near->payload_place(wire, av, dqpn, mem, off,
						   len)
		       : NULL;
}

static void payload_taken_back(void *ctx)
{
	struct ur_wire *wire = ur_wire_of(ctx, false);

	wire->near->payload_taken_back(wire);
}

static bool holds(void *ctx, const struct ur_av *av, u32 dqpn, bool datagram)
{
	struct ur_engine *e = ctx;
	struct ur_wire *wire = ur_wire_of(e, av->v1);

	return e->config.inproc && wire->near->holds &&
	       wire->near->holds(wire, av, dqpn, datagram);
}

static bool unread(void *ctx, const struct ur_av *av, u32 dqpn)
{
	struct ur_engine *e = ctx;
	struct ur_wire *wire = ur_wire_of(e, av->v1);

	return e->config.inproc && wire->near->unread &&
	       wire->near->unread(wire, av, dqpn);
}

const struct ur_host_ops ur_engine_host_ops = {
	.sq_next = ur_sq_next,
	.sq_retire = ur_sq_retire,
	.rq_next = ur_rq_next,
	.rq_count = ur_rq_count,
	.rq_want_kick = ur_rq_want_kick,
	.cq_push = ur_cq_push,
	.qp_event = ur_host_qp_event,
	.qp_failed = ur_host_qp_failed,
	.srq_event = ur_host_srq_event,
	.payload_room = payload_room,
	.payload_place = payload_place,
	.payload_taken_back = payload_taken_back,
	.holds = holds,
	.unread = unread,
	.wanted = is_wanted,
};

static int create(struct ur_engine *e)
{
	struct ur_port_config port = {
		.seed = e->config.seed,
		.secret = {e->config.secret[0], e->config.secret[1]},
		.mtu_bytes = e->config.mtu_bytes,
		.max_qp = e->config.max_qp,
		.max_mr = e->config.max_mr,
		.first_qpn = 17,
		.shard = e->shard,
		.shard_bits = e->shard_bits,
		.node_guid = e->config.node_guid,
		.cc.enable = e->opt.cc,
		.counters = e->counters,
		.aimd = e->opt.aimd,
		.short_reads = true,
		.path = e->opt.path,
		.ooo = e->opt.ooo,
		.loop = e->opt.loop,
		.credits = e->opt.credits,
		.coalesce = e->opt.coalesce,
		.fast = e->opt.fast,
		.burst_pkts = e->opt.gso && e->opt.trains ? UR_UDP_SEGS : 0,
		.burst_bytes = UR_UDP_BURST,
		.ops = &ur_engine_host_ops,
		.ctx = e,
	};

	e->cc = port.cc;
	e->ops = &ur_engine_host_ops;
	e->port = ur_port_create(&port);
	if (!e->port)
		return -ENOMEM;
	return 0;
}

static void destroy(struct ur_engine *e)
{
	if (e->port)
		ur_port_destroy(e->port);
	ur_gpu_fini(e);
}

static int start(struct ur_engine *e)
{
	if (e->config.inproc && e->config.apart)
		return ur_shared_thread_start(e);
	return e->config.inproc ? ur_inproc_start(e) : ur_engine_start(e);
}

static ur_time deadline(const struct ur_engine *e)
{
	return ur_min_u64(ur_port_deadline(e->port), e->mod_deadline);
}

static void before_call(struct ur_engine *e)
{
	ur_inproc_follow(e);
	if (!e->config.inproc)
		return;
	ur_inproc_acted(e);
	/* The thread that ran the engine before may have left packets. */
	ur_transmit(e);
}

static void rx(struct ur_engine *e, const struct ur_rx_meta *meta,
	       const u8 *bth, u32 len)
{
	ur_port_rx(e->port, e->now, meta, bth, len);
}

static u32 rx_run(struct ur_engine *e, const struct ur_rx_meta *meta,
		  const u8 *bth, u32 len, u32 stride, u32 n)
{
	return ur_port_rx_run(e->port, e->now, meta, bth, len, stride, n);
}

static u32 rx_split(struct ur_engine *e, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 stride, const u8 *payload, u32 len,
		    u32 n, bool frail)
{
	return ur_port_rx_split(e->port, e->now, meta, bth, stride, payload,
				len, n, frail);
}

static void hold(struct ur_engine *e, bool some)
{
	ur_port_hold(e->port, some);
}

static void set_cc(struct ur_engine *e)
{
	ur_port_set_cc(e->port, &e->cc);
}

static void set_mtu(struct ur_engine *e, u32 mtu_bytes)
{
	ur_port_set_mtu(e->port, mtu_bytes);
}

/* Packets of tx that wait for room are not affected by new rules. */
static void ruled(struct ur_engine *e)
{
	bool any = !ur_list_empty(&e->faults->rules);

	ur_record_set_ops(e, any || e->faults->n_adverse ? &ur_fault_host_ops
							 : &ur_engine_host_ops);
	ur_port_set_shortcuts(e->port, e->opt.loop && !any,
			      e->opt.fast && !any);
}

static const struct ur_eqp *qp(struct ur_engine *e, u32 qpn)
{
	return ur_port_qp_ctx(e->port, qpn);
}

const struct ur_engine_kind ur_program_kind = {
	.create = create,
	.destroy = destroy,
	.start = start,
	.turn = ur_poll_turn,
	.deadline = deadline,
	.before_call = before_call,
	.after_call = ur_poll_after_call,
	.rx = rx,
	.rx_ruled = ur_adverse_rx,
	.rx_run = rx_run,
	.rx_split = rx_split,
	.hold = hold,
	.set_cc = set_cc,
	.set_mtu = set_mtu,
	.ruled = ruled,
	.recorded = ur_record_choose,
	.qp = qp,
};
