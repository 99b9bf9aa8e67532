// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hosts: the loop that a device process would run, in virtual time, and the
 * callbacks by which the transport reaches queues and memory.
 */
#include "tests/sim/transport/world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/link.h"
#include "tests/sim/transport/oracle.h"
#include "tests/sim/transport/workload.h"
#include "transport/qp.h"

/* A call of ur_port_tx that neither sends nor ends is a livelock. */
#define TX_CALLS_MAX 100000

void sim_fail(struct sim_world *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->verdict, sizeof(w->verdict), format, args);
	va_end(args);
	longjmp(w->failed, 1);
}

void *sim_zalloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

ur_time sim_exp(struct ur_rng *rng, ur_time mean)
{
	/* Sum of two geometric draws is near enough, and needs no math. */
	u32 bits = (u32)(ur_rng_u64(rng) >> 40);
	ur_time t = 0;

	if (!mean)
		return 0;
	for (int i = 0; i < 8 && (bits & 1); i++, bits >>= 1)
		t += mean;
	return t + ur_rng_below(rng, (u32)ur_min_u64(mean, UINT32_MAX));
}

bool sim_chance(struct ur_rng *rng, u32 per_million)
{
	return per_million && ur_rng_below(rng, 1000000) < per_million;
}

/* ------------------------------------------------------------------ */
/* Memory                                                              */

static int region_read(void *mem, u64 off, void *dst, u32 len)
{
	struct sim_region *r = mem;
	struct sim_world *w = r->host->w;

	SIM_CHECK(w, r->mr, "read of memory that is deregistered");
	SIM_CHECK(w, off <= r->bytes && len <= r->bytes - off,
		  "read outside a region: %llu+%u of %llu",
		  (unsigned long long)off, len, (unsigned long long)r->bytes);
	memcpy(dst, r->base + off, len);
	return 0;
}

static int region_write(void *mem, u64 off, const void *src, u32 len)
{
	struct sim_region *r = mem;
	struct sim_world *w = r->host->w;

	SIM_CHECK(w, r->mr, "write of memory that is deregistered");
	SIM_CHECK(w, off <= r->bytes && len <= r->bytes - off,
		  "write outside a region: %llu+%u of %llu",
		  (unsigned long long)off, len, (unsigned long long)r->bytes);
	if (len && r->on_write)
		r->on_write(r, off, src, len);
	memcpy(r->base + off, src, len);
	return 0;
}

static void forget_ahead(struct sim_region *r)
{
	free(r->ahead.bytes);
	r->ahead.bytes = NULL;
}

/* As where copies take their time: all are made now. */
static void region_ahead(void *mem, u64 off, u64 len, const void *reader)
{
	struct sim_region *r = mem;

	forget_ahead(r);
	r->ahead.bytes = malloc(len);
	if (!r->ahead.bytes)
		abort();
	region_read(mem, off, r->ahead.bytes, (u32)len);
	r->ahead.reader = reader;
	r->ahead.from = r->ahead.next = off;
	r->ahead.end = off + len;
}

static bool is_ahead(const struct sim_region *r, u64 off,
		     const struct ur_pieces *to)
{
	return r->ahead.bytes && to->reader && to->reader == r->ahead.reader &&
	       off == r->ahead.next &&
	       (u64)to->n * to->len <= r->ahead.end - off;
}

static int region_read_pieces(void *mem, u64 off, const struct ur_pieces *to)
{
	struct sim_region *r = mem;

	if (is_ahead(r, off, to)) {
		for (u32 i = 0; i < to->n; i++)
			memcpy(to->first + (size_t)i * to->stride,
			       r->ahead.bytes + (off - r->ahead.from) +
				       (u64)i * to->len,
			       to->len);
		r->ahead.next += (u64)to->n * to->len;
		return 0;
	}
	if (to->n % 2) /* now and then it is as good to copy all at once */
		return -EOPNOTSUPP;
	for (u32 i = 0; i < to->n; i++)
		region_read(mem, off + (u64)i * to->len,
			    to->first + (size_t)i * to->stride, to->len);
	return 0;
}

static int region_write_pieces(void *mem, u64 off, const struct ur_pieces *from)
{
	if (from->n % 2)
		return -EOPNOTSUPP;
	for (u32 i = 0; i < from->n; i++)
		region_write(mem, off + (u64)i * from->len,
			     from->first + (size_t)i * from->stride, from->len);
	return 0;
}

static int region_cas(void *mem, u64 off, u64 compare, u64 compare_mask,
		      u64 swap, u64 swap_mask, u64 *old)
{
	struct sim_region *r = mem;
	u64 *p = (u64 *)(r->base + off);

	SIM_CHECK(r->host->w, off % 8 == 0 && off + 8 <= r->bytes,
		  "atomic outside a region or misaligned");
	*old = *p;
	if (!((*old ^ compare) & compare_mask))
		*p = (*old & ~swap_mask) | (swap & swap_mask);
	oracle_atomic(r, off, false, swap, *old);
	return 0;
}

/* Each set bit of boundary_mask ends a field: no carry goes past it. */
static u64 masked_add(u64 a, u64 b, u64 boundary)
{
	u64 sum = 0, carry = 0;

	for (int i = 0; i < 64; i++) {
		u64 s = ((a >> i) & 1) + ((b >> i) & 1) + carry;

		sum |= (s & 1) << i;
		carry = (boundary >> i) & 1 ? 0 : s >> 1;
	}
	return sum;
}

static int region_faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	struct sim_region *r = mem;
	u64 *p = (u64 *)(r->base + off);

	SIM_CHECK(r->host->w, off % 8 == 0 && off + 8 <= r->bytes,
		  "atomic outside a region or misaligned");
	*old = *p;
	*p = masked_add(*old, add, boundary_mask);
	oracle_atomic(r, off, true, add, *old);
	return 0;
}

static int region_flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0;
}

#define REGION_OPS                                              \
	.read = region_read, .write = region_write,             \
	.read_pieces = region_read_pieces,                      \
	.write_pieces = region_write_pieces, .cas = region_cas, \
	.faa = region_faa, .flush = region_flush

static const struct ur_mem_ops region_ops = {REGION_OPS};
static const struct ur_mem_ops ahead_ops = {REGION_OPS, .ahead = region_ahead};

void sim_region_init(struct sim_region *r, struct sim_host *h, u64 bytes,
		     u32 access, struct ur_rng *rng)
{
	*r = (struct sim_region){
		.host = h,
		.base = aligned_alloc(64, ur_align_up(bytes, 64)),
		.bytes = bytes,
		.iova = (ur_rng_u64(rng) >> 8) & ~63ull,
		.pd = 1,
		.access = access,
		.direct = ur_rng_below(rng, 3) == 0,
	};
	if (!r->base)
		abort();
	/* Now and then right below the end of the address space. */
	if (ur_rng_below(rng, 8) == 0)
		r->iova = 0 - (ur_align_up(bytes, 64) + 64);
}

void sim_region_fill(struct sim_region *r, struct ur_rng *rng)
{
	for (u64 i = 0; i < ur_align_up(r->bytes, 64); i += 8) {
		u64 v = ur_rng_u64(rng);

		memcpy(r->base + i, &v, 8);
	}
}

void sim_region_leave(struct sim_region *r, struct ur_rng *rng)
{
	ur_rng_skip(rng, ur_align_up(r->bytes, 64) / 8);
}

/* Half of those that are not mapped are read ahead; nothing is drawn for it. */
static const struct ur_mem_ops *ops_of(const struct sim_region *r)
{
	return r->direct ? NULL : r->iova & 64 ? &ahead_ops : &region_ops;
}

void sim_region_register(struct sim_region *r)
{
	struct ur_mr_attr attr = {
		.pd = r->pd,
		.access = r->access,
		.iova = r->iova,
		.length = r->bytes,
		.direct = r->direct ? r->base : NULL,
		.ops = ops_of(r),
		.mem = r,
	};
	int err = ur_mr_create(r->host->port, &attr, &r->mr);

	SIM_CHECK(r->host->w, !err, "ur_mr_create: %d", err);
	r->key = ur_mr_key(r->mr);
}

void sim_region_fini(struct sim_region *r)
{
	if (r->mr && r->host->port) {
		int err = ur_mr_destroy(r->mr);

		SIM_CHECK(r->host->w, !err, "ur_mr_destroy: %d", err);
	}
	forget_ahead(r);
	free(r->base);
	*r = (struct sim_region){0};
}

bool sim_region_holds(const struct sim_region *r, u64 addr, u64 bytes)
{
	return addr - r->iova <= r->bytes && bytes <= r->bytes &&
	       addr - r->iova <= r->bytes - bytes;
}

/* ------------------------------------------------------------------ */
/* Callbacks                                                           */

static void port_trace(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b)
{
	struct sim_host *h = port_ctx;

	sim_trace(&h->w->trace, h->w->now, "point", (u64)h->index << 32 | id,
		  qpn, a, b);
}

static const struct ur_host_ops host_ops = {
	.sq_next = endpoint_sq_next,
	.sq_retire = endpoint_sq_retire,
	.rq_next = endpoint_rq_next,
	.rq_count = endpoint_rq_count,
	.rq_want_kick = endpoint_rq_want_kick,
	.cq_push = endpoint_cq_push,
	.qp_event = endpoint_qp_event,
	.srq_event = endpoint_srq_event,
	.trace = port_trace,
};

/* ------------------------------------------------------------------ */
/* Hosts                                                               */

struct ur_av *sim_host_av(struct sim_host *h, struct sim_host *to)
{
	struct ur_av *av = calloc(1, sizeof(*av));

	if (!av)
		abort();
	memcpy(av->sgid, h->gid, 16);
	memcpy(av->dgid, to->gid, 16);
	av->udp_sport = 0xc000 | (h->index << 4) | to->index;
	av->traffic_class = UR_ECN_ECT0;
	av->hop_limit = 64;
	av->v4 = h->w->kind == UR_FRAME_V4;
	av->v1 = h->w->kind == UR_FRAME_V1;
	av->loop = h == to;
	av->refs = 1;
	return av;
}

struct sim_host *sim_host_of_gid(struct sim_world *w, const u8 *gid)
{
	for (u32 i = 0; i < w->n_hosts; i++)
		if (!memcmp(w->host[i].gid, gid, 16))
			return &w->host[i];
	return NULL;
}

void sim_host_start(struct sim_host *h)
{
	struct sim_world *w = h->w;

	h->config.seed = ur_rng_u64(&h->rng);
	h->config.secret[0] = h->config.seed;
	h->config.secret[1] = ~h->config.seed;
	h->config.mtu_bytes = w->mtu;
	h->config.max_qp = 64;
	h->config.max_mr = 256;
	h->config.first_qpn = 17 + 1000 * h->index;
	h->config.node_guid = 0x0200000000000000ull + h->index;
	h->config.ops = &host_ops;
	h->config.ctx = h;
	ur_list_init(&h->aside.senders);
	h->port = ur_port_create(&h->config);
	SIM_CHECK(w, h->port, "ur_port_create failed");
	h->starts++;
	sim_trace(&w->trace, w->now, "start", h->index, h->starts, 0, 0);
}

void sim_host_stop(struct sim_host *h)
{
	sim_trace(&h->w->trace, h->w->now, "stop", h->index, h->starts, 0, 0);
	sim_host_send_aside(h);
	ur_port_destroy(h->port);
	h->port = NULL;
}

static void receive(struct sim_host *h)
{
	struct sim_frame *f;

	while ((f = h->rx_head)) {
		struct ur_frame frame;
		struct ur_rx_meta meta;

		h->rx_head = f->next;
		if (!h->rx_head)
			h->rx_tail = NULL;
		h->rx_count--;
		if (link_receive(h->w, f, &frame, &meta)) {
			oracle_rx(h, &frame);
			ur_port_rx(h->port, h->w->now, &meta, frame.bth,
				   (u32)frame.bth_bytes);
			h->w->n_rx++;
		} else {
			ur_port_count(h->port, UR_CNT_rx_icrc_encapsulated, 1);
		}
		link_free(f);
	}
}

static void send_frame(struct sim_host *h, const u8 *buf,
		       const struct ur_tx_desc *d)
{
	h->tx_free = link_send(h, d->av, buf + d->off, d->len, h->tx_free);
	h->w->n_tx++;
}

void sim_host_send_aside(struct sim_host *h)
{
	struct sim_aside *a = &h->aside;

	if (h->tx_free < h->w->now)
		h->tx_free = h->w->now;
	for (u32 i = 0; i < a->n; i++) {
		send_frame(h, a->buf, &a->desc[i]);
		ur_av_put((struct ur_av *)a->desc[i].av);
	}
	if (!a->n)
		return;
	a->n = 0;
	ur_port_go_on(h->port, &a->senders);
	sim_host_wake(h, h->w->now);
}

/* Leaves every other fill to a later run. Returns whether the fill was one. */
static bool leave_aside(struct sim_host *h, const struct ur_tx *tx)
{
	struct sim_aside *a = &h->aside;

	if (!tx->senders || !tx->n_desc)
		return false;
	for (a->n = 0; a->n < tx->n_desc; a->n++)
		ur_av_get((struct ur_av *)a->desc[a->n].av);
	h->aside_at = h->w->now + ur_rng_below(&h->rng, 100000);
	return true;
}

/* Offer as much room as the line takes at once. */
static void transmit(struct sim_host *h)
{
	static u8 buf[SIM_TX_BYTES];
	struct ur_tx_desc desc[SIM_TX_PACKETS];
	struct sim_world *w = h->w;
	bool more = true;
	bool leave;
	u32 calls = 0;

	while (more && h->tx_free <= w->now) {
		bool aside = w->options.aside == 1 && !h->aside.n;
		struct ur_tx tx = {
			.buf = aside ? h->aside.buf : buf,
			.cap = w->mtu + 100 +
			       ur_rng_below(&h->rng, sizeof(buf) - w->mtu - 99),
			.desc = aside ? h->aside.desc : desc,
			.max_desc = 1 + ur_rng_below(&h->rng, SIM_TX_PACKETS),
			.senders = aside ? &h->aside.senders : NULL,
		};

		SIM_CHECK(w, ++calls < TX_CALLS_MAX,
			  "host %u: ur_port_tx never ends", h->index);
		more = ur_port_tx(h->port, w->now, &tx);
		SIM_CHECK(w, tx.n_desc <= tx.max_desc && tx.used <= tx.cap,
			  "ur_port_tx overran its room: %u of %u, %u of %u",
			  tx.n_desc, tx.max_desc, tx.used, tx.cap);
		leave = leave_aside(h, &tx);
		for (u32 i = 0; i < tx.n_desc; i++) {
			const struct ur_tx_desc *d = &tx.desc[i];

			SIM_CHECK(w,
				  d->off <= tx.used && d->len >= 12 &&
					  d->len + 4 <= tx.used - d->off,
				  "descriptor outside of its buffer");
			oracle_tx(h, sim_host_of_gid(w, d->av->dgid),
				  tx.buf + d->off, d->len);
		}
		for (u32 i = 0; !leave && i < tx.n_desc; i++)
			send_frame(h, buf, &tx.desc[i]);
	}
	if (more)
		sim_host_wake(h, h->tx_free);
}

/* Checks the transport's own report, and that all that was due is done. */
static void check(struct sim_host *h)
{
	struct sim_world *w = h->w;

	for (u32 i = 0; i < w->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			struct sim_qp *qp = w->pair[i]->qp[k];
			const char *no = qp->host == h && qp->qp
						 ? ur_qp_check(qp->qp)
						 : NULL;

			SIM_CHECK(w, !no, "%s: not true: %s", endpoint_name(qp),
				  no);
		}
	SIM_CHECK(w, !h->srq->limit_due && !h->xrc_srq->limit_due,
		  "host %u: no event though the SRQ limit was reached",
		  h->index);
}

static void host_run(struct sim_world *w, void *arg, u64 n)
{
	struct sim_host *h = arg;
	ur_time deadline;

	if (h->wake_at <= w->now)
		h->wake_at = UR_NEVER;
	if (h->paused || !h->port || w->over)
		return;
	if (h->tx_free < w->now)
		h->tx_free = w->now;
	receive(h);
	if (h->aside_at <= w->now)
		sim_host_send_aside(h);
	if (w->now >= ur_port_deadline(h->port))
		ur_port_expire(h->port, w->now);
	transmit(h);
	check(h);
	deadline = ur_port_deadline(h->port);
	if (h->aside.n && h->aside_at < deadline)
		deadline = h->aside_at;
	if (deadline != UR_NEVER)
		sim_host_wake(h, deadline);
}

void sim_host_wake(struct sim_host *h, ur_time at)
{
	if (at < h->w->now)
		at = h->w->now;
	if (at >= h->wake_at)
		return;
	h->wake_at = at;
	sim_event_add(&h->w->events, at, host_run, h, 0);
}
