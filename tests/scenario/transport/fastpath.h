/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One RC queue pair in the midst of long messages, in turn without the short
 * way of their middle packets and with it. A program includes it once.
 */
#ifndef UR_TESTS_FASTPATH_H
#define UR_TESTS_FASTPATH_H

#include "tests/scenario/transport/wiretap.h"

#define PSN0 0xfffffeu /* the wrap is in the middle too */
#define P(n) ur_psn_add(PSN0, n)
#define MTU  256u

static struct wt w;
static struct wt_qp q;
static bool fast, ooo, copied, pieces, ahead;

/* The counters of each conversation without the short way; with it they must
 * be the same. */
static struct {
	u64 port[UR_CNT_COUNT], qp[UR_QP_CNT_COUNT];
} plain[32];
static u32 conversation;

static inline void start(void)
{
	wt_config(&w, 0);
	w.cfg.fast = fast;
	w.cfg.ooo = ooo;
	w.copied = copied;
	w.pieces = pieces;
	w.ahead = ahead;
	w.reads = w.writes = w.faults = w.alone = 0;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, PSN0, PSN0);
}

static inline void compare_counters(void)
{
	const u64 *port = ur_port_counters(w.port);
	u64 *p = plain[conversation].port, *v = plain[conversation].qp;

	CHECK(++conversation < UR_ARRAY_SIZE(plain));
	if (!fast) {
		memcpy(p, port, UR_CNT_COUNT * sizeof(*p));
		memcpy(v, q.qp->shown, UR_QP_CNT_COUNT * sizeof(*v));
		return;
	}
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		CHECK_EQ(port[i], p[i]);
	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		CHECK_EQ(q.qp->shown[i], v[i]);
}

static inline void stop(void)
{
	compare_counters();
	wt_stop(&w, &q);
}

static inline struct ur_pkt pkt(u8 opcode, u32 n, u32 bytes)
{
	struct ur_pkt p = wt_pkt(&q, opcode, P(n), bytes);

	p.dma_bytes = 5 * MTU;
	p.syndrome = WT_ACK;
	p.msn = 1;
	return p;
}

static inline void feed(u8 opcode, u32 n, u32 bytes)
{
	wt_feed(&w, pkt(opcode, n, bytes), NULL);
}

/* A READ of so many packets to 0x1000, and the first one's answer. */
static inline void begin_read(u32 packets)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_READ, 0x1000, packets * MTU);

	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, P(0));
	feed(UR_OP_RC_READ_RESP_FIRST, 0, MTU);
}

/* Bytes of the pattern at off of mem. */
static inline bool filled(u32 off, u32 len)
{
	for (u32 i = 0; i < len; i++)
		if (w.mem[off + i] != wt_pattern(i % MTU))
			return false;
	return true;
}

/* All conversations, each way: the counters must not tell which. */
static inline void each_way(void (*conversations)(void))
{
	for (int i = 0; i < 12; i++) {
		fast = i & 1;
		ooo = i & 2;
		copied = i >= 4;
		pieces = i >= 8;
		conversation = 0;
		conversations();
	}
}

#endif
