// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engines of one device: who has what, and packets from one to another.
 *
 * Sleep race: the writer publishes, says so in arrived, and then reads asleep;
 * the reader sets asleep and then looks at arrived, with a full barrier between
 * the two on both sides, so one of them sees the other.
 */
#include <stdlib.h>
#include "engine/faults.h"
#include "engine/shards.h"
#include "util/assert.h"

/* Packets of one neighbour in one turn: its own clients have turns too. */
#define TURN_PACKETS 256u

struct ur_shards *ur_shards_create(u32 n)
{
	struct ur_shards *s;

	if (posix_memalign((void **)&s, 64, sizeof(*s)))
		return NULL;
	memset(s, 0, sizeof(*s));
	s->n = n;
	while (1u << s->bits < n)
		s->bits++;
	for (u32 i = 0; i < n * n; i++) {
		u32 from = i / n, to = i % n;

		if (from != to && ur_handover_init(&s->queue[from][to])) {
			ur_shards_destroy(s);
			return NULL;
		}
	}
	return s;
}

void ur_shards_destroy(struct ur_shards *s)
{
	if (!s)
		return;
	for (u32 from = 0; from < s->n; from++)
		for (u32 to = 0; to < s->n; to++)
			ur_handover_fini(&s->queue[from][to]);
	free(s);
}

struct ur_engine *ur_shards_of(struct ur_engine *e, u32 qpn)
{
	return e->shards ? e->shards->engine[ur_shards_index(e->shards, qpn)]
			 : e;
}

struct ur_engine *ur_shards_join(struct ur_engine *e)
{
	struct ur_shards *s = e->shards;
	u32 together = e->opt.spread ? 1 : 2, best = 0;

	if (!s)
		return e;
	for (u32 i = 1; i < s->n; i++)
		if (s->n_ectxs[i] / together < s->n_ectxs[best] / together)
			best = i;
	s->n_ectxs[best]++;
	return s->engine[best];
}

void ur_shards_leave(struct ur_engine *e)
{
	if (!e->shards)
		return;
	ur_assert(e->shards->n_ectxs[e->shard]);
	e->shards->n_ectxs[e->shard]--;
}

/* ---- packets ---- */

static void pass_to(struct ur_engine *e, u32 to, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len)
{
	struct ur_shards *s = e->shards;

	if (ur_handover_put(&s->queue[e->shard][to], meta, bth, len))
		s->of[e->shard].put |= 1u << to;
	else
		ur_port_count(e->port, UR_CNT_send_err, 1);
}

void ur_shards_pass(struct ur_engine *e, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len)
{
	pass_to(e, ur_shards_index(e->shards, ur_get_be24(bth + 5)), meta, bth,
		len);
}

/* To a group: whoever has members there. */
static void pass_to_all(struct ur_engine *e, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	for (u32 to = 0; to < e->shards->n; to++)
		if (to != e->shard)
			pass_to(e, to, meta, bth, len);
}

static void send_one(struct ur_engine *e, u32 i)
{
	const struct ur_tx_desc *d = &e->tx.desc[i];
	const u8 *bth = e->tx.buf + d->off;
	struct ur_rx_meta meta;

	if (d->av->raw || (!d->av->mcast && !d->av->loop) ||
	    (!d->av->mcast && !ur_shards_elsewhere(e, bth)))
		return;
	if (ur_faults_spoils(e, i)) {
		ur_port_count(e->port, UR_CNT_rx_icrc_encapsulated, 1);
		return;
	}
	ur_av_meta(d->av, &meta);
	if (d->av->mcast)
		pass_to_all(e, &meta, bth, d->len);
	else
		ur_shards_pass(e, &meta, bth, d->len);
}

void ur_shards_send(struct ur_engine *e)
{
	for (u32 i = 0; i < e->tx.n_desc; i++)
		send_one(e, i);
	ur_shards_show(e);
}

void ur_shards_show(struct ur_engine *e)
{
	struct ur_shards *s = e->shards;
	u32 put = s->of[e->shard].put;

	if (!put)
		return;
	s->of[e->shard].put = 0;
	for (u32 to = 0; to < s->n; to++)
		if (put >> to & 1) {
			ur_handover_publish(&s->queue[e->shard][to]);
			atomic_fetch_or(&s->of[to].arrived, 1u << e->shard);
		}
	atomic_thread_fence(memory_order_seq_cst);
	for (u32 to = 0; to < s->n; to++)
		if ((put >> to & 1) && atomic_load(&s->engine[to]->asleep))
			ur_mailbox_wake(s->engine[to]);
}

/* A group is left between the packet and now, or none of ours was ever in. */
static bool wanted(struct ur_engine *e, const struct ur_rx_meta *meta,
		   const u8 *bth)
{
	return ur_get_be24(bth + 5) != UR_QPN_MULTICAST ||
	       ur_engine_joined(e, meta->daddr);
}

static u32 receive_from(struct ur_engine *e, struct ur_handover *q)
{
	const struct ur_rx_meta *meta;
	const u8 *bth;
	u32 len, n = 0;

	while (n < TURN_PACKETS && (bth = ur_handover_get(q, &meta, &len))) {
		if (wanted(e, meta, bth))
			ur_engine_rx(e, meta, bth, len);
		ur_handover_done(q);
		n++;
	}
	return n;
}

bool ur_shards_receive(struct ur_engine *e)
{
	struct ur_shards *s = e->shards;
	struct ur_shard *mine = &s->of[e->shard];
	u32 from = mine->left;

	/* Taken before the rings are looked into: what is published behind that
	 * look sets a bit again. */
	if (atomic_load_explicit(&mine->arrived, memory_order_relaxed))
		from |= atomic_exchange(&mine->arrived, 0);
	if (!from)
		return false;
	mine->left = 0;
	for (u32 i = 0; i < s->n; i++)
		if ((from >> i & 1) &&
		    receive_from(e, &s->queue[i][e->shard]) == TURN_PACKETS)
			mine->left |= 1u << i;
	ur_idle_serve(&e->idle, &e->idle.wire);
	ur_refused_look(e);
	return true;
}

bool ur_shards_wait(const struct ur_engine *e)
{
	const struct ur_shards *s = e->shards;

	return s &&
	       (s->of[e->shard].left || atomic_load(&s->of[e->shard].arrived));
}
