// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * READs and the window of a path that keeps nobody from sending: it is given up though requests are
 * longer than a packet, and they are long before it is known whether the peer answers marks.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/path_impl.h"

#define PEER  0x70
#define BYTES (640 * 256)

static struct wt w;
static struct wt_qp q;
static struct ur_path *path;
static u32 psn; /* of the next answer */

static void start(u32 window)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	w.cfg.aimd = w.cfg.path = w.cfg.short_reads = true;
	wt_open(&w);
	a = wt_attr(&w, PEER, 10, 9);
	a.max_rd_atomic = 8;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	psn = 10;
	path = q.qp->share.path;
	path->window.size = window * UR_PATH_ONE;
	q.qp->req.window = 512;
}

/* There is always another READ. */
static void work(void)
{
	while (q.ring.send_tail - q.ring.retired < 8) {
		struct ur_send_wr *wr = wt_post(&q, UR_WR_READ, 0, BYTES);

		wr->raddr = WT_IOVA;
		wr->rkey = 0xabcd;
	}
	q.wc_head = q.wc_tail;
	wt_kick(&q);
}

/* The oldest request is answered. Returns how many packets that took. */
static u32 answer(void)
{
	const struct ur_pkt req = wt_expect(&w, UR_OP_RC_READ_REQ, psn)->pkt;
	u32 n = req.dma_bytes / 256;

	for (u32 k = 0; k < n; k++) {
		struct ur_pkt pkt =
			wt_pkt(&q,
			       n == 1	    ? UR_OP_RC_READ_RESP_ONLY
			       : !k	    ? UR_OP_RC_READ_RESP_FIRST
			       : k + 1 == n ? UR_OP_RC_READ_RESP_LAST
					    : UR_OP_RC_READ_RESP_MIDDLE,
			       psn++, 256);

		pkt.syndrome = WT_ACK;
		wt_arrive(&w, pkt, NULL);
		wt_run(&w);
		work();
	}
	return n;
}

/* Its own window is 512, and a request 128. Where the path's is a little larger, only the end of a
 * last request has no room. */
static void ends_beyond(void)
{
	start(600);
	work();
	for (u32 n = 0; n < 8000;)
		n += answer();
	CHECK(!q.qp->share.held);
	CHECK_EQ(path->window.size / UR_PATH_ONE, 600);
	wt_stop(&w, &q);
}

/* The path's window is what keeps the second one back. */
static void too_small(void)
{
	start(300);
	work();
	for (u32 n = 0; n < 8000;)
		n += answer();
	CHECK(path->window.size / UR_PATH_ONE >= 512);
	wt_stop(&w, &q);
}

/* The path stays held until it is known whether the peer answers marks. Until then nobody is
 * kept back, until something is lost. */
static void marks_unknown(void)
{
	start(600);
	CHECK(ur_path_read(q.qp) < UINT32_MAX);
	path->long_at = 1;
	work();
	for (u32 n = 0; n < 8000;)
		n += answer();
	CHECK(q.qp->share.held);
	CHECK_EQ(ur_path_read(q.qp), UINT32_MAX);
	ur_path_lost(q.qp, 1, false);
	CHECK(ur_path_read(q.qp) < UINT32_MAX);
	wt_stop(&w, &q);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(ends_beyond());
	CASE(too_small());
	CASE(marks_unknown());
	return cases_status();
}
