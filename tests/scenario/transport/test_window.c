// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory windows: bind, use, rebind, invalidate from both sides, and every
 * refusal.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static struct ur_mw *mw;
static u32 psn;

static void start(int type)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 10, 9);
	CHECK_EQ(ur_mw_create(w.port, WT_PD, type, &mw), 0);
	psn = 9;
}

static void stop(void)
{
	ur_mw_destroy(mw);
	wt_stop(&w, &q);
}

static struct ur_send_wr *bind(u32 off, u32 len, u32 access)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_BIND_MW, 0, 0);
	u32 key = ur_mw_rkey(mw);

	wr->bind_addr = WT_IOVA + off;
	wr->bind_length = len;
	wr->bind_mw_rkey = key;
	wr->bind_new_rkey = (key & ~0xffu) | ((key + 1) & 0xff);
	wr->bind_mr_lkey = w.key;
	wr->bind_access = access;
	return wr;
}

static void bound(u8 status)
{
	wt_kick(&q);
	wt_silence(&w);
	CHECK_EQ(wt_wc(&q, status).opcode, UR_WC_BIND_MW);
}

/* A write through the window: the syndrome of the answer. */
static u8 write_at(u64 va, u32 len, u32 rkey)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_WRITE_ONLY,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.va = va,
				.rkey = rkey,
				.dma_bytes = len,
				.payload_bytes = len,
				.ackreq = true},
		NULL);
	return wt_expect(&w, UR_OP_RC_ACK, psn++)->pkt.syndrome;
}

static void use(void)
{
	const u32 rw = UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ;
	u32 old;

	start(1);
	CHECK_EQ(write_at(WT_IOVA + 100, 10, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	start(1);
	old = ur_mw_rkey(mw);
	bind(100, 50, rw);
	bound(0);
	CHECK(ur_mr_destroy(w.mr) < 0);
	CHECK(ur_mr_rereg(w.mr, &w.mr->attr) < 0);
	CHECK(old != ur_mw_rkey(mw));
	CHECK_EQ(write_at(WT_IOVA + 100, 50, ur_mw_rkey(mw)), WT_ACK);
	/* Bound elsewhere: the old place is out of reach. */
	bind(500, 50, rw);
	bound(0);
	CHECK_EQ(write_at(WT_IOVA + 549, 1, ur_mw_rkey(mw)), WT_ACK);
	CHECK_EQ(write_at(WT_IOVA + 549, 2, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	start(1);
	bind(100, 50, rw);
	bound(0);
	/* The key from before the bind. */
	CHECK_EQ(write_at(WT_IOVA + 100, 1, ur_mw_rkey(mw) ^ 1), WT_NAK_ACCESS);
	stop();
	start(1);
	bind(100, 50, UR_ACCESS_REMOTE_READ);
	bound(0);
	CHECK_EQ(write_at(WT_IOVA + 100, 1, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	/* Unbound by a bind of length zero. */
	start(1);
	bind(100, 50, rw);
	bound(0);
	bind(0, 0, 0);
	bound(0);
	CHECK_EQ(write_at(WT_IOVA + 100, 1, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	/* Type 2, zero based. */
	start(2);
	bind(100, 50, rw | UR_ACCESS_ZERO_BASED);
	bound(0);
	CHECK_EQ(write_at(0, 50, ur_mw_rkey(mw)), WT_ACK);
	CHECK_EQ(w.mem[100], wt_pattern(0));
	CHECK_EQ(write_at(1, 50, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
}

static void refused(void)
{
	start(1);
	bind(WT_MEM_BYTES - 10, 11, 0);
	bound(UR_WC_MW_BIND_ERR);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	stop();
	start(1);
	bind(0, 10, 0)->bind_mr_lkey ^= 1;
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	bind(0, 10, 0)->bind_mw_rkey ^= 0x100;
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1); /* a region is no window */
	bind(0, 10, 0)->bind_mw_rkey = w.key;
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	bind(0, 10, UR_ACCESS_ZERO_BASED);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	w.mr->attr.access &= ~(u32)UR_ACCESS_MW_BIND;
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	w.mr->attr.access &= ~(u32)UR_ACCESS_LOCAL_WRITE;
	bind(0, 10, UR_ACCESS_REMOTE_WRITE);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	w.mr->attr.pd++;
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	w.mr->attr.pd--;
	stop();
	/* Type 2 must be free. */
	start(2);
	bind(0, 10, 0);
	bound(0);
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
}

static void invalidate(void)
{
	struct ur_send_wr *wr;
	struct ur_wc wc;

	start(2);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	wr = wt_post(&q, UR_WR_LOCAL_INV, 0, 0);
	wr->imm_inv = ur_mw_rkey(mw);
	wt_kick(&q);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_LOCAL_INV);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	/* By the peer, with its send. */
	wt_post_recv(&q, 0x1000, 100);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY_INV,
				.dqpn = q.qp->qpn,
				.psn = psn++,
				.inv_rkey = ur_mw_rkey(mw),
				.payload_bytes = 4,
				.ackreq = true},
		NULL);
	wt_expect_ack(&w, WT_ACK, 9);
	wc = wt_wc(&q, 0);
	CHECK(wc.wc_flags & UR_WC_F_INV);
	CHECK_EQ(wc.imm_inv, ur_mw_rkey(mw));
	CHECK_EQ(write_at(WT_IOVA + 100, 1, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	/* A window that is not bound cannot be invalidated. */
	start(2);
	wr = wt_post(&q, UR_WR_LOCAL_INV, 0, 0);
	wr->imm_inv = ur_mw_rkey(mw);
	wt_kick(&q);
	wt_wc(&q, UR_WC_MW_BIND_ERR);
	stop();
	start(2);
	wt_post_recv(&q, 0x1000, 100);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY_INV,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.inv_rkey = w.key,
				.payload_bytes = 4},
		NULL);
	wt_silence(&w);
	wt_wc(&q, UR_WC_MW_BIND_ERR);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	stop();
}

static void refused_keys(void)
{
	/* A right that windows do not have. */
	start(1);
	bind(0, 10, UR_ACCESS_MW_BIND);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	w.mr->attr.access |= UR_ACCESS_ZERO_BASED;
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	/* Only type 1 is unbound by a bind. */
	start(2);
	bind(0, 0, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	/* A window of another owner. */
	start(1);
	ur_mw_destroy(mw);
	CHECK(!ur_mw_create_as(w.port, WT_PD, 1, 0, &w, &mw));
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
	/* A window of another domain than the queue pair and the region. */
	start(1);
	ur_mw_destroy(mw);
	CHECK(!ur_mw_create(w.port, WT_PD + 1, 1, &mw));
	bind(0, 10, 0);
	bound(UR_WC_MW_BIND_ERR);
	stop();
}

/* The index of the new key is the device's, and only its low byte the
 * program's; whose idea of the old byte is wrong may bind all the same. */
static void key_byte(void)
{
	struct ur_send_wr *wr;
	u32 id;

	for (int type = 1; type <= 2; type++) {
		start(type);
		id = ur_mw_rkey(mw) & ~0xffu;
		wr = bind(100, 50, UR_ACCESS_REMOTE_WRITE);
		wr->bind_mw_rkey ^= 0xff;
		wr->bind_new_rkey = 0x12345be;
		bound(0);
		CHECK_EQ(ur_mw_rkey(mw), id | 0xbe);
		CHECK_EQ(write_at(WT_IOVA + 100, 50, id | 0xbe), WT_ACK);
		CHECK_EQ(write_at(WT_IOVA + 100, 50, 0x12345be), WT_NAK_ACCESS);
		stop();
	}
}

/* The message before a SEND with a key that is not good was accepted, and its
 * acknowledgement, which is owed still, goes. The SEND itself has no answer. */
static void class_j(void)
{
	struct ur_pkt pkt;

	start(1);
	wt_post_recv(&q, 0x1000, 100);
	wt_post_recv(&q, 0x2000, 100);
	pkt = wt_pkt(&q, UR_OP_RC_SEND_ONLY, 9, 4);
	pkt.ackreq = true;
	wt_arrive(&w, pkt, NULL);
	pkt = wt_pkt(&q, UR_OP_RC_SEND_ONLY_INV, 10, 4);
	pkt.ackreq = true;
	pkt.inv_rkey = ur_mw_rkey(mw);
	wt_feed(&w, pkt, NULL);
	wt_expect_ack(&w, WT_ACK, 9);
	wt_silence(&w);
	wt_wc(&q, 0);
	wt_wc(&q, UR_WC_MW_BIND_ERR);
	/* Nor does it answer when it is sent again. */
	wt_feed(&w, pkt, NULL);
	wt_silence(&w);
	stop();
}

static void in_other_domain(struct ur_qp_init *init)
{
	init->pd = WT_PD + 1;
}

static void local_inv(struct wt_qp *by, u8 status)
{
	wt_post(by, UR_WR_LOCAL_INV, 0, 0)->imm_inv = ur_mw_rkey(mw);
	wt_kick(by);
	wt_wc(by, status);
}

/* syndrome 0: there is no answer. */
static void send_inv(struct wt_qp *to, u32 at, u8 syndrome)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY_INV,
				.dqpn = to->qp->qpn,
				.psn = at,
				.inv_rkey = ur_mw_rkey(mw),
				.payload_bytes = 4,
				.ackreq = true},
		NULL);
	if (syndrome)
		wt_expect_ack(&w, syndrome, at);
	else
		wt_silence(&w);
}

/* The rights of another queue pair to a window that q has bound. */
static void stranger(int type, bool other_pd)
{
	u8 use = type == 2 || other_pd ? WT_NAK_ACCESS : WT_ACK;
	struct ur_qp_attr a;
	struct wt_qp s;

	for (u32 way = 0; way < 3; way++) {
		start(type);
		bind(100, 50, UR_ACCESS_REMOTE_WRITE);
		bound(0);
		a = wt_attr(&w, 0x77, 10, 9);
		wt_qp_create(&w, &s, UR_QPT_RC,
			     other_pd ? in_other_domain : NULL);
		wt_to_rts(&s, &a);
		if (way == 0) {
			wt_feed(&w,
				(struct ur_pkt){.opcode = UR_OP_RC_WRITE_ONLY,
						.dqpn = s.qp->qpn,
						.psn = 9,
						.va = WT_IOVA + 100,
						.rkey = ur_mw_rkey(mw),
						.dma_bytes = 1,
						.payload_bytes = 1,
						.ackreq = true},
				NULL);
			wt_expect_ack(&w, use, 9);
		} else if (way == 1) {
			local_inv(&s, UR_WC_MW_BIND_ERR);
		} else {
			wt_post_recv(&s, 0x1000, 100);
			send_inv(&s, 9, 0);
			wt_wc(&s, UR_WC_MW_BIND_ERR);
		}
		/* q has it still. */
		CHECK_EQ(write_at(WT_IOVA + 149, 1, ur_mw_rkey(mw)), WT_ACK);
		ur_qp_destroy(s.qp);
		stop();
	}
}

static void invalidate_wrong(void)
{
	/* Type 1 by nobody. */
	start(1);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	local_inv(&q, UR_WC_MW_BIND_ERR);
	stop();
	start(1);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	wt_post_recv(&q, 0x1000, 100);
	send_inv(&q, 9, 0);
	wt_wc(&q, UR_WC_MW_BIND_ERR);
	stop();
	/* Twice. */
	start(2);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	local_inv(&q, 0);
	local_inv(&q, UR_WC_MW_BIND_ERR);
	stop();
	/* A message that does not arrive invalidates nothing. */
	start(2);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	wt_post_recv(&q, 0x1000, 100);
	q.recv[0].sge[0].lkey ^= 1;
	send_inv(&q, 9, WT_NAK_OP);
	CHECK(mw->mr);
	stop();
}

/* Zero based, and not from the region's start: where the bytes go. */
static void place(void)
{
	start(2);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE | UR_ACCESS_ZERO_BASED);
	bound(0);
	memset(w.mem + 100, 0, 50);
	CHECK_EQ(write_at(40, 10, ur_mw_rkey(mw)), WT_ACK);
	CHECK_EQ(w.mem[139], 0);
	CHECK_EQ(w.mem[140], wt_pattern(0));
	CHECK_EQ(w.mem[149], wt_pattern(9));
	CHECK_EQ(write_at(WT_IOVA + 100, 1, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
	start(1);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	bound(0);
	CHECK_EQ(write_at(WT_IOVA + 99, 2, ur_mw_rkey(mw)), WT_NAK_ACCESS);
	stop();
}

/* A bind and a use behind it, in one go: in order. */
static void in_order(void)
{
	struct ur_send_wr *wr;

	start(2);
	wt_post(&q, UR_WR_SEND, 0, 4);
	bind(100, 50, UR_ACCESS_REMOTE_WRITE);
	wr = wt_post(&q, UR_WR_SEND, 0, 4);
	wr->flags = UR_WR_F_SIGNALED;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_no_wc(&q);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_ACK,
				.dqpn = q.qp->qpn,
				.psn = 10,
				.syndrome = WT_ACK},
		NULL);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_SEND);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_BIND_MW);
	wt_no_wc(&q);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(use());
	CASE(refused());
	CASE(refused_keys());
	CASE(invalidate());
	CASE(invalidate_wrong());
	CASE(key_byte());
	CASE(class_j());
	for (int type = 1; type <= 2; type++) {
		CASE(stranger(type, false));
		CASE(stranger(type, true));
	}
	CASE(place());
	CASE(in_order());
	return cases_status();
}
