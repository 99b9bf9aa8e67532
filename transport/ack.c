// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Acknowledgements that the responder of RC and XRC owes, with their credits.
 * IBTA volume 1, 9.7.5, 9.7.7.2.
 */
#include "transport/internal.h"

/* Credit codes of an AETH, IBTA 9.7.7.2.2 table 47. */
static const u16 credits[31] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

u8 ur_credit_code(u32 count)
{
	u8 code = 30;

	while (credits[code] > count)
		code--;
	return code;
}

u32 ur_credit_count(u8 code)
{
	return credits[code];
}

u8 ur_answer_credits(struct ur_qp *qp)
{
	struct ur_port *port = qp->port;
	u32 count;

	/* With an SRQ no receive can be promised (IBTA 10.2.9.5). */
	if (!port->cfg.credits || qp->init.srq || !qp->has_rq)
		return UR_AETH_CREDIT_NONE;
	count = port->ops->rq_count(qp->init.rq_ctx) + qp->resp.rqe.held;
	if (!count && !qp->resp.rq_wanted) {
		qp->resp.rq_wanted = true;
		port->ops->rq_want_kick(qp->init.rq_ctx, true);
		count = port->ops->rq_count(qp->init.rq_ctx);
	}
	return ur_credit_code(count);
}

/* Returns whether an acknowledgement may be queued by itself: room for answers
 * must stay. */
static bool own_ack_room(const struct ur_qp *qp)
{
	const struct ur_responder *resp = &qp->resp;

	return resp->items &&
	       resp->item_tail - resp->item_head + 2 * resp->res_count <=
		       resp->item_mask;
}

void ur_answer_ack(struct ur_qp *qp, u8 syndrome, u32 psn)
{
	struct ur_responder *resp = &qp->resp;
	bool fatal = resp->ack_due &&
		     (resp->ack_syndrome & UR_AETH_CLASS_MASK) == UR_AETH_NAK &&
		     (resp->ack_syndrome & UR_AETH_VALUE_MASK);

	if (fatal)
		return; /* nothing comes after a refusal */
	if (!qp->port->cfg.coalesce && resp->ack_due && own_ack_room(qp)) {
		struct ur_resp_item *it =
			&resp->items[resp->item_tail++ & resp->item_mask];

		it->kind = UR_RESP_ACK;
		it->syndrome = resp->ack_syndrome;
		it->psn = resp->ack_psn;
		it->msn = resp->msn;
	}
	resp->ack_due = true;
	resp->ack_syndrome = syndrome;
	resp->ack_psn = psn;
	ur_port_activate(qp->port, qp);
}
