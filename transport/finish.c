// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ends posted work, whatever the cause. IBTA volume 1, 9.9.2 (requester side
 * errors), 10.7.3.1.
 */
#include "transport/internal.h"

void ur_completer_fail(struct ur_qp *qp, u8 status)
{
	struct ur_swqe *e = ur_sq_entry(qp, qp->req.head);
	bool reliable = ur_qp_is_reliable(qp);

	ur_failure_own(qp, qp->req.head != qp->req.tail ? e : NULL, status);
	/* The state changes first: the completion may make the program look at
	 * it. */
	if (reliable) {
		ur_qp_fail(qp);
	} else {
		ur_qp_set_state(qp, UR_QP_SQE);
		ur_retry_reset(qp);
		ur_port_activate(qp->port, qp);
	}
	if (qp->req.head != qp->req.tail)
		ur_sq_complete(qp, e, status);
}

void ur_completer_retire(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	while (req->head != req->tail) {
		struct ur_swqe *e = ur_sq_entry(qp, req->head);

		if (e->state == UR_SWQE_PULLED)
			break;
		if (e->state == UR_SWQE_STARTED &&
		    ur_psn_within(req->una, e->psn, e->npkts))
			break;
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
	}
	/* Draining ends when everything started was answered. */
	if (qp->state == UR_QP_SQD && qp->attr.sq_draining &&
	    req->una == req->max_psn &&
	    (req->head == req->tail ||
	     ur_sq_entry(qp, req->head)->state == UR_SWQE_PULLED)) {
		qp->attr.sq_draining = 0;
		if (qp->attr.en_sqd_async_notify)
			ur_qp_event(qp, UR_EVENT_SQ_DRAINED);
	}
}

void ur_completer_nak(struct ur_qp *qp, u8 code)
{
	u8 status;

	switch (code) {
	case UR_NAK_INV_REQ:
		ur_count(qp->port, UR_CNT_req_remote_invalid_request);
		status = UR_WC_REM_INV_REQ_ERR;
		break;
	case UR_NAK_REM_ACCESS:
		ur_count(qp->port, UR_CNT_req_remote_access_errors);
		status = UR_WC_REM_ACCESS_ERR;
		break;
	case UR_NAK_REM_OP:
		status = UR_WC_REM_OP_ERR;
		break;
	default:
		status = UR_WC_BAD_RESP_ERR;
	}
	ur_completer_fail(qp, status);
}
