// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device of several engines that grants to programs: each engine, and each granted socket, gets
 * the datagrams for its own queue pairs, in whatever order they came and though engines come
 * later.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/ground/loop.h"
#include "engine/ground/user.h"
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"
#include "tests/steers.h"

#define EACH 40u

static struct ur_engine_config config = {
	LO_ENGINE,
	.options = "guests=1",
};

static const u8 gids[][16] = {{[10] = 0xff, 0xff, 127, 0, 0, 1}, {[15] = 1}};

static struct ur_engine *engine;
static u32 slots[2];
static int sockets[2];

/* Returns how many datagrams came to an engine. Each has a length that no packet has; from our own
 * IPv6 address it is refused before anybody looks at that. */
static u64 seen(void)
{
	u64 values[UR_CNT_COUNT];

	ur_counters_read(engine->counters, values);
	return values[UR_CNT_bad_length] + values[UR_CNT_bad_gid];
}

static u32 take(int fd)
{
	char bytes[65536];
	u32 n = 0;

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

/* From many ports, so that no hash leads all of them to the same socket. */
static void send_to(const u8 *gid, u32 place)
{
	u8 packet[62] = {[5] = (u8)(place << (8 - UR_PLACE_BITS))};
	union ur_sockaddr sa, from;
	socklen_t len = ur_sockaddr_of(&sa, gid, UR_ROCE_V2_UDP_PORT, 1);
	int fd;

	for (u32 i = 0; i < EACH; i++) {
		fd = socket(sa.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		CHECK(fd >= 0);
		ur_sockaddr_of(&from, gid, 0, 1);
		if (sa.sa.sa_family == AF_INET)
			from.v4.sin_addr.s_addr = htonl(0x7f090909);
		CHECK(!bind(fd, &from.sa, len));
		CHECK_EQ(sendto(fd, packet, sizeof(packet), 0, &sa.sa, len),
			 sizeof(packet));
		close(fd);
	}
}

static void expect_engine(const u8 *gid, u32 place)
{
	u64 before = seen();

	send_to(gid, place);
	while (seen() < before + EACH)
		poll(NULL, 0, 1);
	CHECK_EQ(seen(), before + EACH);
	CHECK_EQ(take(sockets[0]) + take(sockets[1]), 0);
}

static void expect_granted(const u8 *gid, u32 i)
{
	send_to(gid, slots[i]);
	CHECK_EQ(take(sockets[!i]), 0);
	CHECK_EQ(take(sockets[i]), EACH);
}

static void expect_all(const u8 *gid)
{
	expect_engine(gid, 0);
	expect_granted(gid, 0);
	expect_granted(gid, 1);
	/* Without a socket, or nobody's. */
	for (u32 place = 3; place < 8; place++)
		expect_engine(gid, place);
	expect_engine(gid, UR_PLACES - 2);
}

static void use_sockets(u32 i, u32 index)
{
	u8 gid[16];

	CHECK(!ur_engine_grant_socket(engine, slots[i], index, gid,
				      &sockets[i]));
	CHECK(!memcmp(gid, gids[index], 16));
}

static void make_grant(u32 index)
{
	/* In another order than the slots have. */
	sockets[0] = -1;
	use_sockets(1, index);
	expect_granted(gids[index], 1);
	use_sockets(0, index);
}

static void test_places(void)
{
	struct ur_grant grant;

	for (u32 i = 0; i < 2; i++) {
		CHECK(!ur_engine_grant(engine, 0, getpid(), false,
				       UR_GRANT_SOCKETS, &grant));
		slots[i] = grant.slot;
		CHECK_EQ(grant.slot, UR_SLOT_FIRST + i);
	}
	for (u32 i = 0; i < 2; i++)
		CHECK(!ur_engine_set_gid(engine, i, gids[i], UR_GID_ROCE_V2));
	for (u32 i = 0; i < 2; i++) {
		make_grant(i);
		expect_all(gids[i]);
	}
}

/* The one that has rested longest is granted first. */
static void test_all_granted(void)
{
	struct ur_grant grant;

	for (u32 i = 2; i < UR_SHARED_FIRST - UR_SLOT_FIRST; i++)
		CHECK(!ur_engine_grant(engine, 0, getpid(), false,
				       UR_GRANT_SOCKETS, &grant));
	CHECK_EQ(ur_engine_grant(engine, 0, getpid(), false, UR_GRANT_SOCKETS,
				 &grant),
		 -EBUSY);
	ur_engine_grant_end(engine, 20);
	ur_engine_grant_end(engine, 9);
	CHECK(!ur_engine_grant(engine, 0, getpid(), false, UR_GRANT_SOCKETS,
			       &grant));
	CHECK_EQ(grant.slot, 20);
	CHECK(!ur_engine_grant(engine, 0, getpid(), false, UR_GRANT_SOCKETS,
			       &grant));
	CHECK_EQ(grant.slot, 9);
}

/* The device gets, and counts, what comes for a program that has ended, and what it has not
 * read. */
static void test_ended(void)
{
	struct ur_grant grant;

	for (u32 i = 0; i < 2; i++) {
		u64 before;

		make_grant(i);
		before = seen();
		send_to(gids[i], slots[0]);
		CHECK_EQ(seen(), before);
		ur_engine_grant_end(engine, slots[0]);
		CHECK_EQ(seen(), before + EACH);
		CHECK_EQ(take(sockets[0]), 0);
		expect_engine(gids[i], slots[0]);
		expect_granted(gids[i], 1);
		CHECK(!ur_engine_grant(engine, 0, getpid(), false,
				       UR_GRANT_SOCKETS, &grant));
		CHECK_EQ(grant.slot, slots[0]);
		expect_engine(gids[i], slots[0]);
		use_sockets(0, i);
		expect_all(gids[i]);
	}
}

/* Nobody gets the port while the address is away; all sockets are used again when it comes back, beside the copy that a
 * program has. */
static void test_address_goes(void)
{
	union ur_sockaddr sa;
	socklen_t len = ur_sockaddr_of(&sa, gids[0], UR_ROCE_V2_UDP_PORT, 1);
	int copy, other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	make_grant(0);
	copy = dup(sockets[0]);
	CHECK(copy >= 0 && other >= 0);
	for (u32 i = 0; i < 3; i++) {
		CHECK(!ur_engine_set_gid(engine, 0, NULL, UR_GID_ROCE_V2));
		CHECK_EQ(bind(other, &sa.sa, len), -1);
		CHECK_EQ(errno, EADDRINUSE);
		CHECK(!ur_engine_set_gid(engine, 0, gids[0], UR_GID_ROCE_V2));
		make_grant(0);
		expect_all(gids[0]);
	}
	close(copy);
	close(other);
	expect_all(gids[0]);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	CHECK(!ur_loop_create(&config.loop));
	ur_loop_lock(config.loop);
	CHECK(!ur_engine_create(&config, &engine));
	STEP(test_places());
	STEP(test_address_goes());
	STEP(test_all_granted());
	STEP(test_ended());
	ur_engine_destroy(engine);
	ur_loop_unlock(config.loop); /* runs what was posted */
	ur_loop_destroy(config.loop);
	return cases_status();
}
