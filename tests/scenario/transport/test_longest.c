// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The longest message at the smallest MTU: 2 GiB in packets of 256 bytes are
 * 2^23 PSNs, exactly the distance at which two PSNs can no longer be compared.
 */
#include "tests/scenario/transport/wiretap.h"

#define LENGTH	 (1u << 31)
#define FIRST	 0xfffff0u
#define PEER_QPN 0x99

int main(void)
{
	static struct wt w;
	static struct wt_qp q;
	struct ur_mr_attr zeros = {
		.pd = WT_PD,
		.access = UR_ACCESS_LOCAL_WRITE,
		.length = LENGTH,
		.null_mr = true,
	};
	struct ur_pkt ack = {
		.opcode = UR_OP_RC_ACK,
		.pkey = UR_PKEY_DEFAULT,
		.psn = FIRST,
		.syndrome = UR_AETH_CREDIT_NONE,
	};
	struct ur_send_wr *wr;
	struct ur_mr *mr;

	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, PEER_QPN, FIRST, 0);
	CHECK(!ur_mr_create(w.port, &zeros, &mr));
	wr = wt_post(&q, UR_WR_WRITE, 0, 256);
	wr->sge[0] = (struct ur_sge){0, LENGTH, ur_mr_key(mr)};
	wt_kick(&q);
	wt_run(&w);
	wt_expect(&w, UR_OP_RC_WRITE_FIRST, FIRST);
	wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, ur_psn_add(FIRST, 1));

	/* One packet is acknowledged: one, not all. */
	ack.dqpn = ur_qp_number(q.qp);
	wt_feed(&w, ack, NULL);
	wt_no_wc(&q);
	CHECK_EQ(q.qp->req.una, ur_psn_add(FIRST, 1));
	CHECK(!ur_qp_check(q.qp));

	ur_qp_destroy(q.qp);
	CHECK(!ur_mr_destroy(mr));
	wt_close(&w);
	return 0;
}
