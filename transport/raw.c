// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Raw packet queue pairs: each request and each receive is one Ethernet frame.
 * The host decides which queue pair gets a frame.
 */
#include "transport/internal.h"

enum ur_quantum ur_raw_send(struct ur_qp *qp, struct ur_swqe *e,
			    struct ur_tx *tx)
{
	u8 *p;

	if (e->length < UR_RAW_MIN_BYTES || e->length > UR_RAW_MAX_BYTES) {
		/* Not sent, but no error: as with a datagram longer than the
		 * MTU. */
		ur_count(qp->port, UR_CNT_send_err);
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return UR_QUANTUM_MORE;
	}
	p = ur_tx_room(tx, e->length);
	if (!p)
		return UR_QUANTUM_FULL;
	if (ur_swqe_gather(qp, e, 0, p, e->length)) {
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return UR_QUANTUM_MORE;
	}
	ur_tx_commit(qp->port, tx, qp->init.raw_av, e->length);
	ur_sq_complete(qp, e, UR_WC_SUCCESS);
	return UR_QUANTUM_MORE;
}

void ur_raw_rx(struct ur_qp *qp, ur_time now, const u8 *frame, u32 len)
{
	struct ur_wc wc = {.opcode = UR_WC_RECV, .byte_len = len};
	struct ur_rqe *rqe = &qp->resp.rqe;
	struct ur_port *port = qp->port;

	/* Keeps released references: the host may be sending by them. */
	port->now = now;
	if (!qp->receives) {
		ur_count(port, UR_CNT_bad_state);
		return;
	}
	ur_count(port, UR_CNT_rcvd_pkts);
	ur_count_many(port, UR_CNT_port_rcv_data, len / 4);
	ur_qp_count_rx(qp, len);
	if (!ur_rq_take(qp, qp->init.srq)) {
		ur_count(port, UR_CNT_out_of_buffer);
		return;
	}
	if (len > rqe->length) {
		/* The receive stays for the next frame that fits. */
		ur_count(port, UR_CNT_resp_local_length_error);
		return;
	}
	if (ur_mem_scatter(port, rqe->pd, qp->resp.rqe_sge, rqe->num_sge,
			   &rqe->cur, 0, frame, len, true)) {
		ur_responder_fatal(qp, UR_VERDICT_NAK_OP, UR_WC_LOC_PROT_ERR,
				   NULL);
		return;
	}
	ur_rq_complete(qp, &wc);
	ur_assert_rules_hot(ur_qp_check(qp));
}
