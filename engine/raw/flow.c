// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Creates and destroys flow rules, and finds those of a frame. See flow.h. */
#include <errno.h>
#include <stdlib.h>
#include "engine/raw/flow.h"
#include "engine/raw/rss.h"
#include "engine/wire/wire.h"
#include "util/assert.h"

/* Most groups, which a frame checks one after the other. Programs use one or two. */
#define MAX_GROUPS  64u
#define MIN_BUCKETS 16u

struct ur_eflow {
	struct ur_list node; /* of its bucket, or of the table's others */
	struct ur_engine *engine;
	struct ur_flow_group *group; /* NULL: not a normal rule */
	struct ur_eflow_attr attr;   /* key masked */
	u64 hash;
	struct ur_wire_wants wants;
};

struct ur_flow_group {
	struct ur_list node; /* of the table, the highest priority first */
	u16 priority;
	struct ur_flow_key mask;
	u32 rules, buckets; /* a power of two */
	struct ur_list *bucket;
};

struct ur_flow_table {
	u64 seed;
	u32 n_groups;
	struct ur_list groups;
	struct ur_list others;	       /* sniffers and default rules */
	u32 rules, promisc, multicast; /* how many want it */
};

struct ur_flow_table *ur_flow_table_create(u64 seed)
{
	struct ur_flow_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->seed = seed;
	ur_list_init(&t->groups);
	ur_list_init(&t->others);
	return t;
}

void ur_flow_table_destroy(struct ur_flow_table *table)
{
	free(table);
}

/* ---- groups ---- */

static struct ur_list *new_buckets(u32 n)
{
	struct ur_list *b = calloc(n, sizeof(*b));

	for (u32 i = 0; b && i < n; i++)
		ur_list_init(&b[i]);
	return b;
}

static void add_group(struct ur_flow_table *t, struct ur_flow_group *g)
{
	struct ur_list *before = &t->groups;

	ur_list_for_each(it, &t->groups) {
		if (ur_list_entry(it, struct ur_flow_group, node)->priority >
		    g->priority) {
			before = it;
			break;
		}
	}
	ur_list_add_tail(before, &g->node);
	t->n_groups++;
}

static struct ur_flow_group *group_of(struct ur_flow_table *t, u16 priority,
				      const struct ur_flow_key *mask)
{
	struct ur_flow_group *g;

	ur_list_for_each(it, &t->groups) {
		g = ur_list_entry(it, struct ur_flow_group, node);
		if (g->priority == priority &&
		    !memcmp(&g->mask, mask, sizeof(*mask)))
			return g;
	}
	if (t->n_groups == MAX_GROUPS)
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->priority = priority;
	g->mask = *mask;
	g->buckets = MIN_BUCKETS;
	g->bucket = new_buckets(g->buckets);
	if (!g->bucket) {
		free(g);
		return NULL;
	}
	add_group(t, g);
	return g;
}

static void drop_if_empty(struct ur_flow_table *t, struct ur_flow_group *g)
{
	if (g->rules)
		return;
	ur_list_del(&g->node);
	ur_assert(t->n_groups);
	t->n_groups--;
	free(g->bucket);
	free(g);
}

static struct ur_list *bucket_of(const struct ur_flow_group *g, u64 hash)
{
	return &g->bucket[hash & (g->buckets - 1)];
}

/* Without memory the chains just get longer. */
static void grow_group(struct ur_flow_group *g)
{
	struct ur_list *old = g->bucket, *bucket;
	u32 n = g->buckets;

	if (g->rules < 2 * n)
		return;
	bucket = new_buckets(4 * n);
	if (!bucket)
		return;
	g->bucket = bucket;
	g->buckets = 4 * n;
	for (u32 i = 0; i < n; i++) {
		ur_list_for_each_safe(it, &old[i]) {
			struct ur_eflow *f =
				ur_list_entry(it, struct ur_eflow, node);

			ur_list_del(&f->node);
			ur_list_add_tail(bucket_of(g, f->hash), &f->node);
		}
	}
	free(old);
}

/* ---- what is wanted of the netdev ---- */

/* A rule without a destination address matches only what the host receives anyway. */
static struct ur_wire_wants wants_of(const struct ur_eflow_attr *a)
{
	struct ur_wire_wants w = {.any = true};

	switch (a->type) {
	case UR_FLOW_SNIFFER:
	case UR_FLOW_ALL_DEFAULT:
		w.promisc = w.multicast = true;
		break;
	case UR_FLOW_MC_DEFAULT:
		w.multicast = true;
		break;
	default:
		if (a->mask.dst_mac[0] & 1 & a->key.dst_mac[0])
			w.multicast = true;
		else
			w.promisc = a->mask.dst_mac[5] != 0;
	}
	return w;
}

static void add_wants(struct ur_flow_table *t, struct ur_wire_wants w, u32 n)
{
	t->rules += n;
	if (w.promisc)
		t->promisc += n;
	if (w.multicast)
		t->multicast += n;
}

static int update_wire(struct ur_engine *engine)
{
	const struct ur_flow_table *t = engine->flows;
	const struct ur_wire_wants want = {t->rules, t->promisc, t->multicast};

	if (!engine->raw)
		return -EOPNOTSUPP;
	return engine->raw->ops->listen(engine->raw, &want);
}

/* ---- rules ---- */

static void remove_rule(struct ur_flow_table *t, struct ur_eflow *f)
{
	add_wants(t, f->wants, ~0u);
	ur_list_del(&f->node);
	if (f->group) {
		f->group->rules--;
		drop_if_empty(t, f->group);
	}
}

static int create_flow(struct ur_engine *engine, struct ur_eflow *f)
{
	struct ur_flow_table *t = engine->flows;
	int err;

	ur_assert(f->attr.qp->engine == engine);
	if (f->attr.type == UR_FLOW_NORMAL) {
		f->group = group_of(t, f->attr.priority, &f->attr.mask);
		if (!f->group)
			return -ENOMEM;
		f->hash = ur_flow_key_hash(&f->attr.key, t->seed);
		ur_list_add_tail(bucket_of(f->group, f->hash), &f->node);
		f->group->rules++;
		grow_group(f->group);
	} else {
		ur_list_add_tail(&t->others, &f->node);
	}
	f->wants = wants_of(&f->attr);
	add_wants(t, f->wants, 1);
	err = update_wire(engine);
	if (err) {
		remove_rule(t, f);
		update_wire(engine);
	}
	return err;
}
UR_ENGINE_CALL(1, create_flow, struct ur_eflow *);

int ur_eflow_create(struct ur_engine *engine, const struct ur_eflow_attr *attr,
		    struct ur_eflow **ret)
{
	struct ur_eflow *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->engine = engine;
	f->attr = *attr;
	ur_flow_key_mask(&f->attr.key, &attr->key, &attr->mask);
	err = call_create_flow(engine, f);
	if (err)
		free(f);
	else
		*ret = f;
	return err;
}

static int destroy_flow(struct ur_engine *engine, struct ur_eflow *f)
{
	ur_assert(f->attr.qp->engine == engine);
	remove_rule(engine->flows, f);
	/* The wire wants less than before, so this cannot fail. */
	update_wire(engine);
	return 0;
}
UR_ENGINE_CALL(1, destroy_flow, struct ur_eflow *);

void ur_eflow_destroy(struct ur_eflow *f)
{
	call_destroy_flow(f->engine, f);
	free(f);
}

/* ---- frames ---- */

static void count(struct ur_ecounters *c, u32 bytes)
{
	if (!c)
		return;
	__atomic_store_n(&c->packets, c->packets + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->bytes, c->bytes + bytes, __ATOMIC_RELAXED);
}

struct received {
	const struct ur_flow_key *key;
	u32 sender;
	const u8 *frame;
	u32 len;
};

/* Delivers the frame by the rule. Returns whether the rule takes the frame. A queue pair
 * gets its own frames only with allow_loop_back. */
static bool give(struct ur_engine *e, const struct ur_eflow *f,
		 const struct received *r)
{
	if (r->sender && r->sender == f->attr.qp->qpn &&
	    !f->attr.allow_loop_back)
		return false;
	count(f->attr.counters, r->len);
	if (!f->attr.drop)
		ur_raw_rx(ur_rss_queue(f->attr.qp, r->key)->qp, e->now,
			  r->frame, r->len);
	return !f->attr.dont_trap;
}

/* All rules of the group with the frame's key get the frame. */
static bool look_in(struct ur_engine *e, const struct ur_flow_group *g,
		    const struct received *r)
{
	struct ur_flow_key masked;
	bool taken = false;
	u64 hash;

	ur_flow_key_mask(&masked, r->key, &g->mask);
	hash = ur_flow_key_hash(&masked, e->flows->seed);
	ur_list_for_each(it, bucket_of(g, hash)) {
		const struct ur_eflow *f =
			ur_list_entry(it, struct ur_eflow, node);

		if (f->hash == hash &&
		    !memcmp(&f->attr.key, &masked, sizeof(masked)))
			taken |= give(e, f, r);
	}
	return taken;
}

static bool give_others(struct ur_engine *e, enum ur_flow_type type,
			const struct received *r)
{
	bool taken = false;

	ur_list_for_each(it, &e->flows->others) {
		const struct ur_eflow *f =
			ur_list_entry(it, struct ur_eflow, node);

		if (f->attr.type == type)
			taken |= give(e, f, r);
	}
	return taken;
}

void ur_flow_rx(struct ur_engine *engine, u32 sender, const u8 *frame, u32 len)
{
	struct ur_flow_key key;
	const struct received r = {&key, sender, frame, len};

	if (len < UR_RAW_MIN_BYTES)
		return;
	ur_flow_key_parse(&key, frame, len);
	give_others(engine, UR_FLOW_SNIFFER, &r);
	ur_list_for_each(it, &engine->flows->groups)
		if (look_in(engine,
			    ur_list_entry(it, struct ur_flow_group, node), &r))
			return;
	if ((frame[0] & 1) && give_others(engine, UR_FLOW_MC_DEFAULT, &r))
		return;
	give_others(engine, UR_FLOW_ALL_DEFAULT, &r);
}
