// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets for a slot without sockets: they are in its ring as they came, a program that sleeps is woken,
 * they wait in the socket where there is no room, a program that spoils its words harms itself alone, a
 * ring of a grant that has ended gets nothing, and a program nothing for numbers that it has not had.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/loop.h"
#include "engine/grant/slot_numbers.h"
#include "engine/local/udp_pair.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"
#include "tests/steers.h"

#define LONG 40000u

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static struct ur_engine_config config = {
	LO_ENGINE,
	.options = "guests=1",
};

static const u8 gids[][16] = {{[10] = 0xff, 0xff, 127, 0, 0, 1}, {[15] = 1}};

static struct ur_engine *engine;

/* As a program has it. */
struct program {
	struct ur_grant grant;
	u32 qpn; /* of a queue pair */
	struct ur_peer_word *words;
	struct ur_peer_in in;
	u8 buf[UR_PEER_BYTES];
	struct ur_peer_message m;
};

static void use_slot(struct program *p, bool small)
{
	void *file;

	CHECK(!ur_engine_grant(engine, 65534, getpid(), small, UR_GRANT_RELAYED,
			       &p->grant));
	p->qpn = ur_engine_next_number(engine, p->grant.slot);
	CHECK(p->grant.relay >= 0 && p->grant.relay_words >= 0);
	/* It cannot write what the device writes. */
	CHECK(mmap(NULL, UR_PEER_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		   p->grant.relay, 0) == MAP_FAILED);
	file = mmap(NULL, UR_PEER_FILE_BYTES, PROT_READ, MAP_SHARED,
		    p->grant.relay, 0);
	p->words = mmap(NULL, UR_PEER_WORDS_BYTES, PROT_READ | PROT_WRITE,
			MAP_SHARED, p->grant.relay_words, 0);
	CHECK(file != MAP_FAILED && p->words != MAP_FAILED);
	CHECK_EQ(ftruncate(p->grant.relay_words, 0), -1);
	close(p->grant.relay);
	ur_peer_in_init(&p->in, file, p->words);
	ur_peer_read(&p->in, true);
}

static void get_slot(struct program *p)
{
	use_slot(p, false);
}

static void use(const struct program *p, u32 index)
{
	u8 gid[16];
	int fd = 0;

	CHECK(!ur_engine_grant_socket(engine, p->grant.slot, index, gid, &fd));
	CHECK_EQ(fd, -1);
	CHECK(!memcmp(gid, gids[index], 16));
}

static int sender(const u8 *gid, u16 port)
{
	union ur_sockaddr from;
	socklen_t len = ur_sockaddr_of(&from, gid, port, 1);
	int fd = socket(from.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	if (from.sa.sa_family == AF_INET)
		from.v4.sin_addr.s_addr = htonl(0x7f090909);
	CHECK(!bind(fd, &from.sa, len));
	return fd;
}

static void send_one(int fd, const u8 *gid, u32 qpn, u32 len, u8 seed)
{
	static u8 bytes[65536];
	union ur_sockaddr to;
	socklen_t to_len = ur_sockaddr_of(&to, gid, UR_ROCE_V2_UDP_PORT, 1);

	memset(bytes, seed, len);
	ur_put_be24(bytes + 5, qpn);
	CHECK_EQ(sendto(fd, bytes, len, 0, &to.sa, to_len), len);
}

static bool take(struct program *p)
{
	int got = ur_peer_get(&p->in, &p->m, p->buf);

	CHECK(got >= 0);
	if (got)
		ur_peer_done(&p->in);
	return got;
}

static void wait_for(struct program *p, u32 len, u8 seed)
{
	while (!take(p))
		poll(NULL, 0, 1);
	CHECK_EQ(p->m.len, len);
	CHECK_EQ(ur_get_be24(p->buf + 5), p->qpn);
	for (u32 i = 0; i < len; i++)
		CHECK(p->buf[i] == seed || (i >= 5 && i < 8));
}

static void test_as_it_came(struct program *p, u32 index, struct program *other)
{
	int fd = sender(gids[index], 54321);

	for (u32 i = 0; i < 300; i++) {
		u32 len = i % 2 ? 64 : LONG;

		send_one(fd, gids[index], p->qpn, len, (u8)i);
		wait_for(p, len, (u8)i);
		CHECK_EQ(p->m.sport, 54321);
		CHECK_EQ(p->m.seg, len);
		CHECK(!p->m.split);
		CHECK(!memcmp(p->m.daddr, gids[index], 16));
		CHECK_EQ(p->m.saddr[15], index ? 1 : 9);
	}
	CHECK(!take(other));
	close(fd);
}

/* Packets that the kernel has put together, though they are of several slots: each program gets its
 * own, and where in the datagram they were. */
static void test_together(struct program *a, struct program *b, u32 nobodys)
{
	const u32 numbers[] = {a->qpn, b->qpn, b->qpn, nobodys, a->qpn};
	u8 bytes[UR_ARRAY_SIZE(numbers) * 64] = {0};
	int fd = sender(gids[0], 0), segment = 64;
	union ur_sockaddr to;
	socklen_t len = ur_sockaddr_of(&to, gids[0], UR_ROCE_V2_UDP_PORT, 1);

	for (u32 i = 0; i < UR_ARRAY_SIZE(numbers); i++) {
		memset(bytes + 64 * i, (int)i + 1, 64);
		ur_put_be24(bytes + 64 * i + 5, numbers[i]);
	}
	CHECK(!setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment,
			  sizeof(segment)));
	CHECK_EQ(sendto(fd, bytes, sizeof(bytes), 0, &to.sa, len),
		 sizeof(bytes));
	wait_for(a, 64, 1);
	CHECK_EQ(a->m.first, 0);
	wait_for(a, 64, 5);
	CHECK_EQ(a->m.first, 4);
	while (!take(b))
		poll(NULL, 0, 1);
	CHECK_EQ(b->m.len, 128);
	CHECK_EQ(b->m.first, 1);
	CHECK_EQ(b->m.seg, 64);
	CHECK(b->buf[0] == 2 && b->buf[127] == 3);
	CHECK(!take(a) && !take(b));
	close(fd);
}

static int wakes(const struct program *p, bool v4)
{
	int none = 0;

	/* The device lets nothing in there. */
	CHECK(!setsockopt(p->grant.out[v4], SOL_SOCKET, SO_DETACH_FILTER, &none,
			  sizeof(none)));
	return p->grant.out[v4];
}

static void test_woken(struct program *p, u32 index)
{
	int fd = sender(gids[index], 0), woken = wakes(p, !index);
	struct pollfd at = {woken, POLLIN, 0};
	char byte[64];

	for (u32 i = 0; i < 20; i++) {
		ur_peer_sleep(&p->in, true);
		send_one(fd, gids[index], p->qpn, 64, 7);
		CHECK_EQ(poll(&at, 1, 10000), 1);
		CHECK_EQ(recv(woken, byte, sizeof(byte), 0), UR_UDP_WAKE_BYTES);
		ur_peer_sleep(&p->in, false);
		wait_for(p, 64, 7);
	}
	/* Awake, it is not. */
	send_one(fd, gids[index], p->qpn, 64, 8);
	wait_for(p, 64, 8);
	CHECK_EQ(poll(&at, 1, 0), 0);
	close(fd);
}

static void say_room(const struct program *p)
{
	const u8 wake[UR_UDP_WAKE_BYTES] = {0};
	union ur_sockaddr to;
	socklen_t len = ur_sockaddr_of(&to, gids[0], UR_ROCE_V2_UDP_PORT, 1);

	CHECK_EQ(sendto(p->grant.out[1], wake, sizeof(wake), 0, &to.sa, len),
		 sizeof(wake));
}

/* More than there is room for; with the device woken, or left to look by itself. */
static void test_full(struct program *p, bool says)
{
	int fd = sender(gids[0], 0);
	u32 n = 2 * UR_PEER_STREAM_BYTES / LONG;

	for (u32 i = 0; i < n; i++)
		send_one(fd, gids[0], p->qpn, LONG, (u8)i);
	for (u32 i = 0; i < n; i++) {
		if (says && ur_peer_woken(&p->in))
			say_room(p);
		wait_for(p, LONG, (u8)i);
	}
	close(fd);
}

static u64 missed(void)
{
	u64 values[UR_CNT_COUNT];

	ur_engine_counters(engine, values, NULL);
	return values[UR_CNT_rx_missed_errors];
}

/* What a small slot has no room for is lost, and counted. */
static void test_missed(void)
{
	u32 n = 2 * UR_PEER_STREAM_BYTES / LONG, got = 0;
	int fd = sender(gids[0], 0);
	static struct program p;
	u64 before = missed();

	use_slot(&p, true);
	use(&p, 0);
	for (u32 i = 0; i < n; i++)
		send_one(fd, gids[0], p.qpn, LONG, (u8)i);
	while (missed() == before)
		poll(NULL, 0, 1);
	do {
		got += take(&p);
		CHECK(got <= n);
	} while (missed() - before + got < n);
	CHECK(got && got < n);
	ur_engine_grant_end(engine, p.grant.slot);
	close(fd);
}

/* Others get theirs. */
static void test_spoilt(struct program *p, struct program *other)
{
	int fd = sender(gids[0], 0);

	atomic_store(&p->words[0].taken, 0x80000000);
	for (u32 i = 0; i < 40; i++) {
		send_one(fd, gids[0], p->qpn, LONG, 1);
		send_one(fd, gids[0], other->qpn, 64, (u8)i);
		wait_for(other, 64, (u8)i);
	}
	close(fd);
}

/* The slot is granted anew: what comes is in the new ring alone. */
static void test_granted_again(struct program *p, struct program *next)
{
	u32 before = atomic_load(&p->in.head->published);
	int fd = sender(gids[0], 0);

	ur_engine_grant_end(engine, p->grant.slot);
	send_one(fd, gids[0], p->qpn, 64, 1);
	do {
		get_slot(next);
		if (next->grant.slot != p->grant.slot)
			ur_engine_grant_end(engine, next->grant.slot);
	} while (next->grant.slot != p->grant.slot);
	use(next, 0);
	/* The former one's, and one that nobody has had. */
	send_one(fd, gids[0], p->qpn, 64, 1);
	send_one(fd, gids[0], next->qpn ^ 1, 64, 1);
	send_one(fd, gids[0], next->qpn, 64, 2);
	wait_for(next, 64, 2);
	CHECK_EQ(atomic_load(&p->in.head->published), before);
	close(fd);
}

static void test_address_goes(struct program *p)
{
	int fd = sender(gids[0], 0);

	CHECK(!ur_engine_set_gid(engine, 0, NULL, UR_GID_ROCE_V2));
	CHECK(!ur_engine_set_gid(engine, 0, gids[0], UR_GID_ROCE_V2));
	use(p, 0);
	send_one(fd, gids[0], p->qpn, 64, 3);
	wait_for(p, 64, 3);
	close(fd);
}

int main(int argc, char **argv)
{
	static struct program a, b, next;

	cases(&argc, argv);
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	CHECK(!ur_loop_create(&config.loop));
	ur_loop_lock(config.loop);
	CHECK(!ur_engine_create(&config, &engine));
	for (u32 i = 0; i < 2; i++)
		CHECK(!ur_engine_set_gid(engine, i, gids[i], UR_GID_ROCE_V2));
	get_slot(&a);
	get_slot(&b);
	for (u32 i = 0; i < 2; i++) {
		use(&b, i);
		use(&a, i);
	}
	for (u32 i = 0; i < 2; i++) {
		STEP(test_as_it_came(&a, i, &b));
		STEP(test_woken(&a, i));
	}
	STEP(test_together(&a, &b, (UR_PLACES - 1) << (24 - UR_PLACE_BITS)));
	STEP(test_together(&a, &b, a.qpn ^ 1));
	STEP(test_full(&a, true));
	STEP(test_full(&a, false));
	STEP(test_full(&a, true));
	STEP(test_granted_again(&b, &next));
	STEP(test_address_goes(&a));
	use(&next, 0);
	STEP(test_missed());
	STEP(test_spoilt(&a, &next));
	ur_engine_destroy(engine);
	ur_loop_unlock(config.loop); /* runs what was posted */
	ur_loop_destroy(config.loop);
	return cases_status();
}
