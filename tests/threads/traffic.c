// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "traffic.h"

#include <fcntl.h>

#define WR_RECV 0x80000000u /* in wr_id: a receive; the slot below */

uint32_t pool_take(struct pool *p)
{
	for (;;) {
		for (uint32_t i = 0; i < SLOTS; i++) {
			uint32_t none = 0;

			if (atomic_compare_exchange_strong(&p->busy[i], &none,
							   1))
				return i;
		}
		sched_yield();
	}
}

void pool_pass(struct pool *p, uint32_t slot)
{
	CHECK_EQ(atomic_exchange(&p->busy[slot], 2), 1);
}

void pool_give(struct pool *p, uint32_t slot)
{
	CHECK_EQ(atomic_exchange(&p->busy[slot], 0), 2);
}

struct ibv_sge pool_sge(const struct pool *p, uint32_t slot, uint32_t len)
{
	return (struct ibv_sge){(uintptr_t)p->buf + slot * SLOT, len,
				p->mr->lkey};
}

void side_open(struct side *s, int n)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct bench *t = &s->bench;

	CHECK(list && count > 0);
	t->ctx = ibv_open_device(list[n < count ? n : 0]);
	CHECK(t->ctx);
	ibv_free_device_list(list);
	t->pd = ibv_alloc_pd(t->ctx);
	CHECK(t->pd);
	CHECK(!ibv_query_gid(t->ctx, 1, 0, &t->gid));
	s->pool.buf = aligned_alloc(4096, SLOT * SLOTS);
	CHECK(s->pool.buf);
	s->pool.mr = ibv_reg_mr(t->pd, s->pool.buf, SLOT * SLOTS, ALL_ACCESS);
	CHECK(s->pool.mr);
}

void side_close(struct side *s)
{
	CHECK_EQ(ibv_dereg_mr(s->pool.mr), 0);
	free(s->pool.buf);
	CHECK_EQ(ibv_dealloc_pd(s->bench.pd), 0);
	CHECK_EQ(ibv_close_device(s->bench.ctx), 0);
}

static void open_cq(const struct traffic *tr, struct side *s)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	if (tr->by_events) {
		s->channel = ibv_create_comp_channel(s->bench.ctx);
		CHECK(s->channel);
		/* Several wait; the one who comes too late goes on. */
		CHECK(!fcntl(s->channel->fd, F_SETFL, O_NONBLOCK));
		attr.channel = s->channel;
	}
	if (tr->extended) {
		s->cq_ex = ibv_create_cq_ex(s->bench.ctx, &attr);
		CHECK(s->cq_ex);
		s->cq = ibv_cq_ex_to_cq(s->cq_ex);
		return;
	}
	s->cq = ibv_create_cq(s->bench.ctx, CQ_ENTRIES, NULL, s->channel, 0);
	CHECK(s->cq);
}

static void give_recv(struct traffic *tr, int lane)
{
	uint32_t slot = pool_take(&tr->far.pool);
	struct ibv_sge sge = pool_sge(&tr->far.pool, slot, SLOT);
	struct ibv_recv_wr *bad,
		wr = {.wr_id = WR_RECV | slot, .sg_list = &sge, .num_sge = 1};

	pool_pass(&tr->far.pool, slot);
	CHECK_EQ(tr->srq ? ibv_post_srq_recv(tr->srq, &wr, &bad)
			 : ibv_post_recv(tr->far.qp[lane], &wr, &bad),
		 0);
}

void traffic_open(struct traffic *tr)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 64, .max_sge = 1}};
	struct side *a = &tr->near, *b = &tr->far;
	union ibv_gid gid;

	side_open(a, 0);
	side_open(b, 1);
	gid = a->bench.gid; /* to connect_qp() it is where the peer is */
	a->bench.gid = b->bench.gid;
	b->bench.gid = gid;
	open_cq(tr, a);
	open_cq(tr, b);
	if (tr->with_srq) {
		tr->srq = ibv_create_srq(b->bench.pd, &srq);
		CHECK(tr->srq);
	}
	for (int i = 0; i < tr->lanes; i++) {
		a->qp[i] =
			make_qp(&a->bench, a->cq, NULL, IBV_QPT_RC, 64, NULL);
		b->qp[i] = make_qp(&b->bench, b->cq, tr->srq, IBV_QPT_RC, 64,
				   NULL);
		connect_qp(&a->bench, a->qp[i], b->qp[i]->qp_num);
		connect_qp(&b->bench, b->qp[i], a->qp[i]->qp_num);
	}
	for (int i = 0; i < SLOTS * 3 / 4; i++)
		give_recv(tr, i % tr->lanes);
}

void traffic_close(struct traffic *tr)
{
	struct side *sides[] = {&tr->near, &tr->far};

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < tr->lanes; i++)
			CHECK_EQ(ibv_destroy_qp(sides[s]->qp[i]), 0);
	if (tr->srq)
		CHECK_EQ(ibv_destroy_srq(tr->srq), 0);
	for (int s = 0; s < 2; s++) {
		CHECK_EQ(ibv_destroy_cq(sides[s]->cq), 0);
		if (sides[s]->channel)
			CHECK_EQ(ibv_destroy_comp_channel(sides[s]->channel),
				 0);
		side_close(sides[s]);
	}
}

/* ---- messages ---- */

static uint32_t length_of(uint32_t sender, uint32_t n)
{
	return 16 + ((n * 37 + sender * 11) % (SLOT / 4 - 4)) * 4;
}

static uint32_t word_of(uint32_t sender, uint32_t n, uint32_t i)
{
	return i == 0 ? sender : i == 1 ? n : (sender << 24 ^ n << 10) + i;
}

static void fill(uint8_t *p, uint32_t sender, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < len / 4; i++) {
		uint32_t w = word_of(sender, n, i);

		memcpy(p + i * 4, &w, 4);
	}
}

static void arrived(struct traffic *tr, uint32_t slot, uint32_t len)
{
	const uint8_t *p = tr->far.pool.buf + slot * SLOT;
	uint32_t head[2], w;

	CHECK(len >= 16 && len <= SLOT);
	CHECK_EQ(atomic_load(&tr->far.pool.busy[slot]), 2);
	memcpy(head, p, sizeof(head));
	CHECK(head[0] < SENDERS && head[1] < MESSAGES);
	CHECK_EQ(len, length_of(head[0], head[1]));
	for (uint32_t i = 0; i < len / 4; i++) {
		memcpy(&w, p + i * 4, 4);
		CHECK_EQ(w, word_of(head[0], head[1], i));
	}
	CHECK_EQ(atomic_fetch_add(&tr->seen[head[0]][head[1]], 1), 0);
	atomic_fetch_sub(&tr->left, 1);
}

/* ---- threads ---- */

static int post_old(struct ibv_qp *qp, uint32_t slot, struct ibv_sge sge)
{
	struct ibv_send_wr *bad,
		wr = {.wr_id = slot,
		      .sg_list = &sge,
		      .num_sge = 1,
		      .opcode = IBV_WR_SEND,
		      .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED};

	return ibv_post_send(qp, &wr, &bad);
}

static int post_ex(struct ibv_qp *qp, uint32_t slot, struct ibv_sge sge)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(ex);
	ex->wr_id = slot;
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
	return ibv_wr_complete(ex);
}

static void *sender(void *arg)
{
	struct traffic *tr = arg;
	uint32_t me = (uint32_t)atomic_fetch_add(&tr->next_sender, 1);
	struct ibv_qp *qp = tr->near.qp[me % (uint32_t)tr->lanes];

	for (uint32_t n = 0; n < MESSAGES; n++) {
		uint32_t slot = pool_take(&tr->near.pool);
		uint32_t len = length_of(me, n);
		struct ibv_sge sge = pool_sge(&tr->near.pool, slot, len);

		fill(tr->near.pool.buf + slot * SLOT, me, n, len);
		pool_pass(&tr->near.pool, slot);
		while (n % 2 ? post_ex(qp, slot, sge) : post_old(qp, slot, sge))
			sched_yield(); /* full */
	}
	return NULL;
}

static int lane_of(const struct side *s, const struct traffic *tr, uint32_t qpn)
{
	for (int i = 0; i < tr->lanes; i++)
		if (s->qp[i]->qp_num == qpn)
			return i;
	CHECK(!"a completion of one of these queue pairs");
	return 0;
}

static void completed(struct traffic *tr, uint64_t wr_id, uint32_t status,
		      uint32_t qpn, uint32_t len)
{
	uint32_t slot = (uint32_t)wr_id & ~WR_RECV;

	CHECK_EQ(status, IBV_WC_SUCCESS);
	CHECK(slot < SLOTS);
	if (wr_id & WR_RECV) {
		arrived(tr, slot, len);
		pool_give(&tr->far.pool, slot);
		give_recv(tr, lane_of(&tr->far, tr, qpn));
	} else {
		pool_give(&tr->near.pool, slot);
		atomic_fetch_sub(&tr->to_ack, 1);
	}
}

static int drain_ex(struct traffic *tr, struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {0};
	struct {
		uint64_t wr_id;
		uint32_t status, qpn, len;
	} got[8];
	int n = 0;

	if (ibv_start_poll(cq, &attr))
		return 0;
	/* Posting is not done under the lock of the queue that is read. */
	do {
		got[n].wr_id = cq->wr_id;
		got[n].status = cq->status;
		got[n].qpn = ibv_wc_read_qp_num(cq);
		got[n++].len = ibv_wc_read_byte_len(cq);
	} while (n < 8 && !ibv_next_poll(cq));
	ibv_end_poll(cq);
	for (int i = 0; i < n; i++)
		completed(tr, got[i].wr_id, got[i].status, got[i].qpn,
			  got[i].len);
	return n;
}

static int drain(struct traffic *tr, struct side *s)
{
	struct ibv_wc wc[8];
	int n;

	if (s->cq_ex)
		return drain_ex(tr, s->cq_ex);
	n = ibv_poll_cq(s->cq, 8, wc);
	CHECK(n >= 0);
	for (int i = 0; i < n; i++)
		completed(tr, wc[i].wr_id, wc[i].status, wc[i].qp_num,
			  wc[i].byte_len);
	return n;
}

static bool is_over(struct traffic *tr)
{
	if (atomic_load(&tr->left) || atomic_load(&tr->to_ack))
		return false;
	atomic_store(&tr->over, true);
	return true;
}

static void *poller(void *arg)
{
	struct traffic *tr = arg;

	while (!is_over(tr))
		if (!drain(tr, &tr->near) + !drain(tr, &tr->far) == 2)
			sched_yield();
	return NULL;
}

/* Takes the events of a side; who armed looks again before he sleeps. */
static void wake_up(struct traffic *tr, struct side *s)
{
	struct ibv_cq *cq;
	void *context;

	if (!ibv_get_cq_event(s->channel, &cq, &context)) {
		CHECK(cq == s->cq);
		ibv_ack_cq_events(cq, 1);
	}
	CHECK_EQ(ibv_req_notify_cq(s->cq, 0), 0);
	while (drain(tr, s))
		;
}

static void *sleeper(void *arg)
{
	struct traffic *tr = arg;
	struct pollfd p[] = {{.fd = tr->near.channel->fd, .events = POLLIN},
			     {.fd = tr->far.channel->fd, .events = POLLIN}};

	while (!is_over(tr)) {
		wake_up(tr, &tr->near);
		wake_up(tr, &tr->far);
		if (is_over(tr))
			break;
		/* The end is not an event: the last poller of the last message
		 * is notified, the others look once in a while. */
		CHECK(poll(p, 2, 100) >= 0);
	}
	return NULL;
}

void traffic_run(struct traffic *tr, void *(*const *beside)(void *))
{
	pthread_t thread[SENDERS + POLLERS + 8];
	int n = 0;

	atomic_store(&tr->left, SENDERS * MESSAGES);
	atomic_store(&tr->to_ack, SENDERS * MESSAGES);
	for (int i = 0; i < SENDERS; i++)
		CHECK(!pthread_create(&thread[n++], NULL, sender, tr));
	for (int i = 0; i < POLLERS; i++)
		CHECK(!pthread_create(&thread[n++], NULL,
				      tr->by_events ? sleeper : poller, tr));
	for (; beside && *beside; beside++)
		CHECK(!pthread_create(&thread[n++], NULL, *beside, tr));
	while (n)
		CHECK(!pthread_join(thread[--n], NULL));
	for (int s = 0; s < SENDERS; s++)
		for (int i = 0; i < MESSAGES; i++)
			CHECK_EQ(atomic_load(&tr->seen[s][i]), 1);
}
