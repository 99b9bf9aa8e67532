// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Marks and datagrams. Whoever gets a marked datagram sends a CNP to the queue
 * pair that it came from; the rate of that queue pair falls, whichever of its
 * peers has sent the CNP. Datagrams to a peer are ECT where the peer has sent a
 * CNP within an hour, or where the administrator or the program says so.
 *
 * Anybody can send a CNP to a queue pair that has no connection. It counts only if
 * it comes from an address to which this queue pair has sent ECT packets.
 */
#include "transport/cc.h"
#include "transport/internal.h"
#include "transport/sport.h"
#include "util/assert.h"

/* ---- notification point ---- */

/* The CNP before may wait for room still, and has the address vector. */
static bool is_busy(const struct ur_qp *qp)
{
	return qp->resp.cnp_due || qp->cnp_av->refs > 1;
}

static void aim(struct ur_qp *qp, const struct ur_rx_meta *meta)
{
	const struct ur_cc_config *c = &qp->port->cc;
	struct ur_av *av = qp->cnp_av;
	u8 class = c->cnp_class ? c->cnp_traffic_class
				: meta->tos & (u8)~UR_ECN_MASK;

	ur_assert(av->refs == 1);
	memcpy(av->sgid, meta->daddr, 16);
	memcpy(av->dgid, meta->saddr, 16);
	av->v4 = meta->v4;
	/* A queue that marks would drop what is not ECT. */
	av->traffic_class = class | UR_ECN_ECT0;
	av->sl = c->cnp_class ? c->cnp_sl : meta->sl;
	av->hop_limit = 64;
	av->udp_sport = ur_udp_sport(0, qp->qpn, 0);
	av->realm = qp->init.realm;
	av->lqpn = qp->qpn;
	av->wire = 0; /* another socket's */
}

void ur_ud_marked(struct ur_qp *qp, const struct ur_rx_meta *meta, u32 sqpn)
{
	struct ur_port *port = qp->port;
	struct ur_responder *resp = &qp->resp;

	/* A packet says no service level. */
	if (!qp->cnp_av || (port->cc.np_off & 1) || is_busy(qp) ||
	    (resp->cnp_last &&
	     port->now - resp->cnp_last < port->cc.cnp_interval_ns))
		return;
	aim(qp, meta);
	resp->cnp_dqpn = sqpn;
	resp->cnp_last = port->now ? port->now : 1;
	resp->cnp_due = true;
	ur_port_activate(port, qp);
}

/* ---- reaction point ---- */

/* Returns the note that stands for that address, where *name is to be if the queue pair
 * has sent ECT packets there. Nobody knows whose names meet. */
static u32 *note_of(struct ur_qp *qp, const u8 *dgid, u32 *name)
{
	u64 sum = ur_marks_hash(qp->port, dgid, qp->init.owner);

	*name = (u32)(sum >> 32) | 1;
	return &qp->cc->sent_to[sum >> (64 - UR_CC_SENT_BITS)];
}

void ur_ud_set_ecn(struct ur_qp *qp, struct ur_av *av)
{
	u32 *note, name;

	if (!qp->cc)
		return;
	if (!(av->traffic_class & UR_ECN_MASK)) {
		if (!ur_marks_known(qp->port, av->dgid, qp->init.owner))
			return;
		av->traffic_class |= av->ecn;
		av->wire = 0; /* another socket's */
	}
	note = note_of(qp, av->dgid, &name);
	*note = name;
}

void ur_ud_cnp(struct ur_qp *qp, const struct ur_rx_meta *meta)
{
	u32 *note, name;

	if (qp->cc && ur_qp_realm_fits(qp, meta)) {
		note = note_of(qp, meta->saddr, &name);
		if (*note == name) {
			ur_marks_answer(qp->port, meta->saddr, qp->init.owner);
			ur_cc_cnp(qp);
			return;
		}
	}
	ur_count(qp->port, UR_CNT_rp_cnp_ignored);
}
