// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A peer on the same port: the same completions, errors, waits and sequence
 * numbers as with packets, and packets wherever the two are not in step.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q, r;

static void start(enum ur_qp_type type, u8 rnr_retry)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	wt_loop(&w);
	wt_open(&w);
	wt_qp_create(&w, &q, type, NULL);
	wt_qp_create(&w, &r, type, NULL);
	a = wt_attr(&w, r.qp->qpn, 0xffffff, 5);
	a.rnr_retry = rnr_retry;
	wt_to_rts(&q, &a);
	a = wt_attr(&w, q.qp->qpn, 5, 0xffffff);
	wt_to_rts(&r, &a);
}

static void stop(void)
{
	CHECK(!ur_qp_check(q.qp));
	ur_qp_destroy(q.qp);
	if (r.qp)
		ur_qp_destroy(r.qp);
	wt_run(&w);
	CHECK_EQ(w.av.refs, 1);
	wt_close(&w);
}

static struct ur_send_wr *post(u8 opcode, u32 len)
{
	struct ur_send_wr *wr = wt_post(&q, opcode, 0x100, len);

	wr->raddr = WT_REMOTE;
	wr->rkey = w.key;
	return wr;
}

/* Packets that went out come back in. */
static void turn_round(void)
{
	while (w.out_head != w.out_tail) {
		struct wt_packet p = *wt_next(&w);

		ur_port_rx(w.port, w.now, &w.meta, p.bytes, p.len);
		wt_run(&w);
	}
}

static void in_step(void)
{
	CHECK_EQ(q.qp->req.una, q.qp->req.max_psn);
	CHECK_EQ(q.qp->req.tx_psn, r.qp->resp.epsn);
}

static void good(void)
{
	struct ur_wc wc;

	start(UR_QPT_RC, 7);
	wt_post_recv(&r, 0x2000, 700);
	post(UR_WR_SEND_IMM, 600)->imm_inv = 77;
	q.send[0].flags |= UR_WR_F_SOLICITED;
	post(UR_WR_WRITE, 300);
	post(UR_WR_READ, 1000);
	wt_kick(&q);
	wt_silence(&w);
	wc = wt_wc(&r, 0);
	CHECK_EQ(wc.imm_inv, 77);
	CHECK_EQ(wc.byte_len, 600);
	CHECK_EQ(wc.src_qp, q.qp->qpn);
	CHECK(wc.solicited);
	for (int i = 0; i < 3; i++)
		wt_wc(&q, 0);
	/* 3 + 2 + 4 packets' worth of PSNs, three messages. */
	CHECK_EQ(q.qp->req.tx_psn, 8);
	CHECK_EQ(r.qp->resp.msn, 3);
	in_step();
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_loop_msgs], 3);
	/* With packets from here on, the numbers fit. */
	w.port->cfg.loop = false;
	post(UR_WR_WRITE, 300);
	wt_kick(&q);
	CHECK_EQ(w.out_tail - w.out_head, 2);
	turn_round();
	wt_wc(&q, 0);
	/* And back. */
	w.port->cfg.loop = true;
	post(UR_WR_WRITE, 300);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, 0);
	in_step();
	stop();
}

/* One that waits for an answer in packet form keeps the others behind it. */
static void mixed(void)
{
	start(UR_QPT_RC, 7);
	w.port->cfg.loop = false;
	post(UR_WR_WRITE, 4);
	wt_kick(&q);
	w.port->cfg.loop = true;
	post(UR_WR_WRITE, 4);
	wt_kick(&q);
	/* The second goes as a packet as well: the first is not answered. */
	CHECK_EQ(w.out_tail - w.out_head, 2);
	turn_round();
	wt_wc(&q, 0);
	wt_wc(&q, 0);
	post(UR_WR_WRITE, 4);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, 0);
	in_step();
	stop();
}

static void refused(u8 status, u32 event)
{
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, status);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	if (event) {
		CHECK_EQ(r.qp->state, UR_QP_ERR);
		CHECK(r.events & (1u << event));
	}
	stop();
}

static void errors(void)
{
	static const u8 ops[] = {UR_WR_WRITE, UR_WR_READ, UR_WR_FETCH_ADD,
				 UR_WR_ATOMIC_WRITE};

	for (u32 i = 0; i < UR_ARRAY_SIZE(ops); i++) {
		start(UR_QPT_RC, 7);
		post(ops[i], 8)->rkey ^= 1;
		refused(UR_WC_REM_ACCESS_ERR, UR_EVENT_QP_ACCESS_ERR);
		start(UR_QPT_RC, 7);
		post(ops[i], 8)->raddr = WT_IOVA + WT_MEM_BYTES;
		refused(UR_WC_REM_ACCESS_ERR, UR_EVENT_QP_ACCESS_ERR);
		start(UR_QPT_RC, 7);
		r.qp->attr.access = 0;
		post(ops[i], 8);
		refused(UR_WC_REM_INV_REQ_ERR, UR_EVENT_QP_REQ_ERR);
		start(UR_QPT_RC, 7);
		post(ops[i], 8)->sge[0].lkey ^= 1;
		refused(UR_WC_LOC_PROT_ERR, 0);
	}
	start(UR_QPT_RC, 7);
	post(UR_WR_CMP_SWAP, 8)->raddr++;
	refused(UR_WC_REM_INV_REQ_ERR, UR_EVENT_QP_REQ_ERR);
	/* Too long for the receive. */
	start(UR_QPT_RC, 7);
	wt_post_recv(&r, 0x2000, 10);
	wt_post_recv(&r, 0x2000, 10);
	post(UR_WR_SEND, 11);
	post(UR_WR_SEND, 1);
	wt_kick(&q);
	wt_wc(&q, UR_WC_REM_INV_REQ_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	wt_wc(&r, UR_WC_LOC_LEN_ERR);
	wt_wc(&r, UR_WC_WR_FLUSH_ERR);
	stop();
	/* A bad receive. */
	start(UR_QPT_RC, 7);
	wt_post_recv(&r, 0x2000, 10);
	r.recv[0].sge[0].lkey ^= 1;
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_REM_OP_ERR);
	wt_wc(&r, UR_WC_LOC_PROT_ERR);
	stop();
}

static void not_ready(void)
{
	/* 640 us each, then given up. */
	start(UR_QPT_RC, 2);
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_sleep(&w, 2 * 640 * WT_US - 1);
	wt_no_wc(&q);
	wt_sleep(&w, 1);
	wt_wc(&q, UR_WC_RNR_RETRY_EXC_ERR);
	wt_silence(&w);
	stop();
	/* A receive is posted meanwhile: no need to wait for the timer. */
	start(UR_QPT_RC, 7);
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	CHECK(r.ring.want_kick);
	wt_post_recv(&r, 0x2000, 10);
	wt_sleep(&w, 10 * WT_US);
	wt_wc(&q, 0);
	wt_wc(&r, 0);
	stop();
}

static void gone(void)
{
	start(UR_QPT_RC, 7);
	ur_qp_destroy(r.qp);
	r.qp = NULL;
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_sleep(&w, 10000 * WT_MS);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	stop();
}

static void atomics(void)
{
	struct ur_send_wr *wr;
	u64 v = 0x00ff00ff00ff00ffull, got;

	start(UR_QPT_RC, 7);
	memcpy(w.mem + 0x80000, &v, 8);
	/* Bytes added on their own: no carry from one to the next. */
	wr = post(UR_WR_MASK_FETCH_ADD, 8);
	wr->swap_add = 0x0101010101010101ull;
	wr->swap_add_mask = 0x8080808080808080ull;
	wr = post(UR_WR_MASK_CMP_SWAP, 8);
	wr->compare = 0x0000000000000001ull;
	wr->compare_mask = 0xff;
	wr->swap_add = 0x1100;
	wr->swap_add_mask = 0xff00;
	wt_kick(&q);
	wt_wc(&q, 0);
	memcpy(&got, w.mem + 0x80000, 8);
	CHECK_EQ(got, 0x0100010001000100ull);
	wt_wc(&q, 0);
	wr = post(UR_WR_MASK_CMP_SWAP, 8);
	wr->compare = 0;
	wr->compare_mask = 0xff;
	wr->swap_add = 0x1100;
	wr->swap_add_mask = 0xff00;
	wt_kick(&q);
	wt_wc(&q, 0);
	memcpy(&got, w.mem + 0x80000, 8);
	CHECK_EQ(got, 0x0100010001001100ull);
	memcpy(&got, w.mem + 0x100, 8);
	CHECK_EQ(got, 0x0100010001000100ull);
	post(UR_WR_ATOMIC_WRITE, 8);
	wr = post(UR_WR_FLUSH, 0);
	wr->flush_type = UR_FETH_GLOBAL;
	wr->flush_length = 8;
	wt_kick(&q);
	wt_wc(&q, 0);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_FLUSH);
	CHECK(memcmp(w.mem + 0x100, w.mem + 0x80000, 8) == 0);
	in_step();
	stop();
}

/* ---- memory that is not there when its turn comes ---- */

static int cannot_read(void *mem, u64 off, void *dst, u32 len)
{
	return -1;
}

static int cannot_write(void *mem, u64 off, const void *src, u32 len)
{
	return -1;
}

/* The error is of him whose memory it is: of the sender alone, or what a NAK
 * brings. */
static void missing(u8 opcode, bool local, u8 status)
{
	static const struct ur_mem_ops ops = {.read = cannot_read,
					      .write = cannot_write};
	struct ur_mr_attr attr = {.pd = WT_PD,
				  .access = UR_ACCESS_LOCAL_WRITE |
					    UR_ACCESS_REMOTE_WRITE |
					    UR_ACCESS_REMOTE_READ,
				  .length = 4096,
				  .ops = &ops};
	struct ur_send_wr *wr;
	struct ur_mr *mr;

	start(UR_QPT_RC, 7);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	wt_post_recv(&r, 0x2000, 700);
	if (!local && opcode == UR_WR_SEND)
		r.recv[0].sge[0] = (struct ur_sge){0, 700, ur_mr_key(mr)};
	wr = post(opcode, 600);
	if (local) {
		wr->sge[0].addr = 0;
		wr->sge[0].lkey = ur_mr_key(mr);
	} else if (opcode != UR_WR_SEND) {
		wr->raddr = 0;
		wr->rkey = ur_mr_key(mr);
	}
	wt_kick(&q);
	wt_wc(&q, status);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK_EQ(r.qp->state, local ? UR_QP_RTS : UR_QP_ERR);
	CHECK(!ur_mr_destroy(mr));
	stop();
}

static void unconnected(void)
{
	/* UC: what the receiver refuses is silence for the sender. */
	start(UR_QPT_UC, 7);
	post(UR_WR_WRITE, 4)->rkey ^= 1;
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_wc(&q, 0);
	wt_wc(&q, 0);
	wt_no_wc(&r);
	CHECK_EQ(r.qp->state, UR_QP_RTS);
	wt_post_recv(&r, 0x2000, 10);
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_wc(&q, 0);
	wt_wc(&r, 0);
	stop();
}

/* A queue pair connected to itself. */
static void itself(void)
{
	struct ur_qp_attr a;

	start(UR_QPT_RC, 7);
	ur_qp_destroy(q.qp);
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	a = wt_attr(&w, q.qp->qpn, 3, 3);
	wt_to_rts(&q, &a);
	wt_post_recv(&q, 0x2000, 10);
	post(UR_WR_SEND, 4);
	post(UR_WR_WRITE, 4)->rkey ^= 1;
	wt_kick(&q);
	CHECK(wt_wc(&q, 0).recv);
	wt_wc(&q, 0);
	wt_wc(&q, UR_WC_REM_ACCESS_ERR);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(good());
	CASE(mixed());
	CASE(errors());
	CASE(not_ready());
	CASE(gone());
	CASE(atomics());
	CASE(missing(UR_WR_SEND, true, UR_WC_LOC_PROT_ERR));
	CASE(missing(UR_WR_WRITE, true, UR_WC_LOC_PROT_ERR));
	CASE(missing(UR_WR_READ, true, UR_WC_LOC_PROT_ERR));
	CASE(missing(UR_WR_SEND, false, UR_WC_REM_OP_ERR));
	CASE(missing(UR_WR_WRITE, false, UR_WC_REM_ACCESS_ERR));
	CASE(missing(UR_WR_READ, false, UR_WC_REM_ACCESS_ERR));
	CASE(unconnected());
	CASE(itself());
	return cases_status();
}
