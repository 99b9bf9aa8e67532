// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A process that ended, while its queue pairs are not closed yet: its memory is
 * no more. Nobody answers in its name; the peer is notified by the closing of
 * the device.
 */
#include "tests/scenario/transport/wiretap.h"

#include <errno.h>

#define BYTES 4096

static struct wt w;
static struct wt_qp q, r;
static struct ur_mr *mr;

static int no_read(void *mem, u64 off, void *dst, u32 len)
{
	return -ESRCH;
}

static int no_write(void *mem, u64 off, const void *src, u32 len)
{
	return -ESRCH;
}

static int no_cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		  u64 swap_mask, u64 *old)
{
	return -ESRCH;
}

static int no_faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	return -ESRCH;
}

static const struct ur_mem_ops gone = {
	.read = no_read,
	.write = no_write,
	.cas = no_cas,
	.faa = no_faa,
};

/* q is alive, r and the region are of the process that ended. */
static void start(bool loop, enum ur_qp_type type)
{
	struct ur_mr_attr attr = {
		.pd = WT_PD,
		.access = UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |
			  UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC,
		.length = BYTES,
		.ops = &gone};

	wt_config(&w, 0);
	if (loop)
		wt_loop(&w);
	wt_open(&w);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	wt_pair(&w, &q, &r, type, 9);
	wt_post_recv(&r, 0x2000, 700);
	r.recv[0].sge[0] = (struct ur_sge){0, 700, ur_mr_key(mr)};
}

static void stop(void)
{
	ur_qp_destroy(q.qp);
	ur_qp_destroy(r.qp);
	CHECK(!ur_mr_destroy(mr));
	wt_close(&w);
}

/* The form in which the request arrives, the one that its sender posts, and its
 * length. */
static const struct request {
	u8 packet, work;
	u32 len;
} requests[] = {
	{UR_OP_RC_SEND_ONLY, UR_WR_SEND, 64},
	{UR_OP_RC_WRITE_ONLY, UR_WR_WRITE, 64},
	{UR_OP_RC_READ_REQ, UR_WR_READ, 64},
	{UR_OP_RC_CMP_SWAP, UR_WR_CMP_SWAP, 8},
	{UR_OP_RC_FETCH_ADD, UR_WR_FETCH_ADD, 8},
	{UR_OP_RC_ATOMIC_WRITE, UR_WR_ATOMIC_WRITE, 8},
};

static void silent(void)
{
	CHECK_EQ(r.qp->state, UR_QP_ERR);
	CHECK_EQ(r.event_count, 0);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	wt_no_wc(&q);
}

static void by_packet(const struct request *req)
{
	struct ur_pkt pkt = {.opcode = req->packet,
			     .dqpn = r.qp->qpn,
			     .psn = 9,
			     .ackreq = true,
			     .rkey = ur_mr_key(mr),
			     .dma_bytes = req->len};

	if (req->packet != UR_OP_RC_READ_REQ && req->work != UR_WR_CMP_SWAP &&
	    req->work != UR_WR_FETCH_ADD)
		pkt.payload_bytes = req->len;
	wt_feed(&w, pkt, NULL);
	wt_silence(&w);
	silent();
}

static void by_loop(const struct request *req)
{
	struct ur_send_wr *wr = wt_post(&q, req->work, 0x1000, req->len);

	wr->raddr = 0;
	wr->rkey = ur_mr_key(mr);
	wt_kick(&q);
	/* It is sent in vain, until the retries are used up. */
	wt_expect(&w, req->packet, 9);
	silent();
}

/* Nobody expects an answer to a message that arrives as datagrams or on UC; its
 * receiver gets no event either. */
static void unconnected(void)
{
	struct ur_pkt pkt = {
		.opcode = UR_OP_UC_SEND_ONLY, .psn = 9, .payload_bytes = 64};

	start(false, UR_QPT_UC);
	pkt.dqpn = r.qp->qpn;
	wt_feed(&w, pkt, NULL);
	wt_silence(&w);
	silent();
	stop();
}

int main(void)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(requests); i++) {
		start(false, UR_QPT_RC);
		by_packet(&requests[i]);
		stop();
		start(true, UR_QPT_RC);
		by_loop(&requests[i]);
		stop();
	}
	unconnected();
	return 0;
}
