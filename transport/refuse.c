// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Refuses requests, and provides what a request needs before it is accepted: a
 * protection domain and a receive WQE. IBTA volume 1, 9.9.3 (responder side
 * errors).
 */
#include <errno.h>

#include "transport/internal.h"

void ur_responder_domain(struct ur_qp *qp, u32 xrc_srqn)
{
	struct ur_srq *srq;

	if (qp->init.type != UR_QPT_XRC_TGT)
		return;
	srq = ur_table_lookup(&qp->port->srqs, xrc_srqn);
	if (srq && srq->attr.xrc && srq->attr.xrcd == qp->init.xrcd)
		qp->init.pd = srq->attr.pd;
}

bool ur_responder_take(struct ur_qp *qp, u32 xrc_srqn, enum ur_verdict *v)
{
	struct ur_srq *srq = qp->init.srq;

	*v = UR_VERDICT_RNR;
	if (qp->init.type == UR_QPT_XRC_TGT) {
		srq = ur_table_lookup(&qp->port->srqs, xrc_srqn);
		/* Annex A14: the SRQ must be an XRC one of the same domain. */
		if (!srq || !srq->attr.xrc || srq->attr.xrcd != qp->init.xrcd) {
			*v = UR_VERDICT_NAK_INVALID;
			return false;
		}
	} else if (!qp->has_rq) {
		*v = UR_VERDICT_NAK_INVALID;
		return false;
	}
	if (ur_rq_take(qp, srq))
		return true;
	if (qp->state == UR_QP_ERR || (srq && srq->dead))
		*v = UR_VERDICT_NAK_OP;
	return false;
}

bool ur_responder_take_refused(struct ur_qp *qp, u32 flags, u32 xrc_srqn)
{
	enum ur_verdict v;

	return (flags & UR_OPF_WRITE) && (flags & UR_OPF_IMM) &&
	       ur_responder_take(qp, xrc_srqn, &v);
}

/* The memory of an ending process goes before its device file is closed. An
 * adapter has the pages pinned and notices nothing. So the peer gets no answer
 * here; closing the device file ends the connection. */
enum ur_verdict ur_responder_blame(int err, enum ur_verdict v)
{
	return !err ? UR_VERDICT_ACCEPT : err == -ESRCH ? UR_VERDICT_GONE : v;
}

void ur_responder_fatal(struct ur_qp *qp, enum ur_verdict v, u8 status,
			const struct ur_asked *asked)
{
	struct ur_wc wc = {.opcode = UR_WC_RECV, .solicited = true};

	ur_failure_peers(qp, v, status, asked);
	if (v == UR_VERDICT_GONE) {
		ur_qp_fail(qp);
		return;
	}
	if (v == UR_VERDICT_NAK_ACCESS)
		ur_count(qp->port, UR_CNT_resp_remote_access_errors);
	if (status && qp->resp.rqe.held) {
		wc.status = status;
		if (status == UR_WC_LOC_LEN_ERR)
			ur_count(qp->port, UR_CNT_resp_local_length_error);
		ur_qp_fail(qp);
		ur_rq_complete(qp, &wc);
		return;
	}
	ur_qp_event(qp, v == UR_VERDICT_NAK_ACCESS ? UR_EVENT_QP_ACCESS_ERR
			: v == UR_VERDICT_NAK_OP   ? UR_EVENT_QP_FATAL
						   : UR_EVENT_QP_REQ_ERR);
	ur_qp_fail(qp);
}

void ur_responder_refuse(struct ur_qp *qp, enum ur_verdict v, u8 status,
			 const struct ur_asked *asked)
{
	struct ur_responder *resp = &qp->resp;
	u8 code;

	switch (v) {
	case UR_VERDICT_NAK_ACCESS:
		code = UR_NAK_REM_ACCESS;
		break;
	case UR_VERDICT_NAK_OP:
		code = UR_NAK_REM_OP;
		break;
	default:
		code = UR_NAK_INV_REQ;
	}
	/* Only this acknowledgement reports the accepted requests before it. */
	if (v != UR_VERDICT_CLASS_J)
		resp->ack_due = false;
	if (v != UR_VERDICT_GONE && v != UR_VERDICT_CLASS_J)
		ur_answer_ack(qp, UR_AETH_NAK | code, asked->psn);
	ur_responder_fatal(qp, v, status, asked);
}
