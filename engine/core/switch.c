// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroced's engine: QP1, and packets of programs that get no socket, which the wires pass on
 * (local/udp_relay.h, local/udp_outbox.h).
 *
 * While awake, it polls the socket where packets came last without epoll, and all by epoll now and
 * then. A device without traffic on the wire polls seldom: each poll is a system call, which delays
 * neighbours on the same host.
 */
#include "engine/core/dispatch.h"
#include "engine/core/engine_impl.h"
#include "engine/core/tx.h"
#include "engine/core/wait.h"
#include "engine/faults/faults.h"
#include "engine/gsi/gsi.h"
#include "engine/record/record.h"
#include "engine/wire/wire.h"

/* Poll interval of the wire if nothing came for WIRE_HOT_NS. */
#define WIRE_QUIET_NS 5000u
#define WIRE_HOT_NS   200000u

static bool poll_wire(struct ur_engine *e)
{
	static const struct timespec zero;
	bool any = false;
	u64 quiet = e->now - e->last_rx;

	if (e->now >= e->wire_retry_at)
		ur_wire_retry(e);
	if (e->forwards)
		any = ur_wire_forward(e);
	if (quiet < WIRE_HOT_NS)
		any |= ur_wire_poll(e);
	if (e->now - e->last_epoll >=
	    (quiet < WIRE_HOT_NS ? WIRE_QUIET_NS * 4 : WIRE_QUIET_NS)) {
		e->last_epoll = e->now;
		any |= ur_dispatch(e, &zero);
	}
	return any;
}

/* Sends held packets that are due, and datagrams of QP1. */
static bool transmit(struct ur_engine *e)
{
	bool any = e->faults && ur_tx_held(e);

	if (!ur_gsi_waits(e) || !ur_tx_empty(e))
		return any;
	ur_gsi_fill(e);
	ur_tx_put_out(e);
	ur_gsi_sent(e);
	return true;
}

static bool turn(struct ur_engine *e)
{
	bool any;

	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_record_check_probes(e);
	any = poll_wire(e);
	ur_dispatch_end_rx(e);
	any |= transmit(e);
	any |= ur_mailbox_run(e);
	return any;
}

static int create(struct ur_engine *e)
{
	return ur_gsi_create(e);
}

static void destroy(struct ur_engine *e)
{
	ur_gsi_destroy(e);
}

static ur_time deadline(const struct ur_engine *e)
{
	return UR_NEVER;
}

static void before_call(struct ur_engine *e)
{
}

static bool after_call(struct ur_engine *e)
{
	transmit(e);
	return e->stop || ur_gsi_waits(e) || e->tx_blocked ||
	       ur_faults_deadline(e) < e->asleep_until ||
	       e->wire_retry_at < e->asleep_until;
}

/* It has no queue pair but QP1. A number of a program's gets here where that has ended. */
static void rx(struct ur_engine *e, const struct ur_rx_meta *meta,
	       const u8 *bth, u32 len)
{
	if (ur_gsi_takes(e, bth, len))
		ur_gsi_rx(e, meta, bth, len);
	else
		ur_gsi_refuse(e, meta, bth, len);
}

static u32 rx_run(struct ur_engine *e, const struct ur_rx_meta *meta,
		  const u8 *bth, u32 len, u32 stride, u32 n)
{
	return 0;
}

static u32 rx_split(struct ur_engine *e, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 stride, const u8 *payload, u32 len,
		    u32 n, bool frail)
{
	return 0;
}

static void hold(struct ur_engine *e, bool some)
{
}

static void changed(struct ur_engine *e)
{
}

static void set_mtu(struct ur_engine *e, u32 mtu_bytes)
{
}

static const struct ur_eqp *qp(struct ur_engine *e, u32 qpn)
{
	return NULL;
}

const struct ur_engine_kind ur_switch_kind = {
	.create = create,
	.destroy = destroy,
	.start = ur_engine_start,
	.turn = turn,
	.deadline = deadline,
	.before_call = before_call,
	.after_call = after_call,
	.rx = rx,
	.rx_ruled = rx,
	.rx_run = rx_run,
	.rx_split = rx_split,
	.hold = hold,
	.set_cc = changed,
	.set_mtu = set_mtu,
	.ruled = changed,
	.recorded = changed,
	.qp = qp,
};
