// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device with an engine for each user: the kernel gives each engine the datagrams for
 * its own queue pairs, users are shared out, and an address that one device
 * has is refused to another, of the same user too.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include "engine/faults/faults.h"
#include "engine/several/shards.h"
#include "engine/ground/loop.h"
#include "engine/ground/user.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"
#include "tests/steers.h"

#define ENGINES 3u
#define EACH	40u

static struct ur_engine_config config = {
	LO_ENGINE,
	.by_user = true,
};

static const u8 gids[][16] = {
	{[10] = 0xff, 0xff, 127, 0, 0, 1},
	{[10] = 0xff, 0xff, 127, 0, 0, 2},
	{[15] = 1},
};

/* Datagrams that an engine's own socket got: each has a length that no packet has.
 * (Of those with a wrong ICRC alone, one in 32768 would pass: udp_ids.h.) */
static u64 arrived(struct ur_engine *engine, u32 shard)
{
	u64 values[UR_CNT_COUNT];

	ur_port_read_counters(ur_shards_nth(engine, shard)->port, values);
	return values[UR_CNT_bad_length];
}

static void send_to(const u8 *gid, u32 qpn)
{
	u8 packet[62] = {0};
	union ur_sockaddr sa;
	socklen_t len = ur_sockaddr_of(&sa, gid, UR_ROCE_V2_UDP_PORT, 1);
	int fd = socket(sa.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union ur_sockaddr from;

	/* From an address that is nobody's. */
	CHECK(fd >= 0);
	if (sa.sa.sa_family == AF_INET) {
		ur_sockaddr_of(&from, gid, 0, 1);
		from.v4.sin_addr.s_addr = htonl(0x7f090909);
		CHECK(!bind(fd, &from.sa, len));
	}
	packet[5] = (u8)(qpn >> 16);
	packet[6] = (u8)(qpn >> 8);
	packet[7] = (u8)qpn;
	CHECK_EQ(sendto(fd, packet, sizeof(packet), 0, &sa.sa, len), 62);
	close(fd);
}

static void expect(struct ur_engine *engine, const u8 *gid, u32 qpn, u32 shard)
{
	u32 n = ur_engine_count(engine);
	u64 before[UR_SHARDS_MAX];

	for (u32 i = 0; i < n; i++)
		before[i] = arrived(engine, i);
	for (u32 i = 0; i < EACH; i++)
		send_to(gid, qpn + i);
	while (arrived(engine, shard) < before[shard] + EACH)
		poll(NULL, 0, 1);
	for (u32 i = 0; i < n; i++)
		CHECK_EQ(arrived(engine, i),
			 before[i] + (i == shard ? EACH : 0));
}

static void expect_all(struct ur_engine *engine, const u8 *gid)
{
	expect(engine, gid, 1, 0);
	expect(engine, gid, 1u << 19, 1);
	expect(engine, gid, 2u << 19, 2);
	/* There is no fourth engine: the first has what nobody claims. */
	expect(engine, gid, 3u << 19, 0);
}

static void test_steered(struct ur_engine *engine)
{
	/* Addresses come and go in every order. */
	CHECK_EQ(ur_engine_set_gid(engine, 0, gids[0], UR_GID_ROCE_V2), 0);
	expect_all(engine, gids[0]);
	CHECK_EQ(ur_engine_set_gid(engine, 1, gids[1], UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 0, NULL, UR_GID_ROCE_V2), 0);
	expect_all(engine, gids[1]);
	CHECK_EQ(ur_engine_set_gid(engine, 5, gids[0], UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 1, gids[0], UR_GID_ROCE_V2), 0);
	expect_all(engine, gids[0]);
	CHECK_EQ(ur_engine_set_gid(engine, 5, NULL, UR_GID_ROCE_V2), 0);
	expect_all(engine, gids[0]);
}

/* Whether users have engines of their own or not. */
static void test_taken(struct ur_engine *engine, bool by_user)
{
	struct ur_engine_config other = config;
	struct ur_engine *second;

	other.by_user = by_user;
	CHECK_EQ(ur_engine_create(&other, &second), 0);
	CHECK_EQ(ur_engine_set_gid(second, 0, gids[0], UR_GID_ROCE_V2),
		 -EADDRINUSE);
	CHECK_EQ(ur_engine_set_gid(second, 0, gids[2], UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 3, gids[2], UR_GID_ROCE_V2),
		 -EADDRINUSE);
	/* Nothing is left behind where it was refused. */
	ur_engine_destroy(second);
	CHECK_EQ(ur_engine_set_gid(engine, 3, gids[2], UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 3, NULL, UR_GID_ROCE_V2), 0);
	expect_all(engine, gids[0]);
}

static void test_counted(struct ur_engine *engine)
{
	u64 sum = 0, values[UR_CNT_COUNT];

	for (u32 i = 0; i < ENGINES; i++)
		sum += arrived(engine, i);
	ur_engine_counters(engine, values, NULL);
	CHECK_EQ(values[UR_CNT_bad_length], sum);
	CHECK_EQ(ur_engine_count(engine), ENGINES);
}

/* ---- engines of users ---- */

static struct ur_ectx *users[2 * UR_SHARDS_MAX];
static u32 n_users;

/* A context of that user; returns its engine. */
static u32 come(struct ur_engine *engine, struct ur_user_mem *mem, uid_t uid)
{
	int fd = memfd_create("rings", MFD_CLOEXEC);
	struct ur_ectx_info info;

	CHECK(fd >= 0 && !ftruncate(fd, 64 << 20));
	mem->uid = uid;
	CHECK_EQ(ur_ectx_create(engine, fd, mem, 0, &users[n_users], &info), 0);
	return ur_ectx_shard(users[n_users++]);
}

static void go(u32 n)
{
	ur_ectx_destroy(users[n]);
	users[n] = users[--n_users];
}

/* Checks that control's settings hold in each engine, whenever that was made.
 * */
static void expect_told(struct ur_engine *engine, u32 n)
{
	CHECK_EQ(ur_engine_count(engine), n);
	for (u32 i = 0; i < n; i++) {
		const struct ur_engine *e = ur_shards_nth(engine, i);

		CHECK_EQ(e->config.ifindex, 7);
		CHECK_EQ(e->config.mtu_bytes, 512);
		CHECK_EQ(e->cc.link_bps, 12345678);
		CHECK(e->ecn && !strcmp(e->netdev, "other"));
		CHECK(e->faults && !ur_list_empty(&e->faults->rules));
	}
	/* Five bits say which one it is. */
	for (u32 i = 0; i < 8; i++)
		expect(engine, gids[0], (i << 19) + 1, i < n ? i : 0);
}

static void test_users(struct ur_user_mem *self)
{
	const struct ur_fault_rule rule = {.prob = 0};
	const struct ur_cc_config cc = {.link_bps = 12345678};
	struct ur_engine *engine;
	struct ur_efault *fault;

	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	ur_engine_set_ifindex(engine, 7);
	ur_engine_set_mtu(engine, 512);
	ur_engine_set_cc(engine, &cc, true);
	ur_engine_set_netdev(engine, "other");
	CHECK_EQ(ur_engine_fault_add(engine, &rule, &fault), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 3, gids[0], UR_GID_ROCE_V2), 0);
	/* None is there before its user, and root needs no other. */
	CHECK_EQ(come(engine, self, 0), 0);
	CHECK_EQ(come(engine, self, 0), 0);
	CHECK_EQ(come(engine, self, 0), 0);
	expect_told(engine, 1);
	CHECK_EQ(come(engine, self, 65534), 1);
	CHECK_EQ(come(engine, self, 65534), 1);
	CHECK_EQ(come(engine, self, 0), 0);
	expect_told(engine, 2);
	CHECK_EQ(come(engine, self, 65533), 2);
	expect_told(engine, 3);
	/* An engine that the first user leaves is the next one's. */
	go(3);
	CHECK_EQ(come(engine, self, 65532), 3);
	CHECK_EQ(ur_ectx_shard(users[3]), 2);
	CHECK_EQ(ur_ectx_shard(users[4]), 1);
	go(4);
	CHECK_EQ(come(engine, self, 65531), 1);
	/* Addresses come and go in all of them. */
	CHECK_EQ(ur_engine_set_gid(engine, 3, NULL, UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 5, gids[0], UR_GID_ROCE_V2), 0);
	for (u32 i = 4; i < 8; i++)
		CHECK_EQ(come(engine, self, 1000 + i), i);
	expect_told(engine, 8);
	/* Those who come when all are taken share, and with none of root. */
	for (u32 i = 0; i < 4; i++)
		CHECK(come(engine, self, 2000 + i) != 0);
	CHECK_EQ(come(engine, self, 0), 0);
	CHECK_EQ(ur_engine_count(engine), 8);
	while (n_users)
		go(0);
	ur_engine_fault_del(engine, fault);
	ur_engine_destroy(engine);
}

int main(int argc, char **argv)
{
	struct ur_user_mem *self;
	struct ur_engine *engine;

	cases(&argc, argv);
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	CHECK_EQ(ur_loop_create(&config.loop), 0);
	ur_loop_lock(config.loop);
	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	CHECK_EQ(ur_user_mem_create(open("/proc/self/mem", O_RDWR), getpid(),
				    &self),
		 0);
	CHECK_EQ(come(engine, self, 65534), 1);
	CHECK_EQ(come(engine, self, 65533), 2);
	STEP(test_steered(engine));
	STEP(test_taken(engine, false));
	STEP(test_taken(engine, true));
	STEP(test_counted(engine));
	while (n_users)
		go(0);
	ur_engine_destroy(engine);
	STEP(test_users(self));
	ur_user_mem_put(self);
	ur_loop_unlock(config.loop); /* runs what was posted */
	ur_loop_destroy(config.loop);
	return cases_status();
}
