// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Marks of datagrams. The receiver of a marked datagram sends a CNP to the
 * sending queue pair, whose rate falls for all its peers. Datagrams to a peer
 * are ECT if the peer has sent a CNP within an hour, or the administrator or
 * the program requests it.
 *
 * Anybody can send a CNP to a queue pair without a connection. It counts only
 * from an address to which this queue pair has sent ECT packets.
 */
#include "transport/cc.h"
#include "transport/internal.h"
#include "transport/sport.h"
#include "util/assert.h"

/* ---- notification point ---- */

/* The last CNP may wait for room, with the address vector. */
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
	/* Must be ECT, since a congested queue may drop other packets. */
	av->traffic_class = class | UR_ECN_ECT0;
	av->sl = c->cnp_class ? c->cnp_sl : meta->sl;
	av->hop_limit = 64;
	av->udp_sport = ur_udp_sport(0, qp->qpn, 0);
	av->realm = qp->init.realm;
	av->lqpn = qp->qpn;
	av->wire = 0; /* route of another socket */
}

void ur_ud_marked(struct ur_qp *qp, const struct ur_rx_meta *meta, u32 sqpn)
{
	struct ur_port *port = qp->port;
	struct ur_responder *resp = &qp->resp;

	/* The packet's service level is not known. */
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

/* Returns the slot for that address, and in *name what the slot contains if the
 * queue pair has sent ECT packets there. The hash is keyed, so nobody knows
 * which addresses collide. */
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
		av->wire = 0; /* route of another socket */
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
