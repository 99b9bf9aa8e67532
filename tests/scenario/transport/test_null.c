// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A region that is nowhere: reads as zeros, and what is written is gone. */
#include "tests/scenario/transport/wiretap.h"

#define ALL                                               \
	(UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE | \
	 UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC)

static struct wt w;
static struct wt_qp q;
static struct ur_mr *mr;

static struct wt_packet *ask(u8 opcode, u32 psn, u32 bytes, u32 dma)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = opcode,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.va = 0x1000,
				.rkey = ur_mr_key(mr),
				.payload_bytes = bytes,
				.dma_bytes = dma,
				.compare = 0,
				.swap_add = 7,
				.ackreq = true},
		NULL);
	return wt_next(&w);
}

int main(void)
{
	struct ur_mr_attr attr = {.pd = WT_PD,
				  .access = ALL,
				  .length = UINT64_MAX,
				  .null_mr = true};
	struct wt_packet *p;

	wt_config(&w, 0);
	wt_open(&w);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 10, 9);
	p = ask(UR_OP_RC_WRITE_ONLY, 9, 100, 100);
	CHECK_EQ(p->pkt.syndrome, WT_ACK);
	/* The first would have changed what the second finds. */
	for (u32 i = 0; i < 2; i++) {
		p = ask(UR_OP_RC_CMP_SWAP, 10 + 2 * i, 0, 0);
		CHECK_EQ(p->pkt.opcode, UR_OP_RC_ATOMIC_ACK);
		CHECK_EQ(p->pkt.atomic_orig, 0);
		p = ask(UR_OP_RC_FETCH_ADD, 11 + 2 * i, 0, 0);
		CHECK_EQ(p->pkt.opcode, UR_OP_RC_ATOMIC_ACK);
		CHECK_EQ(p->pkt.atomic_orig, 0);
	}
	p = ask(UR_OP_RC_READ_REQ, 14, 0, 100);
	CHECK_EQ(p->pkt.opcode, UR_OP_RC_READ_RESP_ONLY);
	CHECK_EQ(p->pkt.payload_bytes, 100);
	for (u32 i = 0; i < 100; i++)
		CHECK_EQ(p->pkt.payload[i], 0);
	wt_silence(&w);
	CHECK(!ur_qp_check(q.qp));
	ur_qp_destroy(q.qp);
	CHECK(!ur_mr_destroy(mr));
	wt_close(&w);
	return 0;
}
