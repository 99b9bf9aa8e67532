// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define WT_OWN_LINES
#include <errno.h>
#include "tests/scenario/transport/wiretap.h"

#include "tests/qp_walk.h"
#include "util/rng.h"

#define TX_BYTES (256u << 10)
#define TX_DESCS 128

static struct ur_rng drops = {.state = 1};

u8 wt_pattern(u32 i)
{
	return (u8)(i * 7 + (i >> 8) + 3);
}

static void set_gid(u8 gid[16], u8 last)
{
	static const u8 v4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 0};

	memcpy(gid, v4, 16);
	gid[15] = last;
}

void wt_config(struct wt *w, int side)
{
	*w = (struct wt){0};
	w->cfg = (struct ur_port_config){
		.seed = 1 + (u64)side,
		.mtu_bytes = 4096,
		.max_qp = 256,
		.max_mr = 256,
		.first_qpn = 0x11,
		.coalesce = true,
		.fast = true,
		.ops = &wt_host_ops,
		.ctx = w,
	};
	set_gid(w->av.sgid, (u8)(1 + side));
	set_gid(w->av.dgid, (u8)(2 - side));
	w->av.v4 = true;
	w->av.hop_limit = 64;
	w->av.refs = 1;
	memcpy(w->meta.saddr, w->av.dgid, 16);
	memcpy(w->meta.daddr, w->av.sgid, 16);
	w->meta.v4 = true;
	w->meta.ttl = 64;
	w->now = 1000 * WT_MS;
}

void wt_loop(struct wt *w)
{
	w->cfg.loop = true;
	w->av.loop = true;
	memcpy(w->av.dgid, w->av.sgid, 16);
	memcpy(w->meta.saddr, w->av.sgid, 16);
}

static int mem_read(void *mem, u64 off, void *dst, u32 len)
{
	struct wt *w = mem;

	CHECK(off <= WT_MEM_BYTES && len <= WT_MEM_BYTES - off);
	w->reads++;
	w->alone++;
	if (w->faults && len >= w->faults)
		return -EFAULT;
	memcpy(dst, w->mem + off, len);
	return 0;
}

static int mem_write(void *mem, u64 off, const void *src, u32 len)
{
	struct wt *w = mem;

	CHECK(off <= WT_MEM_BYTES && len <= WT_MEM_BYTES - off);
	w->writes++;
	memcpy(w->mem + off, src, len);
	return 0;
}

static void ahead(void *mem, u64 off, u64 len, const void *reader)
{
	struct wt *w = mem;

	CHECK(off <= WT_MEM_BYTES && len <= WT_MEM_BYTES - off);
	w->announced.reader = reader;
	w->announced.next = off;
	w->announced.end = off + len;
	w->announced.times++;
}

static bool is_announced(const struct wt *w, u64 off, u32 bytes,
			 const void *reader)
{
	return reader && reader == w->announced.reader &&
	       off == w->announced.next && bytes <= w->announced.end - off;
}

static int read_pieces(void *mem, u64 off, const struct ur_pieces *to)
{
	struct wt *w = mem;
	u32 bytes = to->n * to->len;

	if (!w->pieces)
		return -EOPNOTSUPP;
	CHECK(off <= WT_MEM_BYTES && bytes <= WT_MEM_BYTES - off);
	w->reads++;
	if (is_announced(w, off, bytes, to->reader))
		w->announced.next += bytes;
	else
		w->alone++;
	if (w->faults && bytes >= w->faults)
		return -EFAULT;
	for (u32 i = 0; i < to->n; i++)
		memcpy(to->first + i * to->stride, w->mem + off + i * to->len,
		       to->len);
	return 0;
}

static int write_pieces(void *mem, u64 off, const struct ur_pieces *from)
{
	struct wt *w = mem;

	if (!w->pieces)
		return -EOPNOTSUPP;
	CHECK(off <= WT_MEM_BYTES && from->n * from->len <= WT_MEM_BYTES - off);
	w->writes++;
	for (u32 i = 0; i < from->n; i++)
		memcpy(w->mem + off + i * from->len,
		       from->first + i * from->stride, from->len);
	return 0;
}

#define MEM_OPS                                                    \
	.bears_frail = true, .read = mem_read, .write = mem_write, \
	.read_pieces = read_pieces, .write_pieces = write_pieces

static const struct ur_mem_ops mem_ops = {MEM_OPS};
static const struct ur_mem_ops ahead_ops = {MEM_OPS, .ahead = ahead};

/* Returns the pattern of a whole memory, made once: some scenarios call wt_open() thousands of times. */
static const u8 *filled(void)
{
	static u8 bytes[WT_MEM_BYTES];

	if (!bytes[0]) /* the first of the pattern is not 0 */
		for (u32 i = 0; i < WT_MEM_BYTES; i++)
			bytes[i] = wt_pattern(i);
	return bytes;
}

void wt_open(struct wt *w)
{
	struct ur_mr_attr attr = {
		.pd = WT_PD,
		.access = 0x31f,
		.iova = WT_IOVA,
		.length = WT_MEM_BYTES,
	};

	w->mem = aligned_alloc(4096, WT_MEM_BYTES);
	w->tx_buf = malloc(TX_BYTES);
	w->out = malloc(WT_OUT * sizeof(*w->out));
	CHECK(w->mem && w->tx_buf && w->out);
	memcpy(w->mem, filled(), WT_MEM_BYTES);
	attr.access &= ~(u32)UR_ACCESS_ZERO_BASED;
	attr.direct = w->copied ? NULL : w->mem;
	attr.ops = w->ahead ? &ahead_ops : &mem_ops;
	attr.mem = w;
	w->port = ur_port_create(&w->cfg);
	CHECK(w->port);
	CHECK_EQ(ur_mr_create(w->port, &attr, &w->mr), 0);
	w->key = ur_mr_key(w->mr);
}

void wt_close(struct wt *w)
{
	CHECK_EQ(ur_mr_destroy(w->mr), 0);
	ur_port_destroy(w->port);
	free(w->mem);
	free(w->tx_buf);
	free(w->out);
}

void wt_stop(struct wt *w, struct wt_qp *q)
{
	CHECK(!ur_qp_check(q->qp));
	ur_qp_destroy(q->qp);
	wt_close(w);
}

/* ---- queue pairs ---- */

void wt_qp_create(struct wt *w, struct wt_qp *q, enum ur_qp_type type,
		  void (*tune)(struct ur_qp_init *init))
{
	struct ur_qp_init init = qp_init_of(type, WT_PD, q);

	init.max_inline = 512;
	*q = (struct wt_qp){
		.ring = {.send = q->send, .places = WT_RING},
		.wt = w,
		.cq_room = WT_RING,
	};
	if (tune)
		tune(&init);
	CHECK_EQ(ur_qp_create(w->port, &init, &q->qp), 0);
}

struct ur_qp_attr wt_attr(const struct wt *w, u32 dqpn, u32 sq_psn, u32 rq_psn)
{
	struct ur_qp_attr a = qp_attr_to(dqpn, (struct ur_av *)&w->av);

	a.path_mtu = 256;
	a.qkey = 0x11111111;
	a.rq_psn = rq_psn;
	a.sq_psn = sq_psn;
	return a;
}

void wt_to_rtr(struct wt_qp *q, const struct ur_qp_attr *a)
{
	CHECK_EQ(qp_walk_to(q->qp, q->wt->now, a, UR_QP_RTR), 0);
}

void wt_to_rts(struct wt_qp *q, const struct ur_qp_attr *a)
{
	CHECK_EQ(qp_walk_to(q->qp, q->wt->now, a, UR_QP_RTS), 0);
}

void wt_rts(struct wt *w, struct wt_qp *q, enum ur_qp_type type, u32 dqpn,
	    u32 sq_psn, u32 rq_psn)
{
	struct ur_qp_attr a = wt_attr(w, dqpn, sq_psn, rq_psn);

	wt_qp_create(w, q, type, NULL);
	wt_to_rts(q, &a);
}

void wt_pair(struct wt *w, struct wt_qp *q, struct wt_qp *r,
	     enum ur_qp_type type, u32 psn)
{
	struct ur_qp_attr a;

	wt_qp_create(w, q, type, NULL);
	wt_qp_create(w, r, type, NULL);
	a = wt_attr(w, r->qp->qpn, psn, psn);
	wt_to_rts(q, &a);
	a = wt_attr(w, q->qp->qpn, psn, psn);
	wt_to_rts(r, &a);
}

/* ---- work ---- */

struct ur_send_wr *wt_post(struct wt_qp *q, u8 opcode, u32 off, u32 len)
{
	struct ur_send_wr wr = {
		.wr_id = 0x1000 + q->ring.send_tail,
		.opcode = opcode,
		.flags = UR_WR_F_SIGNALED,
		.num_sge = len ? 1 : 0,
		.sge[0] = {WT_IOVA + off, len, q->wt->key},
	};

	return ring_post(&q->ring, &wr);
}

void wt_kick(struct wt_qp *q)
{
	ur_qp_kick(q->qp);
	wt_run(q->wt);
}

void wt_work(struct wt_qp *q)
{
	while (q->ring.send_tail - q->ring.retired < 8) {
		struct ur_send_wr *wr = wt_post(q, UR_WR_WRITE, 0, 256 * 256);

		wr->raddr = WT_IOVA;
		wr->rkey = 0xabcd;
	}
	ur_qp_kick(q->qp);
	q->wc_head = q->wc_tail;
}

void wt_post_recv(struct wt_qp *q, u32 off, u32 len)
{
	struct ur_recv_wr *wr = &q->recv[q->ring.recv_tail % WT_RING];

	*wr = (struct ur_recv_wr){
		.wr_id = 0x2000 + q->ring.recv_tail,
		.wqe_counter = q->ring.recv_tail,
		.num_sge = 1,
		.sge[0] = {WT_IOVA + off, len, q->wt->key},
	};
	q->ring.recv_tail++;
	if (q->ring.want_kick && q->qp)
		ur_qp_rq_kick(q->qp);
}

/* ---- wire ---- */

struct ur_pkt wt_pkt(const struct wt_qp *q, u8 opcode, u32 psn, u32 bytes)
{
	return (struct ur_pkt){.opcode = opcode,
			       .dqpn = q->qp->qpn,
			       .psn = psn,
			       .payload_bytes = bytes,
			       .va = WT_REMOTE,
			       .rkey = q->wt->key};
}

void wt_ack(struct wt *w, const struct wt_qp *q, u32 psn, u8 syndrome)
{
	struct ur_pkt pkt = wt_pkt(q, UR_OP_RC_ACK, psn, 0);

	pkt.syndrome = syndrome;
	wt_feed(w, pkt, NULL);
}

void wt_arrive(struct wt *w, struct ur_pkt pkt, const void *payload)
{
	u8 bytes[UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES * 2];
	u32 len;

	if (!pkt.pkey)
		pkt.pkey = UR_PKEY_DEFAULT;
	len = (u32)ur_pkt_build(&pkt, bytes);
	for (u32 i = 0; !payload && i < pkt.payload_bytes; i++)
		bytes[len + i] = wt_pattern(i);
	if (payload)
		memcpy(bytes + len, payload, pkt.payload_bytes);
	len += pkt.payload_bytes;
	memset(bytes + len, 0, ur_pkt_pad(pkt.payload_bytes));
	len += ur_pkt_pad(pkt.payload_bytes);
	ur_port_rx(w->port, w->now, &w->meta, bytes, len);
}

void wt_feed(struct wt *w, struct ur_pkt pkt, const void *payload)
{
	wt_arrive(w, pkt, payload);
	wt_run(w);
}

/* only: a queue pair whose turns alone are run, or NULL. */
static void run(struct wt *w, struct ur_qp *only)
{
	struct ur_tx_desc desc[TX_DESCS];
	bool more = true;

	for (u32 turn = 0; more; turn++) {
		struct ur_tx tx = {.buf = w->tx_buf,
				   .cap = TX_BYTES,
				   .desc = desc,
				   .max_desc = TX_DESCS};

		CHECK(turn < 10000);
		more = only ? ur_port_tx_qp(only, w->now, &tx)
			    : ur_port_tx(w->port, w->now, &tx);
		for (u32 i = 0; i < tx.n_desc; i++) {
			struct wt_packet *p = &w->out[w->out_tail % WT_OUT];

			CHECK(w->out_tail - w->out_head < WT_OUT);
			w->out_tail++;
			p->len = desc[i].len;
			p->tos = desc[i].av->traffic_class;
			memcpy(p->bytes, tx.buf + desc[i].off, p->len);
			CHECK_EQ(ur_pkt_parse(&p->pkt, p->bytes, p->len),
				 UR_PKT_OK);
		}
	}
}

void wt_run(struct wt *w)
{
	run(w, NULL);
}

void wt_run_alone(struct wt_qp *q)
{
	ur_qp_kick(q->qp);
	run(q->wt, q->qp);
}

void wt_sleep(struct wt *w, u64 ns)
{
	ur_time end = w->now + ns;

	while (ur_port_deadline(w->port) <= end) {
		if (ur_port_deadline(w->port) > w->now)
			w->now = ur_port_deadline(w->port);
		ur_port_expire(w->port, w->now);
		wt_run(w);
	}
	w->now = end;
	wt_run(w);
}

struct wt_packet *wt_next(struct wt *w)
{
	CHECK(w->out_head != w->out_tail);
	return &w->out[w->out_head++ % WT_OUT];
}

struct wt_packet *wt_expect(struct wt *w, u8 opcode, u32 psn)
{
	struct wt_packet *p = wt_next(w);

	CHECK_EQ(p->pkt.opcode, opcode);
	CHECK_EQ(p->pkt.psn, psn);
	return p;
}

struct wt_packet *wt_expect_ack(struct wt *w, u8 syndrome, u32 psn)
{
	struct wt_packet *p = wt_expect(w, UR_OP_RC_ACK, psn);

	CHECK_EQ(p->pkt.syndrome, syndrome);
	return p;
}

void wt_silence(struct wt *w)
{
	wt_run(w);
	if (w->out_head != w->out_tail)
		fprintf(stderr, "a packet: %s psn %u\n",
			w->out[w->out_head % WT_OUT].pkt.op->name,
			w->out[w->out_head % WT_OUT].pkt.psn);
	CHECK_EQ(w->out_tail - w->out_head, 0);
}

struct ur_wc wt_wc(struct wt_qp *q, u8 status)
{
	struct ur_wc wc;

	CHECK(q->wc_head != q->wc_tail);
	wc = q->wc[q->wc_head++ % WT_RING];
	CHECK_EQ(wc.status, status);
	return wc;
}

void wt_no_wc(struct wt_qp *q)
{
	CHECK_EQ(q->wc_tail - q->wc_head, 0);
}

/* ---- two ports ---- */

static bool deliver(struct wt *from, struct wt *to, u32 drop)
{
	bool any = false;

	wt_run(from);
	to->now = from->now;
	while (from->out_head != from->out_tail) {
		struct wt_packet *p = wt_next(from);

		any = true;
		if (drop && ur_rng_below(&drops, drop) == 0)
			continue;
		ur_port_rx(to->port, to->now, &to->meta, p->bytes, p->len);
	}
	return any;
}

void wt_pump(struct wt *a, struct wt *b, u32 drop)
{
	bool any;

	do {
		any = deliver(a, b, drop);
		any |= deliver(b, a, drop);
	} while (any);
}

void wt_pump_for(struct wt *a, struct wt *b, u32 drop, u64 ns)
{
	ur_time end = a->now + ns;

	for (;;) {
		ur_time at;

		wt_pump(a, b, drop);
		at = ur_port_deadline(a->port);
		if (ur_port_deadline(b->port) < at)
			at = ur_port_deadline(b->port);
		if (at > end)
			break;
		if (at > a->now)
			a->now = b->now = at;
		ur_port_expire(a->port, a->now);
		ur_port_expire(b->port, b->now);
	}
	a->now = b->now = end;
}
