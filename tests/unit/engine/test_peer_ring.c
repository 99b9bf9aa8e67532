// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring between two programs: messages come as they went, also with both ends at
 * work, who sleeps is woken, and neither end believes the other: a writer who writes
 * anything anywhere, and a reader who says anything, harm nobody but themselves.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "engine/local/peer_ring.h"
#include "tests/check.h"
#include "util/rng.h"

#ifdef __SANITIZE_THREAD__
#define MESSAGES 5000u
#define ROUNDS	 3u
#define READERS	 100u
#else
#define MESSAGES 200000u
#define ROUNDS	 300u
#define READERS	 2000u
#endif
#define LONGEST	  20000u
#define FORGERIES 200000u

static u8 *file;
static struct ur_peer_word words[2];
static struct ur_peer_out out;
static struct ur_peer_in in;
static u8 buf[UR_PEER_BYTES];

static void begin(void)
{
	if (!file)
		CHECK_EQ(posix_memalign((void **)&file, 4096,
					UR_PEER_FILE_BYTES),
			 0);
	memset(file, 0, UR_PEER_FILE_BYTES);
	memset(words, 0, sizeof(words));
	ur_peer_out_init(&out, file, &words[0]);
	ur_peer_in_init(&in, file, &words[0]);
}

static bool put(u32 len, u32 n)
{
	struct ur_peer_message m = {
		.len = len, .seg = 1024, .flow_label = n, .tos = (u8)len};
	u32 way = n / 3; /* some are as the one before */
	u8 *to;

	memcpy(m.saddr, &way, sizeof(way));
	to = ur_peer_room(&out, &m);
	if (!to)
		return false;
	memset(to, (int)n, len);
	ur_peer_put(&out, &m);
	return true;
}

static void check(const struct ur_peer_message *m, u32 n)
{
	CHECK_EQ(m->flow_label, n);
	CHECK_EQ(m->tos, (u8)m->len);
	CHECK_EQ(ur_get_le32(m->saddr), n / 3);
	for (u32 i = 0; i < m->len; i++)
		CHECK_EQ(buf[i], (u8)n);
}

static void test_unseen(void)
{
	struct ur_peer_message m;

	begin();
	CHECK(!ur_peer_is_read(&out));
	ur_peer_read(&in, true);
	CHECK(ur_peer_is_read(&out) && !ur_peer_publish(&out));
	CHECK(put(80, 7));
	CHECK(!ur_peer_any(&in) && !ur_peer_get(&in, &m, buf));
	CHECK(!ur_peer_publish(&out));
	CHECK(ur_peer_any(&in));
	CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
	check(&m, 7);
	ur_peer_done(&in);
	CHECK(!ur_peer_any(&in) && !ur_peer_get(&in, &m, buf));
	CHECK(!ur_peer_woken(&in));
	ur_peer_sleep(&in, true);
	CHECK(!ur_peer_still_sleeps(&out));
	CHECK(put(80, 8) && ur_peer_publish(&out)); /* once */
	CHECK(put(80, 9) && !ur_peer_publish(&out));
	CHECK(ur_peer_still_sleeps(&out));
	ur_peer_sleep(&in, false);
	CHECK(!ur_peer_still_sleeps(&out));
	ur_peer_sleep(&in, true);
	CHECK(put(80, 10) && ur_peer_publish(&out));
}

static void put_shown(u64 at)
{
	struct ur_peer_message m = {.len = 2 * UR_PEER_BTH_ROOM,
				    .seg = 4096,
				    .split = 1,
				    .shown = 1,
				    .file = 3,
				    .at = at};

	CHECK(ur_peer_room(&out, &m));
	ur_peer_put(&out, &m);
	ur_peer_publish(&out);
}

static void get_shown(u64 at, bool good)
{
	struct ur_peer_message m;

	CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
	CHECK(m.split && m.shown && !m.shows && m.file == 3 && m.at == at);
	CHECK_EQ(ur_peer_is_good(&in), good);
	ur_peer_done(&in);
}

/* Messages that were taken back are good no more, those that come after are, however many come; and one that was read
 * before makes nothing bad. */
static void test_taken_back(void)
{
	u64 at = 0xfedcba9876;

	begin();
	put_shown(at);
	put_shown(1);
	get_shown(at, true);
	ur_peer_take_back(&out);
	put_shown(2);
	get_shown(1, false);
	get_shown(2, true);
	ur_peer_take_back(&out);
	CHECK_EQ(out.void_before, out.put - 64);
	for (u64 n = 0; n < 1u << 17; n++) {
		out.put += 1u << 16;
		in.taken = in.next = out.seen = out.put;
		atomic_store(&words[0].taken, in.taken);
		put_shown(n);
		if (!(n % 1000))
			ur_peer_take_back(&out);
		get_shown(n, n % 1000);
	}
}

/* Messages for which there is room fit, wherever the stream ends. */
static void test_room_for_all(void)
{
	struct ur_rng rng = {.state = 7};
	struct ur_peer_message m;

	begin();
	for (u32 round = 0; round < 1000; round++) {
		u32 n = 1 + ur_rng_below(&rng, 64), bytes = 0, len[64];

		for (u32 i = 0; i < n; i++)
			bytes += len[i] = 1 + ur_rng_below(&rng, 4096);
		while (!ur_peer_has_room(&out, ur_peer_most(n, bytes))) {
			CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
			ur_peer_done(&in);
		}
		for (u32 i = 0; i < n; i++)
			CHECK(put(len[i], 3 * i));
		ur_peer_publish(&out);
	}
}

/* The place of the next record has none, also where bytes of before look like one. */
static void test_stale(void)
{
	struct ur_peer_message m = {.seg = 4096};
	u32 offset;
	u8 *to;

	begin();
	for (u32 lap = 0; lap < 4;) {
		m.len = 4096 - 64 * (lap + 1);
		to = ur_peer_room(&out, &m);
		CHECK(to);
		offset = (u32)(to - (u8 *)ur_peer_mark_at(in.head, out.put));
		for (u32 i = 0; i < m.len; i += 4)
			ur_put_le32(to + i, ur_peer_mark(out.put +
							 ((offset + i) & ~63u) +
							 UR_PEER_STREAM_BYTES));
		ur_peer_put(&out, &m);
		CHECK(!ur_peer_any(&in));
		ur_peer_publish(&out);
		CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
		lap = out.put / UR_PEER_STREAM_BYTES;
		ur_peer_done(&in);
		CHECK(!ur_peer_any(&in));
	}
}

/* A new writer goes on behind all that was shown, and shows what was not once more. */
static void test_resumed(void)
{
	struct ur_peer_message m;

	for (u32 lost = 0; lost < 2; lost++) {
		begin();
		for (u32 n = 0; n < 5; n++)
			CHECK(put(80, n));
		ur_peer_publish(&out);
		if (lost) /* it ended before it could say so */
			atomic_store(&out.head->published, 0);
		CHECK(put(200, 9) && put(200, 9));
		ur_peer_out_reattach(&out, file, &words[0]);
		CHECK(put(80, 5) && put(80, 6));
		ur_peer_publish(&out);
		for (u32 n = 0; n < 7; n++) {
			CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
			check(&m, n);
			ur_peer_done(&in);
		}
		CHECK(!ur_peer_any(&in));
	}
}

/* From all places, so that the end is met everywhere. */
static void test_full(void)
{
	struct ur_peer_message m;
	u32 n, first = 0;

	begin();
	for (u32 i = 0; i < ROUNDS; i++) {
		for (n = 0; put(4112, first + n); n++)
			;
		CHECK(n >= UR_PEER_STREAM_BYTES / 4300 &&
		      n <= UR_PEER_STREAM_BYTES / 4112);
		CHECK(!ur_peer_wait(&out, 4112));
		ur_peer_publish(&out);
		for (; n; n--, first++) {
			CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
			check(&m, first);
			ur_peer_done(&in);
		}
		CHECK(ur_peer_woken(&in) && !ur_peer_woken(&in));
		CHECK(ur_peer_wait(&out, 4112) && ur_peer_woken(&in));
		CHECK(put(1 + i % 500, first));
		ur_peer_publish(&out);
		CHECK_EQ(ur_peer_get(&in, &m, buf), 1);
		check(&m, first++);
		ur_peer_done(&in);
	}
}

/* Pieces of the bulk are whole, apart, and free again when their message was taken, or
 * never put. */
static void test_bulk(void)
{
	struct ur_peer_message m = {.seg = 4096, .split = 1};
	u32 bytes = 40960, bulk, n;
	u8 *p;

	begin();
	for (u32 i = 0; i < 200; i++) {
		u32 at[64];

		for (n = 0; (p = ur_peer_reserve(&out, bytes, &at[n])); n++) {
			CHECK(!((uintptr_t)p % 4096));
			memset(p, (int)(i + n), bytes);
		}
		CHECK(n >= UR_PEER_BULK_BYTES / bytes - 1);
		/* Nothing was left, so the area begins anew. */
		CHECK(!(at[0] % UR_PEER_BULK_BYTES));
		for (u32 k = 0; k < n; k++) {
			m.bulk = at[k];
			m.len = 10 * UR_PEER_BTH_ROOM;
			if (k == 3) { /* its packets were dropped */
				ur_peer_release(&out, at[k] + bytes);
				continue;
			}
			p = ur_peer_room(&out, &m);
			CHECK(p);
			memset(p, 1, m.len);
			ur_peer_put(&out, &m);
		}
		ur_peer_publish(&out);
		CHECK(!ur_peer_reserve(&out, bytes, &bulk));
		for (u32 k = 0; k < n; k++) {
			struct ur_peer_message got;
			const u8 *there;

			if (k == 3)
				continue;
			CHECK_EQ(ur_peer_get(&in, &got, buf), 1);
			CHECK_EQ(got.bulk, at[k]);
			there = ur_peer_bulk(&in, &got);
			CHECK_EQ(there[0], (u8)(i + k));
			CHECK_EQ(there[bytes - 1], (u8)(i + k));
			ur_peer_done(&in);
		}
		CHECK_EQ(ur_peer_get(&in, &m, buf), 0);
		m.split = 1;
		m.seg = 4096;
	}
}

/* A reader that keeps up gets everything in the same memory. The writer does not count the gaps as taken. */
static void test_bulk_begins_anew(void)
{
	struct ur_peer_message m = {.seg = 4096}, got;
	u32 bytes = 61 * 4096, bulk, before = 0;

	begin();
	for (u32 i = 0; i < 100; i++) {
		CHECK(ur_peer_reserve(&out, bytes, &bulk));
		CHECK(!(bulk % UR_PEER_BULK_BYTES) && (!i || bulk != before));
		before = bulk;
		CHECK(ur_peer_may_reserve(&out, UR_PEER_BULK_BYTES / 2));
		m.split = 1;
		m.bulk = bulk;
		m.len = 61 * UR_PEER_BTH_ROOM;
		CHECK(ur_peer_room(&out, &m));
		ur_peer_put(&out, &m);
		ur_peer_publish(&out);
		CHECK_EQ(ur_peer_get(&in, &got, buf), 1);
		CHECK_EQ(got.bulk, bulk);
		ur_peer_done(&in);
	}
}

/* ---- both at work, and both sleep ---- */

static _Atomic u32 bells[2]; /* the reader's, the writer's */

static void await(u32 who)
{
	while (!atomic_exchange(&bells[who], 0))
		sched_yield();
}

static void *write_all(void *arg)
{
	struct ur_rng rng = {2};

	for (u32 n = 0; n < MESSAGES; n++) {
		u32 len = 1 + (u32)(ur_rng_u64(&rng) % LONGEST);

		while (!put(len, n)) {
			if (ur_peer_publish(&out))
				atomic_store(&bells[0], 1);
			if (!ur_peer_wait(&out, len))
				await(1);
		}
		if (ur_rng_u64(&rng) % 8 == 0 && ur_peer_publish(&out))
			atomic_store(&bells[0], 1);
	}
	if (ur_peer_publish(&out))
		atomic_store(&bells[0], 1);
	return NULL;
}

/* If one of them is not woken he hangs, and the test with him. */
static void test_both(void)
{
	struct ur_peer_message m;
	pthread_t writer;

	begin();
	CHECK_EQ(pthread_create(&writer, NULL, write_all, NULL), 0);
	for (u32 n = 0; n < MESSAGES;) {
		ur_peer_sleep(&in, true);
		atomic_thread_fence(memory_order_seq_cst);
		if (!ur_peer_any(&in))
			await(0);
		ur_peer_sleep(&in, false);
		for (; ur_peer_get(&in, &m, buf) == 1; n++) {
			CHECK_EQ(m.flow_label, n);
			CHECK_EQ(buf[0], (u8)n);
			CHECK_EQ(buf[m.len - 1], (u8)n);
			ur_peer_done(&in);
		}
		if (ur_peer_woken(&in))
			atomic_store(&bells[1], 1);
	}
	CHECK_EQ(pthread_join(writer, NULL), 0);
	CHECK(!ur_peer_any(&in));
}

/* ---- enemies ---- */

/* Whatever a writer writes, what the reader gets is whole: its bytes are in buf, or in the bulk;
 * or the ring is none. A sanitizer sees what is read beyond the file. */
static void test_writer(void)
{
	struct ur_rng rng = {3};
	u32 nonsense = 0, got = 0, apart = 0;

	begin();
	for (u32 i = 0; i < FORGERIES; i++) {
		struct ur_peer_message m;
		u32 ret;
		u64 *at = (u64 *)(file + UR_PEER_HEAD_BYTES +
				  (in.taken & (UR_PEER_STREAM_BYTES - 1)));

		/* Fields of all sizes, mostly small. */
		for (u32 k = 0; k < 8; k++) {
			u64 v = ur_rng_u64(&rng);

			at[k] = v >> (ur_rng_u64(&rng) % 64);
			if (k && v % 3 == 0)
				at[k] = at[0];
		}
		if (i % 4)
			((u8 *)at)[27] = (u8)(i / 4); /* flags */
		if (i % 1024 == 0)
			((u32 *)at)[1] = UINT32_MAX;
		atomic_store(ur_peer_mark_at(in.head, in.taken),
			     ur_peer_mark(in.taken));
		ret = (u32)ur_peer_get(&in, &m, buf);
		if (ret == (u32)-EPROTO) {
			nonsense++;
			in.taken = (u32)(ur_rng_u64(&rng) % 1000) * 64;
			continue;
		}
		if (!ret)
			continue;
		got++;
		CHECK(m.len && m.len <= UR_PEER_BYTES && m.seg);
		if (m.shows) {
			CHECK(m.len == UR_PEER_SHOWN_BYTES && !m.split);
		} else if (m.split) {
			const u8 *p = ur_peer_bulk(&in, &m);
			u32 bytes = m.len / UR_PEER_BTH_ROOM * m.seg;

			apart++;
			CHECK(m.shown ||
			      (p >= file &&
			       p + bytes <= file + UR_PEER_FILE_BYTES));
			CHECK(!m.shown || m.at < 1ull << 40);
			CHECK(m.len / UR_PEER_BTH_ROOM <= UR_PEER_PACKETS);
		} else {
			CHECK((m.len + m.seg - 1) / m.seg <= UR_PEER_PACKETS);
		}
		CHECK(in.next - in.taken <= 2 * UR_PEER_STREAM_BYTES);
		ur_peer_done(&in);
	}
	CHECK(nonsense && got);
	(void)apart;
}

/* A reader's counts are taken for what they are worth. */
static void test_reader(void)
{
	struct ur_rng rng = {4};
	u32 broken = 0, bulk;

	for (u32 i = 0; i < READERS; i++) {
		u32 n = 0;

		begin();
		words[0].taken = (u32)ur_rng_u64(&rng) >> (i % 32);
		words[0].freed = (u32)ur_rng_u64(&rng) >> (i % 31);
		while (n < 1000 && put(4112, n))
			n++;
		ur_peer_publish(&out);
		if (out.broken) {
			broken++;
			CHECK(!ur_peer_is_read(&out));
			CHECK(!put(4, 0));
			continue;
		}
		/* Only he loses by that. */
		for (n = 0; n < 100 && ur_peer_reserve(&out, 65536, &bulk);)
			n++;
	}
	CHECK(broken);
}

/* The reader says that it freed what no record has named yet. */
static void test_reader_ahead(void)
{
	struct ur_peer_message m = {.seg = 4096, .split = 1};
	u32 first, bulk;
	u8 *p;

	begin();
	ur_peer_read(&in, true);
	p = ur_peer_reserve(&out, 16 * 4096, &first);
	CHECK(p);
	words[0].freed = 16 * 4096;
	CHECK(!ur_peer_reserve(&out, 4096, &bulk));
	m.bulk = ur_peer_place(&out, p);
	m.len = 16 * UR_PEER_BTH_ROOM;
	if (ur_peer_room(&out, &m))
		ur_peer_put(&out, &m);
	else
		ur_peer_release(&out, m.bulk + 16 * m.seg);
	CHECK(!ur_peer_is_read(&out));
}

int main(void)
{
	test_unseen();
	test_taken_back();
	test_room_for_all();
	test_stale();
	test_resumed();
	test_full();
	test_bulk();
	test_bulk_begins_anew();
	test_both();
	test_writer();
	test_reader();
	test_reader_ahead();
	free(file);
	return 0;
}
