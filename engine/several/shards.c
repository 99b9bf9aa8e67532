// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engines of one device: who has what, and packets from one to another.
 *
 * Sleep race: the writer publishes, says so in arrived, and then reads asleep;
 * the reader sets asleep and then looks at arrived, with a full barrier between
 * the two on both sides, so one of them sees the other.
 */
#include <stdlib.h>
#include <unistd.h>
#include "engine/faults/faults.h"
#include "engine/several/shards.h"
#include "util/assert.h"

/* Packets of one neighbour in one turn: its own clients have turns too. */
#define TURN_PACKETS 256u

struct ur_shards *ur_shards_create(void)
{
	struct ur_shards *s;

	if (posix_memalign((void **)&s, 64, sizeof(*s)))
		return NULL;
	memset(s, 0, sizeof(*s));
	return s;
}

void ur_shards_destroy(struct ur_shards *s)
{
	if (!s)
		return;
	for (u32 from = 0; from < UR_SHARDS_MAX; from++)
		for (u32 to = 0; to < UR_SHARDS_MAX; to++)
			ur_handover_fini(&s->queue[from][to]);
	free(s);
}

struct ur_engine *ur_shards_of(struct ur_engine *e, u32 qpn)
{
	return e->shards ? e->shards->engine[ur_shards_index(e->shards, qpn)]
			 : e;
}

/* ---- whose context is where ---- */

/* Nobody's engine waits for root or for who runs the device. */
static bool is_trusted(uid_t uid)
{
	return !uid || uid == getuid();
}

enum whose { OWN, FREE, LIKE };

static bool is_it(const struct ur_shards *s, u32 i, enum whose whose, uid_t uid)
{
	bool trusted = is_trusted(uid);

	switch (whose) {
	case OWN:
		return s->n_ectxs[i] && s->uid[i] == uid && (i || trusted);
	case FREE:
		return !s->n_ectxs[i] && (i || trusted);
	case LIKE:
		return s->n_ectxs[i] && is_trusted(s->uid[i]) == trusted;
	}
	return false;
}

/* Returns which of them has the fewest contexts; UR_SHARDS_MAX if there is none. */
static u32 fewest(const struct ur_shards *s, enum whose whose, uid_t uid)
{
	u32 best = UR_SHARDS_MAX;

	for (u32 i = 0; i < ur_shards_running(s); i++)
		if (is_it(s, i, whose, uid) &&
		    (best == UR_SHARDS_MAX || s->n_ectxs[i] < s->n_ectxs[best]))
			best = i;
	return best;
}

int ur_shards_join(struct ur_engine *e, uid_t uid, struct ur_engine **ret)
{
	struct ur_shards *s = e->shards;
	u32 at;
	int err = 0;

	*ret = e;
	if (!s)
		return 0;
	at = fewest(s, OWN, uid);
	if (at == UR_SHARDS_MAX)
		at = fewest(s, FREE, uid);
	if (at == UR_SHARDS_MAX && ur_shards_running(s) < UR_SHARDS_MAX) {
		err = ur_shards_grow(s, &s->engine[0]->config);
		if (err)
			return err;
		at = ur_shards_running(s) - 1;
	}
	/* A user for whom none can be made shares with others, and not with root. */
	if (at == UR_SHARDS_MAX)
		at = fewest(s, LIKE, uid);
	ur_assert(at < UR_SHARDS_MAX);
	*ret = s->engine[at];
	ur_shards_enter(*ret, uid);
	return 0;
}

void ur_shards_enter(struct ur_engine *e, uid_t uid)
{
	struct ur_shards *s = e->shards;

	if (!s->n_ectxs[e->shard]++)
		s->uid[e->shard] = uid;
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
		ur_engine_tally(e, UR_CNT_send_err, 1);
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
	for (u32 to = 0; to < ur_shards_running(e->shards); to++)
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
		ur_engine_tally(e, UR_CNT_rx_icrc_encapsulated, 1);
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
	for (u32 to = 0; put >> to; to++)
		if (put >> to & 1) {
			ur_handover_publish(&s->queue[e->shard][to]);
			atomic_fetch_or(&s->of[to].arrived, 1u << e->shard);
		}
	atomic_thread_fence(memory_order_seq_cst);
	for (u32 to = 0; put >> to; to++)
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
	for (u32 i = 0; from >> i; i++)
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
