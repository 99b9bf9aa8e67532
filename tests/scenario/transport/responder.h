/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One RC queue pair that answers, and the test as its peer, whose packets are
 * counted from psn0. A program includes it once.
 */
#ifndef UR_TESTS_RESPONDER_H
#define UR_TESTS_RESPONDER_H

#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0; /* first PSN of the peer */

#define P(n) ur_psn_add(psn0, n)

static inline void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 100, psn0);
}

static inline void stop(void)
{
	wt_stop(&w, &q);
}

static inline struct ur_pkt pkt(u8 opcode, u32 n, u32 bytes)
{
	return wt_pkt(&q, opcode, P(n), bytes);
}

static inline void feed(u8 opcode, u32 n, u32 bytes, bool ackreq)
{
	struct ur_pkt p = pkt(opcode, n, bytes);

	p.ackreq = ackreq;
	wt_feed(&w, p, NULL);
}

/* Also with a DMA length. */
static inline void feed_dma(u8 opcode, u32 n, u32 bytes, u32 dma)
{
	struct ur_pkt p = pkt(opcode, n, bytes);

	p.ackreq = true;
	p.dma_bytes = dma;
	wt_feed(&w, p, NULL);
}

static inline u32 state(void)
{
	return q.qp->state;
}

/* Around each place where they wrap. */
static const u32 first_psns[] = {0,	   5,	     0xffffff, 0xfffffe,
				 0xfffffd, 0x7fffff, 0x800000};

#endif
