// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages over RC queue pairs, by programs that sleep on completion channels.
 *
 * send: each message is a SEND. One completion queue and channel for all
 * connections, as servers with a poller have it.
 *
 * ring: as Valkey 8. Bytes that are written at once are one WRITE with immediate
 * data into the reader's buffer, at the offset where the one before ended; the
 * writer keeps a copy at the same offset. A reader that has taken a buffer to
 * its end reports that by a SEND, and the writer begins again. A completion queue
 * and channel for each connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include "tests/bench/events.h"
#include "tests/verbs_pair.h"

#define RING_BYTES (1u << 20) /* Valkey's default */
#define RECVS	   128
#define SENDS	   128
/* One in so many sends is signalled. */
#define SIGNALLED 32
#define POLL	  16
/* Receives beyond those that are needed. */
#define SPARE 8

struct queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

struct address {
	union ibv_gid gid;
	u32 qpn, rkey;
	u64 ring;
};

struct verbs_link {
	struct queue queue;
	struct ibv_qp *qp;
	struct ibv_mr *in_mr, *out_mr;
	struct address peer;
	u8 *in, *out;
	u32 in_pos;	      /* ring: taken so far */
	u32 out_pos, out_len; /* written so far, of it posted */
	u32 posted;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct queue shared;

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (ctx)
		return;
	need(list && list[0], "device");
	ctx = ibv_open_device(list[0]);
	need(ctx, "open");
	pd = ibv_alloc_pd(ctx);
	need(pd, "pd");
}

static void open_queue(struct queue *q, struct link *l, u32 entries)
{
	q->channel = ibv_create_comp_channel(ctx);
	need(q->channel && !fcntl(q->channel->fd, F_SETFL, O_NONBLOCK),
	     "channel");
	q->cq = ibv_create_cq(ctx, (int)entries, NULL, q->channel, 0);
	need(q->cq && !ibv_req_notify_cq(q->cq, 0), "cq");
	watch(q->channel->fd, l);
}

/* ---- queue pairs ---- */

static void make_qp(struct verbs_link *v)
{
	struct ibv_qp_init_attr init = {
		.send_cq = v->queue.cq,
		.recv_cq = v->queue.cq,
		.cap = {SENDS, RECVS, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = pair_attr(NULL, 0);

	v->qp = ibv_create_qp(pd, &init);
	need(v->qp, "create_qp");
	need(!pair_to(v->qp, &attr, IBV_QPS_INIT), "INIT");
}

static void connect_qp(struct verbs_link *v)
{
	struct ibv_qp_attr attr = pair_attr(&v->peer.gid, v->peer.qpn);

	need(!pair_to(v->qp, &attr, IBV_QPS_RTR), "RTR");
	need(!pair_to(v->qp, &attr, IBV_QPS_RTS), "RTS");
}

static struct ibv_mr *make_buffer(u8 **buf, u64 bytes)
{
	struct ibv_mr *mr;

	bytes = (bytes + 4095) / 4096 * 4096;
	*buf = aligned_alloc(4096, bytes);
	need(*buf, "memory");
	memset(*buf, 0, bytes);
	mr = ibv_reg_mr(pd, *buf, bytes,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(mr, "reg_mr");
	return mr;
}

/* A receive for a message, or for nothing but the immediate data. */
static void post_recv(struct link *l, u32 slot, u32 bytes)
{
	struct verbs_link *v = l->own;
	struct ibv_sge sge = {(uintptr_t)v->in + (u64)slot * bytes, bytes,
			      v->in_mr->lkey};
	struct ibv_recv_wr *bad, wr = {
					 .wr_id = (u64)l->number << 32 | slot,
					 .sg_list = &sge,
					 .num_sge = bytes ? 1 : 0,
				 };

	need(!ibv_post_recv(v->qp, &wr, &bad), "post_recv");
}

static struct verbs_link *open_link(struct link *l, u64 in_bytes, u64 out_bytes)
{
	struct verbs_link *v = l->own;
	struct address mine = {0};

	v->in_mr = make_buffer(&v->in, in_bytes);
	v->out_mr = make_buffer(&v->out, out_bytes);
	make_qp(v);
	need(!ibv_query_gid(ctx, 1, 0, &mine.gid), "gid");
	mine.qpn = v->qp->qp_num;
	mine.rkey = v->in_mr->rkey;
	mine.ring = (uintptr_t)v->in;
	tell(l, &mine, sizeof(mine));
	hear(l, &v->peer, sizeof(v->peer));
	connect_qp(v);
	return v;
}

/* Nobody sends before the other has his receives. */
static void meet(struct link *l)
{
	char c = 0;

	tell(l, &c, 1);
	hear(l, &c, 1);
}

static u32 send_flags(struct verbs_link *v)
{
	return ++v->posted % SIGNALLED ? 0 : IBV_SEND_SIGNALED;
}

/* ---- completions ---- */

/* One event, then all that is in the queue. */
static void drain(struct queue *q, void (*fn)(const struct ibv_wc *wc))
{
	struct ibv_wc wc[POLL];
	struct ibv_cq *cq;
	void *context;
	int n;

	if (!ibv_get_cq_event(q->channel, &cq, &context)) {
		need(!ibv_req_notify_cq(q->cq, 0), "req_notify");
		ibv_ack_cq_events(q->cq, 1);
	} else {
		need(errno == EAGAIN, "get_cq_event");
	}
	do {
		n = ibv_poll_cq(q->cq, POLL, wc);
		need(n >= 0, "poll_cq");
		for (int i = 0; i < n; i++) {
			/* A client that is done leaves answers behind. */
			need(!wc[i].status || test.server, "completion");
			if (!wc[i].status)
				fn(&wc[i]);
		}
	} while (n == POLL);
}

/* ---- style send ---- */

static void send_open(struct link *l)
{
	struct verbs_link *v = calloc(1, sizeof(*v));

	need(v, "memory");
	l->own = v;
	open_device();
	if (!shared.cq)
		open_queue(&shared, NULL, test.links * (SENDS + RECVS));
	v->queue = shared;
	open_link(l, (u64)(test.depth + SPARE) * test.in_bytes,
		  (u64)test.depth * test.out_bytes);
	for (u32 i = 0; i < test.depth + SPARE; i++)
		post_recv(l, i, test.in_bytes);
	meet(l);
}

static void send_done(const struct ibv_wc *wc)
{
	struct link *l = &test.link[wc->wr_id >> 32];
	struct verbs_link *v = l->own;
	u32 slot = (u32)wc->wr_id;

	if (!(wc->opcode & IBV_WC_RECV))
		return;
	need(wc->byte_len == test.in_bytes, "length");
	take(l, v->in + (size_t)slot * test.in_bytes, 1);
	post_recv(l, slot, test.in_bytes);
}

static void send_ready(struct link *l)
{
	drain(&shared, send_done);
}

/* Slots in turn: who has got the message after the one in it has read it. */
static u8 *send_room(struct link *l)
{
	struct verbs_link *v = l->own;

	return v->out + (size_t)(v->out_len++ % test.depth) * test.out_bytes;
}

static void send_flush(struct link *l)
{
	struct verbs_link *v = l->own;
	struct ibv_send_wr wr[64], *bad;
	struct ibv_sge sge[64];
	u32 n = 0;

	for (; v->out_pos != v->out_len; v->out_pos++, n++) {
		u32 slot = v->out_pos % test.depth;

		sge[n] = (struct ibv_sge){(uintptr_t)v->out +
						  (u64)slot * test.out_bytes,
					  test.out_bytes, v->out_mr->lkey};
		wr[n] = (struct ibv_send_wr){
			.wr_id = (u64)l->number << 32,
			.sg_list = &sge[n],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = send_flags(v),
		};
		if (n)
			wr[n - 1].next = &wr[n];
	}
	need(!n || !ibv_post_send(v->qp, wr, &bad), "post_send");
}

const struct style style_send = {
	.name = "send",
	.open = send_open,
	.ready = send_ready,
	.room = send_room,
	.flush = send_flush,
};

/* ---- style ring ---- */

static void ring_open(struct link *l)
{
	struct verbs_link *v = calloc(1, sizeof(*v));

	need(v, "memory");
	l->own = v;
	open_device();
	open_queue(&v->queue, l, SENDS + RECVS);
	open_link(l, RING_BYTES, RING_BYTES);
	for (u32 i = 0; i < RECVS; i++)
		post_recv(l, 0, 0);
	meet(l);
}

static void give_back(struct verbs_link *v)
{
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_SEND,
					 .send_flags = send_flags(v),
				 };

	need(!ibv_post_send(v->qp, &wr, &bad), "post_send");
}

static void ring_done(const struct ibv_wc *wc)
{
	struct link *l = &test.link[wc->wr_id >> 32];
	struct verbs_link *v = l->own;

	if (!(wc->opcode & IBV_WC_RECV))
		return;
	post_recv(l, 0, 0);
	if (wc->opcode == IBV_WC_RECV) { /* given back: from its start again */
		v->out_pos = v->out_len = 0;
		return;
	}
	need(wc->byte_len && wc->byte_len % test.in_bytes == 0 &&
		     v->in_pos + wc->byte_len <= RING_BYTES,
	     "length");
	take(l, v->in + v->in_pos, wc->byte_len / test.in_bytes);
	v->in_pos += wc->byte_len;
	if (v->in_pos < RING_BYTES)
		return;
	v->in_pos = 0;
	give_back(v);
}

static void ring_ready(struct link *l)
{
	struct verbs_link *v = l->own;

	drain(&v->queue, ring_done);
}

/* The buffer's length is a multiple of a message's (both are powers of two). */
static u8 *ring_room(struct link *l)
{
	struct verbs_link *v = l->own;
	u8 *at = v->out + v->out_len;

	if (v->out_len == RING_BYTES)
		return NULL;
	v->out_len += test.out_bytes;
	return at;
}

static void ring_flush(struct link *l)
{
	struct verbs_link *v = l->own;
	u32 bytes = v->out_len - v->out_pos;
	struct ibv_sge sge = {(uintptr_t)v->out + v->out_pos, bytes,
			      v->out_mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.send_flags = send_flags(v),
			.imm_data = bytes,
			.wr.rdma = {v->peer.ring + v->out_pos, v->peer.rkey},
		};

	if (!bytes)
		return;
	need(!ibv_post_send(v->qp, &wr, &bad), "post_send");
	v->out_pos = v->out_len;
}

const struct style style_ring = {
	.name = "ring",
	.open = ring_open,
	.ready = ring_ready,
	.room = ring_room,
	.flush = ring_flush,
	.asks = true,
};
