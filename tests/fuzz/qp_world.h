/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The world of the QP door: a port with a pair of queue pairs each of RC, UC,
 * UD and XRC, connected to each other and in RTS, their rings and memory. */
#ifndef UR_TESTS_FUZZ_QP_WORLD_H
#define UR_TESTS_FUZZ_QP_WORLD_H

#include "tests/transport_host.h"
#include "transport/transport.h"

#define FIRST_PSN 0xfffff0u /* the wrap is near */
#define MEM_BYTES 16384
#define IOVA	  0x10000ull
#define QKEY	  0x11111111u
#define WRS_MAX	  64
#define TX_BYTES  32768
#define PEER(i)	  ((i) ^ 1)

enum { RC_A, RC_B, UC_A, UC_B, UD_A, UD_B, XRC_INI, XRC_TGT, SIDES };

struct side {
	struct host_ring ring; /* of wrs; receives are all alike */
	struct ur_qp *qp;
	struct ur_send_wr wrs[WRS_MAX];
	u32 send_done, recv_done; /* completions */
};

struct world {
	struct ur_port *port;
	struct ur_mr *mr, *mr_ops; /* plain memory, memory behind functions */
	struct ur_mw *mw[2];	   /* type 1, type 2 */
	struct ur_srq *srq;	   /* XRC; its ring is XRC_TGT's */
	struct side sides[SIDES];
	u8 mem[MEM_BYTES], mem_ops[MEM_BYTES];
	struct ur_av av;
	u8 tx[TX_BYTES];
	ur_time now;
	bool cq_full; /* completions are refused */
};

/* A multicast group with both UD queue pairs in it. */
extern const u8 world_group[16];

/* options: bits 0..4 turn on congestion control, out-of-order receive,
 * credits, coalescing, execution inside the device. */
struct world *world_create(u32 options);
void world_destroy(struct world *w);

/* From RESET to RTS again. */
void world_bring_up(struct world *w, int side);

/* Every invariant of every queue pair, or the test ends. */
void world_check(struct world *w);

#endif
