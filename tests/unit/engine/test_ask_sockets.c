// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program that polls asks the socket where packets came last; those of its other addresses are asked as well, also
 * while packets come to that one in each turn.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/loop.h"
#include "engine/ground/own_memory.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"
#include "tests/steers.h"

#define RINGS_FILE (1ull << 40)
#define TURNS	   1000000u

static struct ur_engine_config device_config = {
	LO_ENGINE,
	.options = "guests=1",
};

static const u8 gids[][16] = {{[10] = 0xff, 0xff, 127, 0, 0, 1}, {[15] = 1}};

static struct ur_engine *device, *program;
static struct ur_grant grant;

static void start_device(void)
{
	CHECK(!ur_loop_create(&device_config.loop));
	ur_loop_lock(device_config.loop);
	CHECK(!ur_engine_create(&device_config, &device));
	for (u32 i = 0; i < 2; i++)
		CHECK(!ur_engine_set_gid(device, i, gids[i], UR_GID_ROCE_V2));
	CHECK(!ur_engine_grant(device, geteuid(), getpid(), false,
			       UR_GRANT_SOCKETS, &grant));
}

static void start_program(void)
{
	struct ur_engine_config config = device_config;
	struct ur_user_mem *mem;
	struct ur_ectx *ectx;
	struct ur_ectx_info info;
	int rings = memfd_create("rings", MFD_CLOEXEC);

	config.loop = NULL;
	config.options = "spin_us=0,hold=0";
	config.kind = &ur_program_kind;
	config.inproc = true;
	config.grant = grant;
	config.slot_bits = UR_PLACE_BITS;
	config.file = memfd_create("uverbs", MFD_CLOEXEC);
	CHECK(rings >= 0 && !ftruncate(rings, (off_t)RINGS_FILE));
	CHECK(!ur_user_mem_own(&mem));
	CHECK(!ur_engine_create(&config, &program));
	CHECK(!ur_ectx_create(program, rings, mem, 0, &ectx, &info));
	for (u32 i = 0; i < 2; i++) {
		u8 gid[16];
		int fd;

		CHECK(!ur_engine_grant_socket(device, grant.slot, i, gid, &fd));
		CHECK(!ur_engine_use_gid(program, i, gid,
					 fcntl(fd, F_DUPFD_CLOEXEC, 0)));
	}
}

/* How many have come. Each has a length that no packet has; from our own IPv6 address
 * it is refused before anybody looks at that. */
static u64 seen(void)
{
	u64 values[UR_CNT_COUNT];

	ur_counters_read(ur_port_counters(program->port), values);
	return values[UR_CNT_bad_length] + values[UR_CNT_bad_gid];
}

static void send_one(const u8 *gid)
{
	const u8 bytes[9] = {[5] = (u8)(grant.slot << (8 - UR_PLACE_BITS))};
	union ur_sockaddr to;
	socklen_t len = ur_sockaddr_of(&to, gid, UR_ROCE_V2_UDP_PORT, 1);
	int fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_EQ(sendto(fd, bytes, sizeof(bytes), 0, &to.sa, len), 9);
	close(fd);
}

static void poll_until(u64 wanted)
{
	for (u32 i = 0; i < TURNS && seen() < wanted; i++)
		CHECK(ur_engine_drive(program, false));
	CHECK_EQ(seen(), wanted);
}

static void test_each(void)
{
	u64 before = seen();

	for (u32 i = 0; i < 100; i++) {
		send_one(gids[i & 1]);
		poll_until(before + i + 1);
	}
}

/* One for the other address, and many for this. */
static void test_beside(u32 other)
{
	u64 before = seen();
	u32 n = 0;

	for (u32 i = 0; i < 20; i++) {
		send_one(gids[!other]);
		poll_until(before + ++n);
		for (u32 k = 0; k < 50; k++, n++)
			send_one(gids[!other]);
		send_one(gids[other]);
		poll_until(before + ++n);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	start_device();
	start_program();
	STEP(test_each());
	STEP(test_beside(0));
	STEP(test_beside(1));
	return cases_status();
}
