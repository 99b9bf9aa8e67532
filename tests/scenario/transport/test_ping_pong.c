// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages back and forth: the acknowledgement of one goes before the message
 * that answers it, however soon that is posted. A peer with room for one
 * request posts its next as soon as it has the answer, and its queue is full
 * until the acknowledgement has come.
 */
#include "tests/scenario/transport/wiretap.h"

#define ROUNDS 50

static void acknowledged_first(void)
{
	struct wt_qp q;
	struct wt w;

	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 10, 90);
	for (u32 i = 0; i < ROUNDS; i++) {
		wt_post_recv(&q, 0, 64);
		wt_feed(&w,
			(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
					.dqpn = q.qp->qpn,
					.psn = 90 + i,
					.ackreq = true,
					.payload_bytes = 4},
			NULL);
		wt_wc(&q, UR_WC_SUCCESS);
		wt_post(&q, UR_WR_SEND, 0, 4);
		wt_kick(&q);
		wt_expect_ack(&w, WT_ACK, 90 + i);
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
		wt_ack(&w, &q, 10 + i, WT_ACK);
		wt_wc(&q, UR_WC_SUCCESS);
	}
	wt_stop(&w, &q);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(acknowledged_first());
	return cases_status();
}
