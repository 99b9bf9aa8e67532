// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bursts that leave without the owner lock: when they may, what stays until they are ended, and the
 * packets of each queue pair in order, by several threads.
 */
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "tests/check.h"

#define THREADS 3u
#define ROUNDS	2000u
#define PACKETS 8u
#define BYTES	128u

/* A queue pair, as far as its place in a list goes. */
struct pair {
	struct ur_list active;
	u32 next;	/* number of its next packet */
	_Atomic u32 on; /* number of packets on the wire */
};

static struct ur_engine e;
static struct ur_wire wire;
static struct ur_av av;
static struct pair pair[THREADS];
static struct ur_list active;
static u32 takes; /* packets that the wire takes of a burst */

/* ---- in place of the wire and the port ---- */

static struct ur_udp_pack *pack_new(void)
{
	return calloc(1, 1);
}

static bool pack(struct ur_wire *w, const struct ur_tx *tx,
		 struct ur_udp_pack *p)
{
	CHECK_EQ(w, &wire);
	return true;
}

static u32 pack_send(struct ur_udp_pack *p, const struct ur_tx *tx)
{
	for (u32 i = 0; i < tx->n_desc; i++) {
		const u8 *at = tx->buf + tx->desc[i].off;
		struct pair *of = &pair[ur_get_be32(at)];

		CHECK_EQ(ur_get_be32(at + 4), atomic_fetch_add(&of->on, 1));
	}
	return ur_min_u32(takes, tx->n_desc);
}

static void pack_end(struct ur_udp_pack *p)
{
}

static const struct ur_packing_ops packing = {
	.pack_new = pack_new,
	.pack = pack,
	.pack_send = pack_send,
	.pack_end = pack_end,
};

void ur_port_go_on(struct ur_port *port, struct ur_list *senders)
{
	ur_list_splice(&active, senders);
}

/* ---- the tests ---- */

static void start(void)
{
	ur_asides_fini(&e);
	free(e.tx.buf);
	free(e.tx.desc);
	memset(&e, 0, sizeof(e));
	wire.packing = &packing;
	e.wires[UR_GID_ROCE_V2] = &wire;
	pthread_mutex_init(&e.mailbox.owner, NULL);
	ur_chores_init(&e.chores);
	ur_asides_init(&e);
	e.tx.cap = PACKETS * BYTES;
	e.tx.max_desc = PACKETS;
	e.tx.buf = malloc(e.tx.cap);
	e.tx.desc = calloc(PACKETS, sizeof(*e.tx.desc));
	ur_list_init(&active);
	for (u32 i = 0; i < THREADS; i++) {
		pair[i] = (struct pair){0};
		ur_list_add_tail(&active, &pair[i].active);
	}
	av = (struct ur_av){.refs = 1};
	takes = PACKETS;
	e.asides.may = true;
}

/* Fills tx with packets of the first active queue pair. */
static bool fill(struct ur_aside *a)
{
	struct pair *p;

	if (ur_list_empty(&active))
		return false;
	p = ur_list_first(&active, struct pair, active);
	ur_list_del(&p->active);
	ur_list_add_tail(&a->senders, &p->active);
	e.tx.used = 0;
	for (u32 i = 0; i < PACKETS; i++) {
		u8 *at = e.tx.buf + e.tx.used;

		ur_put_be32(at, (u32)(p - pair));
		ur_put_be32(at + 4, p->next++);
		e.tx.desc[i] = (struct ur_tx_desc){
			.off = e.tx.used, .len = BYTES, .av = &av};
		e.tx.used += BYTES;
	}
	e.tx.n_desc = PACKETS;
	return true;
}

static struct ur_aside *ready(void)
{
	struct ur_aside *a;

	ur_aside_met(&e);
	a = ur_aside_begin(&e);
	if (a)
		return a;
	CHECK(ur_chores_run(&e));
	a = ur_aside_begin(&e);
	CHECK(a != NULL);
	return a;
}

static struct ur_aside *taken(void)
{
	struct ur_aside *a = ready();

	CHECK(fill(a));
	CHECK(ur_aside_take(&e, a));
	CHECK_EQ(e.asides.mine, a);
	CHECK_EQ(e.tx.n_desc, 0);
	e.asides.mine = NULL;
	return a;
}

/* Only where threads have met, and where nothing waits for the bursts to end. */
static void test_when(void)
{
	static struct ur_faults *faults = (struct ur_faults *)&wire;
	struct ur_aside *a;

	start();
	CHECK(!ur_aside_begin(&e));
	CHECK(!ur_chores_wait(&e));
	a = ready();
	e.asides.may = false;
	CHECK(!ur_aside_begin(&e));
	e.asides.may = true;
	e.asides.mine = a;
	CHECK(!ur_aside_begin(&e));
	e.asides.mine = NULL;
	e.asides.stopped = true;
	CHECK(!ur_aside_begin(&e));
	e.asides.stopped = false;
	e.asides.quiet = true;
	CHECK(!ur_aside_begin(&e));
	e.asides.quiet = false;
	e.tx_little = true;
	CHECK(!ur_aside_begin(&e));
	e.tx_little = false;
	e.faults = faults;
	CHECK(!ur_aside_begin(&e));
	e.faults = NULL;
	e.mailbox.pending = 1;
	CHECK(!ur_aside_begin(&e));
	e.mailbox.pending = 0;
	for (u32 i = 0; i < 1000; i++)
		a = ur_aside_begin(&e);
	CHECK(!a);
}

/* A burst has its queue pair and its address vector until it is ended. */
static void test_one(void)
{
	struct ur_aside *a;

	start();
	a = taken();
	CHECK_EQ(av.refs, 1 + PACKETS);
	CHECK_EQ(ur_asides_end(&e), 1);
	CHECK(!ur_asides_wait(&e.asides));
	CHECK(active.prev != &pair[0].active);
	CHECK(taken() != a);
	ur_aside_send(&e, a);
	CHECK(ur_asides_wait(&e.asides));
	CHECK_EQ(ur_asides_end(&e), 1);
	CHECK(!ur_asides_wait(&e.asides));
	CHECK_EQ(av.refs, 1 + PACKETS);
	CHECK_EQ(active.next, &pair[0].active);
	CHECK_EQ(ready(), a);
}

/* A short fill stays in tx. */
static void test_short(void)
{
	struct ur_aside *a;

	start();
	a = ready();
	CHECK(fill(a));
	e.tx.used = 100;
	CHECK(!ur_aside_take(&e, a));
	CHECK_EQ(e.tx.n_desc, PACKETS);
	CHECK_EQ(e.asides.away, 0);
}

/* The engine sends what found no room, once it has sent what it has itself. */
static void test_stuck(void)
{
	struct ur_aside *a;

	start();
	takes = 3;
	a = taken();
	ur_aside_send(&e, a);
	e.tx_blocked = true;
	CHECK_EQ(ur_asides_end(&e), 1);
	CHECK(!ur_asides_wait(&e.asides));
	CHECK_EQ(e.tx.n_desc, 0);
	e.tx_blocked = false;
	CHECK_EQ(ur_asides_end(&e), 0);
	CHECK(e.tx_blocked);
	CHECK_EQ(e.tx.n_desc, PACKETS);
	CHECK_EQ(e.tx_sent, 3);
	CHECK_EQ(av.refs, 1 + PACKETS); /* flush() puts them */
	CHECK_EQ(active.next, &pair[0].active);
}

/* What a thread had for its burst. */
struct had {
	struct ur_aside *aside;
	const u8 *buf;
};

static void *send_one(void *arg)
{
	struct had *had = arg;

	had->aside = ready();
	had->buf = e.tx.buf;
	CHECK(fill(had->aside));
	CHECK(ur_aside_take(&e, had->aside));
	e.asides.mine = NULL;
	return NULL;
}

/* One thread at a time, as under the owner lock. */
static struct had had_by_another(void)
{
	pthread_t thread;
	struct had had;

	CHECK(!pthread_create(&thread, NULL, send_one, &had));
	pthread_join(thread, NULL);
	return had;
}

/* A thread has the set and the buffer that it had before; one that had none takes any that is free. */
static void test_own(void)
{
	struct had first, second, again;

	start();
	first = had_by_another();
	send_one(&second);
	CHECK(first.aside != second.aside && first.buf != second.buf);
	for (u32 i = 0; i < 3; i++) {
		ur_aside_send(&e, first.aside);
		ur_aside_send(&e, second.aside);
		CHECK_EQ(ur_asides_end(&e), 0);
		send_one(&again);
		CHECK_EQ(again.aside, second.aside);
		CHECK_EQ(again.buf, second.buf);
		again = had_by_another();
		CHECK_EQ(again.aside, first.aside);
		CHECK_EQ(again.buf, first.buf);
	}
	CHECK_EQ(e.asides.n, 2);
}

static void *run(void *arg)
{
	for (u32 i = 0; i < ROUNDS; i++) {
		struct ur_aside *a;

		pthread_mutex_lock(&e.mailbox.owner);
		ur_asides_end(&e);
		ur_aside_met(&e);
		a = ur_aside_begin(&e);
		if (!a)
			ur_chores_run(&e);
		if (a && (!fill(a) || !ur_aside_take(&e, a)))
			a = NULL;
		e.asides.mine = NULL;
		pthread_mutex_unlock(&e.mailbox.owner);
		if (a)
			ur_aside_send(&e, a);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];
	u64 sum = 0;

	start();
	for (u32 i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, run, NULL));
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(ur_asides_end(&e), 0);
	CHECK_EQ(av.refs, 1);
	for (u32 i = 0; i < THREADS; i++) {
		CHECK_EQ(pair[i].on, pair[i].next);
		sum += pair[i].on;
	}
	CHECK_EQ(sum, e.asides.count * PACKETS);
	CHECK(e.asides.count >= ROUNDS);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_when());
	CASE(test_one());
	CASE(test_short());
	CASE(test_stuck());
	CASE(test_own());
	CASE(test_threads());
	return cases_status();
}
