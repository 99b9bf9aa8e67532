// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The cost of one message in the transport, for counting instructions:
 *
 *	budget packets|loop BYTES MESSAGES
 *
 * RC WRITEs from one queue pair to another: through packets between two ports
 * (requester, responder, completer; no ICRC, no sockets), or by the in-device
 * path of one port. All work happens in measure().
 */
#include <stdio.h>
#include <stdlib.h>
#include "tests/check.h"
#include "tests/qp_walk.h"
#include "tests/transport_host.h"

#define MEM_BYTES (1u << 20)
#define TX_BYTES  (128u << 10)

struct side {
	struct ur_port *port;
	struct ur_qp *qp;
	struct ur_mr *mr;
	u8 *mem;
	u32 posted, taken, done;
};

static u32 bytes, remote_key;
static u64 remote_addr;

/* Not inlined: callgrind switches collection on by its name. */
void measure(struct side *a, struct side *b, u32 messages);

static int sq_next(void *ctx, struct ur_send_wr *wr)
{
	struct side *s = ctx;

	if (s->taken == s->posted)
		return 0;
	memset(wr, 0, offsetof(struct ur_send_wr, sge));
	wr->wqe_counter = s->taken++;
	wr->ring_end = s->taken;
	wr->opcode = UR_WR_WRITE;
	wr->flags = UR_WR_F_SIGNALED;
	wr->num_sge = 1;
	wr->raddr = remote_addr;
	wr->rkey = remote_key;
	wr->sge[0].addr = (uintptr_t)s->mem;
	wr->sge[0].length = bytes;
	wr->sge[0].lkey = ur_mr_key(s->mr);
	return 1;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	CHECK_EQ(wc->status, UR_WC_SUCCESS);
	((struct side *)ctx)->done++;
	return 0;
}

static const struct ur_host_ops ops = IDLE_HOST(sq_next, cq_push);

static struct ur_port *make_port(u64 seed)
{
	struct ur_port_config c = {
		.seed = seed,
		.mtu_bytes = 1024,
		.max_qp = 64,
		.max_mr = 64,
		.first_qpn = 17,
		.ooo = true,
		.loop = true,
		.coalesce = true,
		.fast = true,
		.burst_pkts = 64,
		.burst_bytes = 65000,
		.ops = &ops,
	};
	struct ur_port *p = ur_port_create(&c);

	CHECK(p != NULL);
	return p;
}

static void make_side(struct side *s, struct ur_port *port)
{
	struct ur_mr_attr mr = {.pd = 1,
				.access = UR_ACCESS_LOCAL_WRITE |
					  UR_ACCESS_REMOTE_WRITE};
	struct ur_qp_init init = qp_init_of(UR_QPT_RC, 1, s);

	s->port = port;
	s->mem = aligned_alloc(4096, MEM_BYTES);
	CHECK(s->mem != NULL);
	memset(s->mem, 7, MEM_BYTES);
	mr.iova = (uintptr_t)s->mem;
	mr.length = MEM_BYTES;
	mr.direct = s->mem;
	CHECK_EQ(ur_mr_create(port, &mr, &s->mr), 0);
	CHECK_EQ(ur_qp_create(port, &init, &s->qp), 0);
}

static void connect_side(struct side *s, struct side *to, bool loop)
{
	static struct ur_av av = {.v4 = true, .hop_limit = 64, .refs = 1000};
	struct ur_qp_attr a = qp_attr_to(ur_qp_number(to->qp), &av);

	av.loop = loop;
	CHECK_EQ(qp_walk_to(s->qp, 1, &a, UR_QP_RTS), 0);
}

static u8 buf[TX_BYTES];
static struct ur_tx_desc desc[256];

/* Everything from one port to the other. */
static void carry(struct side *from, struct side *to, ur_time now)
{
	static const struct ur_rx_meta meta = {.v4 = true, .ttl = 64};
	bool more;

	do {
		struct ur_tx tx = {.buf = buf,
				   .cap = sizeof(buf),
				   .desc = desc,
				   .max_desc = 256};

		more = ur_port_tx(from->port, now, &tx);
		for (u32 i = 0; i < tx.n_desc; i++)
			ur_port_rx(to->port, now, &meta, buf + desc[i].off,
				   desc[i].len);
	} while (more);
}

void __attribute__((noinline))
measure(struct side *a, struct side *b, u32 messages)
{
	ur_time now = 1000;

	while (a->done < messages) {
		a->posted = ur_min_u32(messages, a->done + 16);
		ur_qp_kick(a->qp);
		carry(a, b, now++);
		if (a->port != b->port)
			carry(b, a, now++);
	}
}

int main(int argc, char **argv)
{
	bool loop = argc > 1 && !strcmp(argv[1], "loop");
	u32 messages = argc > 3 ? (u32)atoi(argv[3]) : 0;
	static struct side a, b;

	bytes = argc > 3 ? (u32)atoi(argv[2]) : 0;
	CHECK(messages && bytes <= MEM_BYTES);
	make_side(&a, make_port(1));
	make_side(&b, loop ? a.port : make_port(2));
	remote_key = ur_mr_key(b.mr);
	remote_addr = (uintptr_t)b.mem;
	connect_side(&a, &b, loop);
	connect_side(&b, &a, loop);
	measure(&a, &b, messages);
	printf("%u messages of %u bytes\n", a.done, bytes);
	return 0;
}
