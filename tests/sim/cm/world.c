// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The clock, the link, and the loop; see world.h. */
#include "tests/sim/cm/world.h"

/* After the applications are done, everything must be over within this: 16
 * DREQs at 65 s, the longest time a REQ can ask for, and TIMEWAIT. */
#define QUIET_BOUND_NS (20ull * 70000 * MS)
#define STEPS_MAX      200000

void world_fail(struct world *w, const char *what)
{
	fprintf(stderr, "seed %" PRIu64 " at %" PRIu64 " ms: %s\n", w->seed,
		w->now / MS, what);
	exit(1);
}

void world_note(struct world *w, const char *what, u32 host, u64 a, u64 b)
{
	u64 words[] = {w->now, host, a, b};

	for (const char *c = what; *c; c++)
		w->hash = (w->hash ^ (u8)*c) * 0x100000001b3ull;
	for (u32 i = 0; i < UR_ARRAY_SIZE(words); i++)
		w->hash = (w->hash ^ words[i]) * 0x100000001b3ull;
	if (w->trace)
		printf("%8" PRIu64 " ms host %u %s %" PRIu64 " %" PRIu64 "\n",
		       w->now / MS, host, what, a, b);
}

static bool before(const struct task *a, const struct task *b)
{
	return a->at < b->at || (a->at == b->at && a->sequence < b->sequence);
}

struct task *world_add_task(struct world *w, enum task_kind kind, u64 delay_ns)
{
	struct task *t = calloc(1, sizeof(*t));
	u32 slot = w->task_count++;

	CHECK(t && w->task_count <= TASKS_MAX);
	t->kind = kind;
	t->at = w->now + delay_ns;
	t->sequence = w->next_sequence++;
	for (; slot && before(t, w->tasks[(slot - 1) / 2]);
	     slot = (slot - 1) / 2)
		w->tasks[slot] = w->tasks[(slot - 1) / 2];
	w->tasks[slot] = t;
	return t;
}

static struct task *pop_task(struct world *w)
{
	struct task *first = w->tasks[0];
	struct task *last = w->tasks[--w->task_count];
	u32 slot = 0;

	for (;;) {
		u32 child = slot * 2 + 1;

		if (child >= w->task_count)
			break;
		if (child + 1 < w->task_count &&
		    before(w->tasks[child + 1], w->tasks[child]))
			child++;
		if (before(last, w->tasks[child]))
			break;
		w->tasks[slot] = w->tasks[child];
		slot = child;
	}
	w->tasks[slot] = last;
	return first;
}

static bool chance(struct ur_rng *rng, u32 in_1000)
{
	return ur_rng_below(rng, 1000) < in_1000;
}

static void put_on_wire(struct world *w, u32 to, const struct ur_cm_path *path,
			const u8 *mad)
{
	u64 delay = 20000; /* 20 us */
	struct task *t;

	if (w->faults_on && chance(&w->link_rng, w->faults.slow))
		delay += ur_rng_u64(&w->link_rng) % w->faults.delay_max_ns;
	t = world_add_task(w, TASK_DELIVER, delay);
	t->host = to;
	t->path = *path;
	memcpy(t->path.sgid, path->dgid, 16);
	memcpy(t->path.dgid, path->sgid, 16);
	memcpy(t->mad, mad, UR_CM_MAD_BYTES);
}

struct host_ctx {
	struct world *w;
	u32 host;
};

static struct host_ctx host_ctx[2];

static void on_send(void *ctx, const struct ur_cm_path *path, const u8 *mad)
{
	struct host_ctx *h = ctx;
	struct world *w = h->w;
	struct ur_cm_mad parsed;
	u8 again[UR_CM_MAD_BYTES];

	if (ur_cm_mad_parse(mad, UR_CM_MAD_BYTES, &parsed) ||
	    ur_cm_mad_build(&parsed, again) ||
	    memcmp(mad, again, sizeof(again)))
		world_fail(w, "a MAD of ours does not parse");
	world_note(w, ur_cm_attr_name(parsed.attr), h->host, parsed.tid, 0);
	if (w->faults_on && chance(&w->link_rng, w->faults.drop))
		return;
	put_on_wire(w, !h->host, path, mad);
	if (w->faults_on && chance(&w->link_rng, w->faults.duplicate))
		put_on_wire(w, !h->host, path, mad);
}

static void on_event(void *ctx, struct ur_cm_id *id,
		     const struct ur_cm_event *event)
{
	struct host_ctx *h = ctx;

	world_note(h->w, ur_cm_event_name(event->type), h->host,
		   (u64)(s64)event->status, ur_cm_id_local_comm_id(id));
	app_event(h->w, h->host, id, event);
}

void world_init(struct world *w, u64 seed, bool trace)
{
	struct ur_rng root = {seed}, draw = ur_rng_derive(&root, "faults");

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->trace = trace;
	w->now = 1000 * MS;
	w->faults_on = true;
	w->link_rng = ur_rng_derive(&root, "link");
	w->app_rng = ur_rng_derive(&root, "app");
	/* One run in four has no fault at all. */
	if (ur_rng_below(&draw, 4)) {
		w->faults.drop = ur_rng_below(&draw, 400);
		w->faults.duplicate = ur_rng_below(&draw, 300);
		w->faults.slow = ur_rng_below(&draw, 500);
	}
	w->faults.delay_max_ns = (1 + ur_rng_below(&draw, 9000)) * MS;
	for (u32 i = 0; i < 2; i++) {
		struct ur_cm_config config = {.ctx = &host_ctx[i],
					      .send = on_send,
					      .event = on_event,
					      .key = {seed, i},
					      .max_ids = 512,
					      .max_pending = 64,
					      .listen_grace_ms = 30,
					      .max_lingering = 256};

		host_ctx[i] = (struct host_ctx){w, i};
		w->cm[i] = ur_cm_create(&config);
		CHECK(w->cm[i]);
		memcpy(w->gid[i], "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x4d\x00",
		       15);
		w->gid[i][15] = (u8)(i + 1);
		w->guid[i] = 0x1000 + i;
		w->listener[i] = ur_cm_id_create(w->cm[i], NULL);
		CHECK_EQ(ur_cm_listen(w->listener[i], 0x1061c06, NULL, 8), 0);
	}
}

static void check_invariants(struct world *w)
{
	for (u32 i = 0; i < 2; i++) {
		const char *wrong = ur_cm_check(w->cm[i]);

		if (wrong)
			world_fail(w, wrong);
	}
}

/* One thing happens: the earliest. False when nothing is left to do. */
static bool step(struct world *w)
{
	u64 at = w->task_count ? w->tasks[0]->at : UR_CM_NEVER;
	struct task *t;

	for (u32 i = 0; i < 2; i++) {
		u64 deadline = ur_cm_deadline(w->cm[i]);

		if (deadline > at || deadline == UR_CM_NEVER)
			continue;
		if (deadline > w->now)
			w->now = deadline;
		ur_cm_set_now(w->cm[!i], w->now);
		ur_cm_expire(w->cm[i], w->now);
		return true;
	}
	if (at == UR_CM_NEVER)
		return false;
	t = pop_task(w);
	w->now = t->at;
	for (u32 i = 0; i < 2; i++)
		ur_cm_set_now(w->cm[i], w->now);
	if (t->kind == TASK_DELIVER)
		ur_cm_rx(w->cm[t->host], w->now, &t->path, t->mad,
			 UR_CM_MAD_BYTES);
	else
		app_task(w, t);
	free(t);
	return true;
}

void world_run(struct world *w)
{
	struct ur_cm_stats stats;
	u64 quiet_from;
	u32 steps = 0;

	app_start(w, 1 + ur_rng_below(&w->app_rng, 24));
	while (step(w)) {
		check_invariants(w);
		if (++steps > STEPS_MAX)
			world_fail(w, "it does not end");
	}
	app_check_agreement(w);
	w->faults_on = false;
	app_finish(w);
	quiet_from = w->now;
	while (step(w)) {
		check_invariants(w);
		if (w->now - quiet_from > QUIET_BOUND_NS)
			world_fail(w, "ids outlive the bound");
	}
	for (u32 i = 0; i < 2; i++) {
		ur_cm_get_stats(w->cm[i], &stats);
		if (stats.ids != 1 || stats.pending || stats.lingering)
			world_fail(w, "ids are left over");
	}
}

void world_fini(struct world *w)
{
	for (u32 i = 0; i < 2; i++)
		ur_cm_destroy(w->cm[i]);
	for (u32 i = 0; i < w->task_count; i++)
		free(w->tasks[i]);
	for (u32 i = 0; i < w->end_count; i++)
		free(w->ends[i]);
}
