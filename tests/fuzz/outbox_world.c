// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine of the outbox door, and the place where its datagrams are caught. */
#include "tests/fuzz/outbox_world.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "engine/ground/loop.h"
#include "engine/core/engine_impl.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"
#include "tests/steers.h"

#define V4(a, b, c, d)                                \
	{                                             \
		[10] = 0xff, 0xff, (a), (b), (c), (d) \
	}

const u8 outbox_gids[OUTBOX_GIDS][16] = {
	[OWN_V4] = V4(10, 77, 0, 1),
	[OWN_V6] = {0xfd, 0x77, [15] = 1},
	[ALIEN_V4] = V4(10, 77, 0, 9),
	[PEER_V4] = V4(10, 77, 0, 2),
	[PEER_V6] = {0xfd, 0x77, [15] = 2},
	[GROUP_V4] = V4(239, 1, 2, 3),
	[GROUP_V6] = {0xff, 0x15, [15] = 7},
	[HOST_V4] = V4(127, 0, 0, 1),
	[HOST_V6] = {[15] = 1},
	[ANY_V4] = V4(0, 0, 0, 0),
	[ALL_V4] = V4(255, 255, 255, 255),
	[LINK_V6] = {0xfe, 0x80, [15] = 2},
};

struct outbox_world outbox_world;
static struct outbox_world *const w = &outbox_world;

static struct ur_engine_config config = {
	LO_ENGINE,
	.options = "guests=1,spin_us=0",
};

int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned int n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int n, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

static const struct outbox_rights *rights(void)
{
	static struct outbox_rights its;

	its = (struct outbox_rights){outbox_gids, OWN_V6 + 1, OUTBOX_SLOT,
				     w->grant.port};
	return &its;
}

static bool is_granted(int fd)
{
	return w->outbox && (fd == w->grant.out[0] || fd == w->grant.out[1]);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int n, int flags)
{
	int err;

	if (!is_granted(fd))
		return __real_sendmmsg(fd, msg, n, flags);
	CHECK_EQ(n, 1);
	w->packets += outbox_oracle_datagram(rights(), &msg->msg_hdr);
	w->bytes += msg->msg_hdr.msg_iov->iov_len;
	w->datagrams++;
	err = w->leaves ? w->leaves(w->arg) : 0;
	if (!err)
		return 1;
	errno = err;
	return -1;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (!is_granted(fd))
		return __real_sendmsg(fd, msg, flags);
	outbox_oracle_wake(rights(), msg);
	/* uroced waits for nobody. */
	CHECK(flags & MSG_DONTWAIT);
	w->wakes++;
	return (ssize_t)msg->msg_iov->iov_len;
}

/* ---- the engine ---- */

struct in6_request {
	u8 address[16];
	u32 prefix;
	int ifindex;
};

/* A worker of the kernel makes a new address usable, on the loopback device, too. */
static void wait_for_address(const u8 gid[16])
{
	int sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union ur_sockaddr sa;

	CHECK(sock >= 0);
	ur_sockaddr_of(&sa, gid, 0, 0);
	while (bind(sock, &sa.sa, sizeof(sa.v6)) < 0) {
		CHECK_EQ(errno, EADDRNOTAVAIL);
		usleep(1000);
	}
	close(sock);
}

static void add_addresses(void)
{
	struct in6_request in6 = {.prefix = 64, .ifindex = 1};
	int v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    v6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(v4 >= 0);
	for (u32 i = 0; i < 2; i++) {
		struct ifreq ifr;
		union ur_sockaddr sa;

		memset(&ifr, 0, sizeof(ifr));
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "lo:%u", i + 1);
		ur_sockaddr_of(&sa, outbox_gids[i ? ALIEN_V4 : OWN_V4], 0, 1);
		memcpy(&ifr.ifr_addr, &sa.v4, sizeof(sa.v4));
		CHECK(!ioctl(v4, SIOCSIFADDR, &ifr));
	}
	memcpy(in6.address, outbox_gids[OWN_V6], 16);
	if (v6 < 0 || ioctl(v6, SIOCSIFADDR, &in6))
		SKIP("no IPv6");
	wait_for_address(in6.address);
	close(v4);
	close(v6);
}

/* Descriptors that the caller has. */
static void close_granted(const struct ur_grant *grant)
{
	if (grant->relay >= 0)
		close(grant->relay);
	if (grant->bell >= 0)
		close(grant->bell);
}

static void use(u32 slot, u32 index)
{
	u8 gid[16];
	int fd = -1;

	CHECK(!ur_engine_grant_socket(w->engine, slot, index, gid, &fd));
}

static void grant_others(void)
{
	for (u32 slot = 1; slot < OUTBOX_SLOT; slot++) {
		struct ur_grant grant;

		CHECK(!ur_engine_grant(w->engine, 0, getpid(), false,
				       slot == OUTBOX_FAR ? UR_GRANT_FAR
				       : slot == OUTBOX_RELAYED
					       ? UR_GRANT_RELAYED
					       : UR_GRANT_SOCKETS,
				       &grant));
		CHECK_EQ(grant.slot, slot);
		if (slot <= OUTBOX_RELAYED)
			use(slot, OWN_V4);
		close_granted(&grant);
	}
}

void outbox_world_start(void)
{
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	add_addresses();
	CHECK(!ur_loop_create(&config.loop));
	ur_loop_lock(config.loop);
	CHECK(!ur_engine_create(&config, &w->engine));
	for (u32 i = 0; i <= ALIEN_V4; i++)
		CHECK(!ur_engine_set_gid(w->engine, i, outbox_gids[i],
					 UR_GID_ROCE_V2));
	grant_others();
	/* All that stays for the slot is there from then on. */
	outbox_world_grant(true);
	outbox_world_end();
}

static void *map(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

void outbox_world_grant(bool groups)
{
	const struct ur_wire_udp *wire;

	CHECK(!ur_engine_grant(w->engine, 65534, getpid(), false, UR_GRANT_FAR,
			       &w->grant));
	CHECK_EQ(w->grant.slot, OUTBOX_SLOT);
	wire = ur_container_of(ur_wire_of(w->engine, false), struct ur_wire_udp,
			       wire);
	w->outbox = wire->outboxes[OUTBOX_SLOT];
	w->relay = wire->relays[OUTBOX_SLOT];
	use(OUTBOX_SLOT, OWN_V4);
	use(OUTBOX_SLOT, OWN_V6);
	for (u32 i = GROUP_V4; groups && i <= GROUP_V6; i++)
		CHECK(!ur_engine_grant_group(w->engine, OUTBOX_SLOT,
					     outbox_gids[i], true));
	w->file = map(w->grant.outbox, UR_PEER_FILE_BYTES);
	w->words = map(w->grant.relay_words, UR_PEER_WORDS_BYTES);
	w->datagrams = w->packets = w->wakes = 0;
	w->bytes = 0;
}

void outbox_world_end(void)
{
	ur_engine_grant_end(w->engine, OUTBOX_SLOT);
	w->outbox = NULL;
	munmap(w->file, UR_PEER_FILE_BYTES);
	munmap(w->words, UR_PEER_WORDS_BYTES);
	close_granted(&w->grant);
}
