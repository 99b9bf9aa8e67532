// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/faults.h"

#include <stdio.h>

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/workload.h"

#define US 1000ull
#define MS 1000000ull
/* Longest clog: with all other delays well below the time-wait of a pair. */
#define CLOG_MAX_NS (1 * MS)

static u32 draw(struct sim_world *w, u32 n)
{
	return ur_rng_below(&w->rng_fault, n);
}

static u32 rate(struct sim_world *w)
{
	static const u32 ppm[] = {300, 3000, 10000, 50000, 200000};

	return draw(w, 3) ? 0 : ppm[draw(w, UR_ARRAY_SIZE(ppm))];
}

static ur_time every(struct sim_world *w, u32 one_in)
{
	static const ur_time mean[] = {100 * US, 500 * US, 2 * MS, 8 * MS};

	return draw(w, one_in) ? 0 : mean[draw(w, UR_ARRAY_SIZE(mean))];
}

void faults_draw(struct sim_world *w, bool print)
{
	static const u64 bps[] = {10000000000ull, 25000000000ull,
				  100000000000ull};
	struct sim_faults *x = &w->faults;

	*x = (struct sim_faults){
		.delay_min = 500 + draw(w, 20000),
		.delay_mean = 1 + draw(w, 50 * US),
		.reorder_max = draw(w, 300 * US),
		.link_bps = bps[draw(w, 3)],
	};
	if (!w->options.faults)
		return;
	x->drop = rate(w);
	x->dup = rate(w);
	x->reorder = rate(w);
	x->flip = rate(w);
	x->truncate = rate(w);
	x->ecn = rate(w);
	x->partition_every = every(w, 5);
	x->clog_every = every(w, 5);
	x->pause_every = every(w, 5);
	x->restart_every = every(w, 8);
	x->error_every = every(w, 6);
	x->mr_every = every(w, 8);
	x->cq_stall_every = every(w, 8);
	x->drain_every = every(w, 6);
	x->small_cq = draw(w, 8) == 0;
	x->bad_op = draw(w, 5) ? 0 : 10000;
	x->short_recv = draw(w, 12) ? 0 : 3000;
	x->recv_delay = draw(w, 3) ? 0 : 1000 + draw(w, 500 * US);
	if (print)
		printf("faults ppm: drop %u dup %u reorder %u flip %u "
		       "truncate %u ecn %u bad_op %u short_recv %u; us: "
		       "partition %u clog %u pause %u restart %u error %u "
		       "mr %u cq %u%s drain %u recv_delay %u; delay %u ns, %u Gb/s\n",
		       x->drop, x->dup, x->reorder, x->flip, x->truncate,
		       x->ecn, x->bad_op, x->short_recv,
		       (u32)(x->partition_every / US),
		       (u32)(x->clog_every / US), (u32)(x->pause_every / US),
		       (u32)(x->restart_every / US), (u32)(x->error_every / US),
		       (u32)(x->mr_every / US), (u32)(x->cq_stall_every / US),
		       x->small_cq ? " small" : "", (u32)(x->drain_every / US),
		       (u32)(x->recv_delay / US), (u32)x->delay_min,
		       (u32)(x->link_bps / 1000000000));
}

u32 faults_reasons(const struct sim_world *w)
{
	const struct sim_faults *x = &w->faults;
	/* Doubled packets make doubled sequence NAKs, which count as retries. */
	bool loss = x->drop || x->dup || x->reorder || x->flip || x->truncate ||
		    x->partition_every || x->clog_every || x->pause_every ||
		    x->restart_every;

	return SIM_WHY_RNR | (loss ? SIM_WHY_LOSS : 0) |
	       (x->small_cq ? SIM_WHY_CQ : 0) |
	       (x->short_recv ? SIM_WHY_SHORT : 0);
}

static sim_event_fn partition, heal, clog_link, pause_host, resume, restart,
	boot, error, take_mr, stall, unstall, drain, resume_sq;

static void again(struct sim_world *w, ur_time mean, sim_event_fn *run)
{
	if (mean)
		sim_event_add(&w->events,
			      w->now + 1 + sim_exp(&w->rng_fault, mean), run,
			      NULL, 0);
}

static struct sim_host *any_host(struct sim_world *w)
{
	return &w->host[draw(w, w->n_hosts)];
}

/* Bits 0..3 source, 4..7 destination, 8: both ways. */
static void partition(struct sim_world *w, void *arg, u64 n)
{
	u32 a = any_host(w)->index, b = any_host(w)->index;
	bool both = draw(w, 2);

	if (!w->faults_on)
		return;
	again(w, w->faults.partition_every, partition);
	w->cut[a][b]++;
	if (both)
		w->cut[b][a]++;
	sim_trace(&w->trace, w->now, "partition", a, b, both, 0);
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, 300 * US),
		      heal, NULL, a | b << 4 | (both ? 0x100 : 0));
}

static void heal(struct sim_world *w, void *arg, u64 n)
{
	u32 a = n & 15, b = (n >> 4) & 15;

	w->cut[a][b]--;
	if (n & 0x100)
		w->cut[b][a]--;
}

static void clog_link(struct sim_world *w, void *arg, u64 n)
{
	u32 a = any_host(w)->index, b = any_host(w)->index;

	if (!w->faults_on)
		return;
	again(w, w->faults.clog_every, clog_link);
	w->clog[a][b] = w->now + draw(w, CLOG_MAX_NS);
	sim_trace(&w->trace, w->now, "clog", a, b, w->clog[a][b], 0);
}

static void pause_host(struct sim_world *w, void *arg, u64 n)
{
	struct sim_host *h = any_host(w);

	if (!w->faults_on)
		return;
	again(w, w->faults.pause_every, pause_host);
	if (h->paused)
		return;
	h->paused = true;
	sim_trace(&w->trace, w->now, "pause", h->index, 0, 0, 0);
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, 500 * US),
		      resume, h, 0);
}

static void resume(struct sim_world *w, void *arg, u64 n)
{
	struct sim_host *h = arg;

	if (!h->paused)
		return;
	h->paused = false;
	sim_trace(&w->trace, w->now, "resume", h->index, 0, 0, 0);
	sim_host_wake(h, w->now);
	for (u32 i = 0; i < w->n_pairs; i++) {
		struct sim_pair *p = w->pair[i];

		for (int k = 0; k < 2; k++)
			if (p->connected && p->qp[k]->host == h)
				workload_qp_room(p->qp[k]);
		if (!p->connected && w->faults_on)
			workload_pair_reopen(p);
	}
	for (u32 i = 0; i < w->n_ud; i++)
		if (w->ud[i]->host == h)
			workload_qp_room(w->ud[i]);
}

static void restart(struct sim_world *w, void *arg, u64 n)
{
	struct sim_host *h = any_host(w);

	if (!w->faults_on)
		return;
	again(w, w->faults.restart_every, restart);
	if (!h->port || h->paused)
		return;
	faults_host_down(h);
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, MS), boot,
		      h, 0);
}

static void boot(struct sim_world *w, void *arg, u64 n)
{
	struct sim_host *h = arg;

	if (w->over || h->port)
		return;
	faults_host_up(h);
	for (u32 i = 0; i < w->n_pairs; i++)
		if (!w->pair[i]->connected && w->faults_on)
			workload_pair_reopen(w->pair[i]);
}

static struct sim_pair *any_pair(struct sim_world *w)
{
	struct sim_pair *p;

	if (!w->n_pairs)
		return NULL;
	p = w->pair[draw(w, w->n_pairs)];
	return p->connected ? p : NULL;
}

static void error(struct sim_world *w, void *arg, u64 n)
{
	struct sim_pair *p = any_pair(w);
	u32 k = draw(w, 2);

	if (!w->faults_on)
		return;
	again(w, w->faults.error_every, error);
	if (!p || p->qp[k]->life != SIM_QP_LIVE || p->qp[k]->host->paused)
		return;
	p->reasons |= SIM_WHY_FORCED;
	endpoint_qp_error(p->qp[k]);
	workload_pair_broken(p);
}

static void take_mr(struct sim_world *w, void *arg, u64 n)
{
	struct sim_pair *p = any_pair(w);
	struct sim_region *r = NULL;
	struct sim_flow *f;
	u32 k = draw(w, 2), pick = draw(w, 4);

	if (!w->faults_on)
		return;
	again(w, w->faults.mr_every, take_mr);
	f = p ? p->flow[k] : NULL;
	if (!f)
		return;
	if (pick == 0)
		r = &f->src;
	else if (pick == 1)
		r = &f->dst;
	else if (pick == 2)
		r = &f->result;
	else if (p->own_rq[k])
		r = &p->own_rq[k]->region;
	if (!r || !r->mr || !r->host->port || r->host->paused)
		return;
	/* Refused while a window is bound to it. */
	if (ur_mr_destroy(r->mr))
		return;
	r->mr = NULL;
	p->reasons |= SIM_WHY_MR;
	sim_trace(&w->trace, w->now, "take_mr", p->index, k, pick, 0);
}

static void stall(struct sim_world *w, void *arg, u64 n)
{
	struct sim_cq *cq = &any_host(w)->cq[draw(w, 3)];

	if (!w->faults_on)
		return;
	again(w, w->faults.cq_stall_every, stall);
	if (cq->stalled)
		return;
	cq->stalled = true;
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, 300 * US),
		      unstall, cq, 0);
}

static void unstall(struct sim_world *w, void *arg, u64 n)
{
	struct sim_cq *cq = arg;

	cq->stalled = false;
	cq->count = 0;
}

/* Drain a send queue, for a while that may be too short for it. */
static void drain(struct sim_world *w, void *arg, u64 n)
{
	struct sim_pair *p = any_pair(w);
	struct sim_qp *qp = p ? p->qp[draw(w, 2)] : NULL;

	if (!w->faults_on)
		return;
	again(w, w->faults.drain_every, drain);
	if (!qp || qp->life != SIM_QP_LIVE || qp->broken || qp->draining ||
	    qp->host->paused || p->type == UR_QPT_XRC_INI)
		return;
	endpoint_qp_drain(qp);
	sim_event_add(&w->events, w->now + 1 + sim_exp(&w->rng_fault, 200 * US),
		      resume_sq, qp, 0);
}

static void resume_sq(struct sim_world *w, void *arg, u64 n)
{
	if (!w->over)
		endpoint_qp_resume(arg);
}

void faults_start(struct sim_world *w)
{
	const struct sim_faults *x = &w->faults;

	again(w, x->partition_every, partition);
	again(w, x->clog_every, clog_link);
	again(w, x->pause_every, pause_host);
	again(w, x->restart_every, restart);
	again(w, x->error_every, error);
	again(w, x->mr_every, take_mr);
	again(w, x->cq_stall_every, stall);
	again(w, x->drain_every, drain);
}

/* A fault that is under way (a partition, a pause, a restart) ends by the event
 * that was scheduled with it. */
void faults_stop(struct sim_world *w)
{
	w->faults_on = false;
	sim_trace(&w->trace, w->now, "calm", 0, 0, 0, 0);
	for (u32 i = 0; i < w->n_hosts; i++)
		for (int k = 0; k < 3; k++)
			unstall(w, &w->host[i].cq[k], 0);
}

/* ------------------------------------------------------------------ */
/* Host restart                                                        */

void faults_host_up(struct sim_host *h)
{
	struct sim_world *w = h->w;

	sim_host_start(h);
	if (!h->words.base) {
		sim_region_init(&h->words, h, 8 * SIM_WORDS,
				UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |
					UR_ACCESS_REMOTE_READ |
					UR_ACCESS_REMOTE_ATOMIC,
				&w->rng_work);
		sim_region_fill(&h->words, &w->rng_work);
		h->word = (u64 *)h->words.base;
		memcpy(h->word_start, h->word, sizeof(h->word_start));
		h->srq = endpoint_rq_new(h);
		h->xrc_srq = endpoint_rq_new(h);
	}
	sim_region_register(&h->words);
	endpoint_rq_open(h->srq, true, false);
	endpoint_rq_open(h->xrc_srq, true, true);
	endpoint_rq_fill(h->srq, h->w->depth);
	endpoint_rq_fill(h->xrc_srq, h->w->depth);
	sim_host_wake(h, w->now);
}

static void drop_region(struct sim_host *h, struct sim_region *r)
{
	int err;

	if (r->host != h || !r->mr)
		return;
	err = ur_mr_destroy(r->mr);
	SIM_CHECK(h->w, !err, "ur_mr_destroy: %d", err);
	r->mr = NULL;
}

static void drop_qp(struct sim_host *h, struct sim_qp *qp)
{
	if (qp->host != h || !qp->qp)
		return;
	qp->life = SIM_QP_GONE;
	sim_host_send_aside(h);
	ur_qp_destroy(qp->qp);
	qp->qp = NULL;
}

static void drop_flow(struct sim_host *h, struct sim_flow *f)
{
	if (!f)
		return;
	if (f->mw && f->to->host == h) {
		ur_mw_destroy(f->mw);
		f->mw = NULL;
	}
	drop_region(h, &f->src);
	drop_region(h, &f->dst);
	drop_region(h, &f->result);
}

void faults_host_down(struct sim_host *h)
{
	struct sim_world *w = h->w;

	for (u32 i = 0; i < w->n_pairs; i++) {
		struct sim_pair *p = w->pair[i];

		for (int k = 0; k < 2; k++)
			drop_qp(h, p->qp[k]);
	}
	for (u32 i = 0; i < w->n_pairs; i++) {
		struct sim_pair *p = w->pair[i];

		if (p->qp[0]->host != h && p->qp[1]->host != h)
			continue;
		for (int k = 0; k < 2; k++) {
			drop_flow(h, p->flow[k]);
			if (p->own_rq[k])
				drop_region(h, &p->own_rq[k]->region);
		}
		p->reasons |= SIM_WHY_RESTART;
		if (p->connected)
			workload_pair_broken(p);
	}
	for (u32 i = 0; i < w->n_ud; i++) {
		if (w->ud[i]->host != h || !w->ud[i]->qp)
			continue;
		drop_qp(h, w->ud[i]);
		drop_region(h, &w->ud_flow[i]->src);
		drop_region(h, &w->ud_rq[i]->region);
		w->ud_rq[i]->dead = true;
	}
	endpoint_rq_close(h->srq);
	endpoint_rq_close(h->xrc_srq);
	drop_region(h, &h->words);
	sim_host_stop(h);
}
