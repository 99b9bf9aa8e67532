// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which sockets prove CAP_NET_BIND_SERVICE, and which anybody can make. */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/own_net.h"
#include "util/os/proof.h"

static int bound(int type, int protocol, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, protocol);

	CHECK(fd >= 0);
	CHECK(!bind(fd, (struct sockaddr *)&at, sizeof(at)));
	return fd;
}

static void test_proof(void)
{
	int fd, taken;

	CHECK(own_net());
	taken = bound(SOCK_DGRAM, 0, 1);
	fd = ur_proof_net_bind();
	CHECK(fd >= 0);
	CHECK(ur_proves_net_bind(fd, 1024) && ur_proves_net_bind(taken, 1024));
	/* The namespace gives that port to all. */
	CHECK(!ur_proves_net_bind(fd, 2));
	CHECK(!ur_proves_net_bind(taken, 1) && !ur_proves_net_bind(taken, 0));
}

static void allow_echo(void)
{
	int fd = open("/proc/sys/net/ipv4/ping_group_range",
		      O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(dprintf(fd, "0 0") > 0);
	close(fd);
}

/* The identifier of echo requests stands where a port would. */
static void test_no_proof(void)
{
	CHECK(own_net());
	allow_echo();
	CHECK(!ur_proves_net_bind(bound(SOCK_DGRAM, IPPROTO_ICMP, 80), 1024));
	CHECK(!ur_proves_net_bind(bound(SOCK_DGRAM, 0, 1024), 1024));
	CHECK(!ur_proves_net_bind(bound(SOCK_DGRAM, 0, 0), 1024));
	CHECK(!ur_proves_net_bind(socket(AF_INET, SOCK_DGRAM, 0), 1024));
	CHECK(!ur_proves_net_bind(ur_proof_net_raw(), 1024));
	CHECK(!ur_proves_net_bind(-1, 1024));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (getuid() || unshare(CLONE_NEWNET))
		SKIP("takes root and a network namespace of its own");
	CASE(test_proof());
	CASE(test_no_proof());
	return cases_status();
}
