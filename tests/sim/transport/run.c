// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One run: a world is drawn from the seed and built; with faults nothing wrong
 * may happen, then without them everything must end within a bound of virtual
 * time; then all of it is taken down again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/faults.h"
#include "tests/sim/transport/link.h"
#include "tests/sim/transport/oracle.h"
#include "tests/sim/transport/workload.h"

#define MS 1000000ull
/* All retries of all operations with the longest timeout drawn fit well. */
#define LIVENESS_NS (60000 * MS)
/* Long enough for everything on its way to arrive after the last work. */
#define SETTLE_NS  (10 * MS)
#define EVENTS_MAX 20000000
/*
 * Processor time in which a seed must end, or the transport hangs. Time on the
 * wall would count what other programs of a busy machine take.
 */
#define HANG_S 60

u64 sim_current_seed;

static int pick(int forced, struct ur_rng *rng)
{
	int drawn = (int)ur_rng_below(rng, 2);

	return forced < 0 ? drawn : forced;
}

static void draw_host(struct sim_world *w, u32 i)
{
	const struct sim_options *o = &w->options;
	struct ur_rng rng = ur_rng_derive(&w->root, "config");
	struct sim_host *h = &w->host[i];
	char name[] = "host 0";

	/* Hosts differ in what they have switched on. */
	rng.state += i;
	ur_rng_u64(&rng);
	name[5] = (char)('0' + i);
	h->w = w;
	h->index = i;
	h->rng = ur_rng_derive(&w->root, name);
	h->wake_at = UR_NEVER;
	h->config.ooo = pick(o->ooo, &rng);
	h->config.loop = pick(o->loop, &rng);
	h->config.credits = pick(o->credits, &rng);
	h->config.coalesce = pick(o->coalesce, &rng);
	h->config.cc.enable = pick(o->cc, &rng);
	h->config.fast = pick(o->fast, &rng);
	h->config.burst_pkts =
		pick(o->trains, &rng) ? 2 + ur_rng_below(&rng, 7) : 0;
	h->config.burst_bytes = 65000;
	h->config.cc.link_bps = w->faults.link_bps;
	h->config.aimd = pick(o->aimd, &rng);
	h->config.path = pick(o->path, &rng);
	if (w->kind == UR_FRAME_V4) {
		ur_gid_from_v4(h->gid, (u8[4]){10, 0, 0, (u8)(i + 1)});
	} else {
		h->gid[0] = 0xfd;
		h->gid[15] = (u8)(i + 1);
	}
	for (int k = 0; k < 3; k++)
		h->cq[k] = (struct sim_cq){
			.host = h, .room = w->faults.small_cq ? 48 : 1 << 20};
}

static void draw_world(struct sim_world *w, bool print)
{
	struct ur_rng rng = ur_rng_derive(&w->root, "world");
	int hosts = 1 + (int)ur_rng_below(&rng, 3);

	w->rng_work = ur_rng_derive(&w->root, "workload");
	w->rng_link = ur_rng_derive(&w->root, "link");
	w->rng_fault = ur_rng_derive(&w->root, "faults");
	w->n_hosts = (u32)(w->options.hosts > 0 ? w->options.hosts : hosts);
	w->n_pairs = 1 + ur_rng_below(&rng, 6);
	w->n_ud = ur_rng_below(&rng, 3) ? 0 : 1 + ur_rng_below(&rng, 3);
	w->mtu = 256u << ur_rng_below(&rng, 5);
	w->depth = ur_rng_below(&rng, 4) ? 16 : SIM_MAX_DEPTH;
	w->max_bytes = w->mtu * (1 + ur_rng_below(&rng, 12));
	if (w->max_bytes > 16384)
		w->max_bytes = 16384;
	w->kind = (enum ur_frame_kind)ur_rng_below(&rng, 3);
	faults_draw(w, print);
	for (u32 i = 0; i < w->n_hosts; i++)
		draw_host(w, i);
	if (print)
		printf("hosts %u pairs %u datagram %u depth %u mtu %u max %u "
		       "frames %d\n",
		       w->n_hosts, w->n_pairs, w->n_ud, w->depth, w->mtu,
		       w->max_bytes, w->kind);
	for (u32 i = 0; print && i < w->n_hosts; i++)
		printf("host %u: ooo %d loop %d credits %d coalesce %d cc %d "
		       "fast %d train %u\n",
		       i, w->host[i].config.ooo, w->host[i].config.loop,
		       w->host[i].config.credits, w->host[i].config.coalesce,
		       w->host[i].config.cc.enable, w->host[i].config.fast,
		       w->host[i].config.burst_pkts);
}

/* A drill: two hosts, one connection, nothing but loss. */
static void draw_drill(struct sim_world *w)
{
	const struct sim_drill *d = w->drill;

	w->rng_work = ur_rng_derive(&w->root, "workload");
	w->rng_link = ur_rng_derive(&w->root, "link");
	w->rng_fault = ur_rng_derive(&w->root, "faults");
	w->n_hosts = 2;
	w->n_pairs = 1;
	w->mtu = 1024;
	w->depth = 16;
	w->max_bytes = d->bytes;
	w->kind = UR_FRAME_V4;
	w->faults = (struct sim_faults){
		.drop = d->drop,
		.delay_min = 5000,
		.link_bps = 10000000000ull,
	};
	for (u32 i = 0; i < w->n_hosts; i++)
		draw_host(w, i);
}

static void build(struct sim_world *w)
{
	u32 pairs = w->n_pairs, ud = w->n_ud;

	w->n_pairs = w->n_ud = 0;
	for (u32 i = 0; i < w->n_hosts; i++)
		faults_host_up(&w->host[i]);
	for (; w->n_pairs < pairs; w->n_pairs++)
		endpoint_pair_create(w, w->n_pairs);
	for (; w->n_ud < ud; w->n_ud++)
		endpoint_ud_create(w, w->n_ud);
}

static void run_until(struct sim_world *w, ur_time end, bool stop_idle)
{
	struct sim_event e;

	while (w->events.count && w->events.heap[0].at <= end) {
		sim_event_pop(&w->events, &e);
		w->now = e.at;
		e.run(w, e.arg, e.n);
		SIM_CHECK(w, w->events.seq < EVENTS_MAX,
			  "no end after %u events", EVENTS_MAX);
		if (stop_idle && w->events.seq % 16 == 0 && workload_idle(w))
			return;
	}
	if (!stop_idle || !workload_idle(w))
		w->now = end;
}

static void check_live(struct sim_world *w)
{
	for (u32 i = 0; i < w->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			struct sim_pair *p = w->pair[i];
			struct sim_flow *f = p->flow[k];

			if (p->connected && !oracle_flow_idle(f))
				sim_fail(w,
					 "%s: %u of %u operations posted, %u "
					 "done, at the end of time",
					 endpoint_name(p->qp[k]), f->posted,
					 f->target, f->done);
		}
	SIM_CHECK(w, workload_idle(w), "datagrams not sent at the end of time");
}

static void run_drill(struct sim_world *w, struct sim_result *ret)
{
	ur_time start = w->now;

	run_until(w, LIVENESS_NS, true);
	check_live(w);
	SIM_CHECK(w, !w->n_errors, "the connection broke");
	ret->ns = w->last_wc - start;
	run_until(w, w->now + SETTLE_NS, false);
}

static void tear_down(struct sim_world *w)
{
	for (u32 i = 0; i < w->n_pairs; i++)
		if (w->pair[i]->connected)
			oracle_pair_end(w->pair[i]);
	for (u32 i = 0; i < w->n_hosts; i++)
		oracle_words(&w->host[i]);
	for (u32 i = 0; i < w->n_ud; i++)
		oracle_ud_end(w, i);
	w->over = true;
	for (u32 i = 0; i < w->n_pairs; i++)
		endpoint_pair_destroy(w->pair[i]);
	for (u32 i = 0; i < w->n_ud; i++)
		endpoint_ud_destroy(w, i);
	for (u32 i = 0; i < w->n_hosts; i++)
		if (w->host[i].port)
			faults_host_down(&w->host[i]);
}

static void release(struct sim_world *w)
{
	for (u32 i = 0; i < w->n_pairs; i++)
		endpoint_pair_free(w->pair[i]);
	for (u32 i = 0; i < w->n_ud; i++)
		endpoint_ud_free(w, i);
	for (u32 i = 0; i < w->n_hosts; i++) {
		endpoint_rq_free(w->host[i].srq);
		endpoint_rq_free(w->host[i].xrc_srq);
		free(w->host[i].words.base);
	}
	link_free_all(w);
	sim_event_fini(&w->events);
}

int sim_run(const struct sim_options *options, struct sim_result *ret,
	    bool summary)
{
	struct itimerval hang = {.it_value.tv_sec = HANG_S};
	struct sim_world *w = calloc(1, sizeof(*w));
	ur_time calm;

	if (!w)
		abort();
	sim_current_seed = options->seed;
	setitimer(ITIMER_PROF, &hang, NULL);
	w->options = *options;
	w->root.state = options->seed;
	w->drill = options->drill;
	sim_trace_init(&w->trace, options->trace);
	if (setjmp(w->failed)) {
		printf("seed %" PRIu64 ": violation at %" PRIu64 ".%03u us: "
		       "%s\n",
		       options->seed, w->now / 1000, (unsigned)(w->now % 1000),
		       w->verdict);
		fflush(stdout);
		/* The world is left as it is: the transport was left in the
		 * middle. */
		return 1;
	}
	w->faults_on = true;
	if (w->drill)
		draw_drill(w);
	else
		draw_world(w, summary);
	build(w);
	if (w->drill) {
		run_drill(w, ret);
		tear_down(w);
		release(w);
		free(w);
		return 0;
	}
	faults_start(w);
	calm = (1 + ur_rng_below(&w->rng_fault, 20)) * MS;
	run_until(w, calm, true);
	faults_stop(w);
	run_until(w, w->now + LIVENESS_NS, true);
	check_live(w);
	run_until(w, w->now + SETTLE_NS, false);
	tear_down(w);
	release(w);
	if (summary)
		printf("seed %" PRIu64 ": %" PRIu64 " us, %" PRIu64
		       " operations, %" PRIu64 " errors, %" PRIu64
		       " connections, %" PRIu64 " packets sent, %" PRIu64
		       " lost, %" PRIu64 " events, hash %016" PRIx64 "\n",
		       options->seed, w->now / 1000, w->n_ops, w->n_errors,
		       w->n_epochs, w->n_tx, w->n_drop, w->trace.events,
		       w->trace.hash);
	ret->hash = w->trace.hash;
	free(w);
	return 0;
}
