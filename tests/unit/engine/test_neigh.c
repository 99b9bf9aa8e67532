// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Neighbours' addresses where the kernel answers at once, and where it answers late. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "engine/wire/v1/neigh.h"
#include "tests/machine.h"
#include "tests/own_net.h"

#define NETDEV "v0"
#define SECOND 1000000000ull

static bool late; /* nothing has come yet */

/* In front of the C library's. */
ssize_t recvfrom(int fd, void *buf, size_t len, int flags,
		 struct sockaddr *from, socklen_t *from_len)
{
	if (late) {
		errno = EAGAIN;
		return -1;
	}
	return syscall(SYS_recvfrom, fd, buf, len, flags, from, from_len);
}

static const u8 own[16] = {[10] = 0xff, 0xff, 10, 1, 1, 1},
		one[16] = {[10] = 0xff, 0xff, 10, 1, 1, 2},
		two[16] = {[10] = 0xff, 0xff, 10, 1, 1, 3},
		six[16] = {0xfd, 0x77, [15] = 2},
		none[16] = {[10] = 0xff, 0xff, 10, 1, 1, 9};

static void check_mac(const u8 *mac, u8 last)
{
	const u8 is[6] = {2, 0, 0, 0, 0, last};

	CHECK(mac && !memcmp(mac, is, 6));
}

static u32 make_neighbours(void)
{
	if (is_emulated())
		SKIP("the emulator does not know these messages of rtnetlink");
	if (!own_net() ||
	    system("ip link add " NETDEV " type veth peer name v1 && "
		   "ip addr add 10.1.1.1/24 dev " NETDEV " && "
		   "ip addr add fd77::1/64 dev " NETDEV " nodad && "
		   "ip link set v1 up && ip link set " NETDEV " up && "
		   "ip neigh add 10.1.1.2 lladdr 2:0:0:0:0:2 dev " NETDEV " && "
		   "ip neigh add 10.1.1.3 lladdr 2:0:0:0:0:3 dev " NETDEV " && "
		   "ip neigh add fd77::2 lladdr 2:0:0:0:0:6 dev " NETDEV))
		SKIP("no network namespace with a veth pair is allowed");
	return if_nametoindex(NETDEV);
}

static void test_at_once(void)
{
	u32 ifindex = make_neighbours();
	struct ur_neigh *n;

	CHECK_EQ(ur_neigh_create(&n), 0);
	check_mac(ur_neigh_mac(n, ifindex, own, one, SECOND), 2);
	check_mac(ur_neigh_mac(n, ifindex, own, two, SECOND), 3);
	check_mac(ur_neigh_mac(n, ifindex, own, six, SECOND), 6);
	CHECK(!ur_neigh_mac(n, ifindex, own, none, SECOND));
	/* The entry is given up: the next look finds that. */
	CHECK(!system("ip neigh del 10.1.1.2 dev " NETDEV));
	CHECK(!ur_neigh_mac(n, ifindex, own, one, 2 * SECOND));
	check_mac(ur_neigh_mac(n, ifindex, own, two, 2 * SECOND), 3);
	ur_neigh_destroy(n);
}

/* An answer that comes after the next question is still its own question's. */
static void test_late(void)
{
	u32 ifindex = make_neighbours();
	struct ur_neigh *n;

	CHECK_EQ(ur_neigh_create(&n), 0);
	late = true;
	CHECK(!ur_neigh_mac(n, ifindex, own, one, SECOND));
	CHECK(!ur_neigh_mac(n, ifindex, own, none, SECOND));
	late = false;
	check_mac(ur_neigh_mac(n, ifindex, own, two, SECOND), 3);
	/* That has taken the answers before its own. */
	check_mac(ur_neigh_mac(n, ifindex, own, one, SECOND), 2);
	CHECK(!ur_neigh_mac(n, ifindex, own, none, SECOND));
	ur_neigh_destroy(n);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_at_once());
	CASE(test_late());
	return cases_status();
}
