// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Neighbours' addresses where the kernel answers at once, and where it keeps a request for long. */
#include <net/if.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/wire/v1/neigh.h"
#include "tests/machine.h"
#include "tests/own_net.h"
#include "util/os/clock.h"

#define NETDEV	"v0"
#define SECOND	1000000000ull
#define WAIT_MS 10000

static atomic_bool held; /* the kernel takes no request */

/* In front of the C library's, whose function the thread calls. */
ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	while (atomic_load(&held))
		ur_nap_ns(1000000);
	return syscall(SYS_sendto, fd, buf, len, flags, NULL, 0);
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

/* Waits for a reply. */
static void wait_for(struct ur_neigh *n)
{
	struct pollfd pfd = {.fd = ur_neigh_fd(n), .events = POLLIN};

	CHECK_EQ(poll(&pfd, 1, WAIT_MS), 1);
	ur_neigh_read(n);
}

static struct ur_neigh *make(void)
{
	struct ur_neigh *n;
	int fd = ur_neigh_socket();

	CHECK(fd >= 0);
	CHECK_EQ(ur_neigh_create(fd, &n), 0);
	return n;
}

/* Returns the address that the resolver has after its next reply. */
static const u8 *look(struct ur_neigh *n, u32 ifindex, const u8 gid[16],
		      ur_time now)
{
	ur_neigh_mac(n, ifindex, own, gid, now);
	wait_for(n);
	return ur_neigh_mac(n, ifindex, own, gid, now);
}

static void test_at_once(void)
{
	u32 ifindex = make_neighbours();
	struct ur_neigh *n = make();

	CHECK(!ur_neigh_mac(n, ifindex, own, one, SECOND));
	wait_for(n);
	check_mac(ur_neigh_mac(n, ifindex, own, one, SECOND), 2);
	check_mac(look(n, ifindex, two, SECOND), 3);
	check_mac(look(n, ifindex, six, SECOND), 6);
	CHECK(!look(n, ifindex, none, SECOND));
	/* The entry is given up: the next look finds that. */
	CHECK(!system("ip neigh del 10.1.1.2 dev " NETDEV));
	CHECK(!look(n, ifindex, one, 2 * SECOND));
	check_mac(ur_neigh_mac(n, ifindex, own, two, 2 * SECOND), 3);
	ur_neigh_destroy(n);
}

/* The engine's thread goes on while the kernel holds a request up, and ends. */
static void test_held(void)
{
	u32 ifindex = make_neighbours();
	struct ur_neigh *n = make();

	check_mac(look(n, ifindex, one, SECOND), 2);
	atomic_store(&held, true);
	check_mac(ur_neigh_mac(n, ifindex, own, one, 2 * SECOND), 2);
	CHECK(!ur_neigh_mac(n, ifindex, own, two, 2 * SECOND));
	check_mac(ur_neigh_mac(n, ifindex, own, one, 3 * SECOND), 2);
	atomic_store(&held, false);
	wait_for(n);
	while (!ur_neigh_mac(n, ifindex, own, two, 4 * SECOND))
		wait_for(n);
	check_mac(ur_neigh_mac(n, ifindex, own, two, 4 * SECOND), 3);
	atomic_store(&held, true);
	ur_neigh_mac(n, ifindex, own, six, 4 * SECOND);
	ur_neigh_destroy(n);
	atomic_store(&held, false);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_at_once());
	CASE(test_held());
	return cases_status();
}
