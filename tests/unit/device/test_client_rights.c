// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The network namespace of a socket, on a kernel that has SO_NETNS_COOKIE and
 * on one that has not. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/client_rights.h"
#include "tests/check.h"
#include "tests/own_net.h"
#include "util/os/proof.h"

#define NETNS_COOKIE 71 /* SO_NETNS_COOKIE */

static bool old_kernel;

/* In front of the C library's. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (old_kernel && level == SOL_SOCKET && name == NETNS_COOKIE) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}

static void test_network(bool old)
{
	int ours, theirs, again, here;

	old_kernel = old;
	CHECK(own_net());
	CHECK_EQ(ur_client_rights_init(STDIN_FILENO), 0);
	ours = ur_proof_net_admin();
	here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	CHECK(ours >= 0 && here >= 0);
	CHECK(!unshare(CLONE_NEWNET));
	theirs = ur_proof_net_admin();
	CHECK(theirs >= 0);
	CHECK(!setns(here, CLONE_NEWNET));
	again = ur_proof_net_raw();
	CHECK(again >= 0);
	CHECK(ur_client_is_in_our_network(ours));
	CHECK(ur_client_is_in_our_network(again));
	CHECK(!ur_client_is_in_our_network(theirs));
	CHECK(!ur_client_is_in_our_network(here)); /* no socket */
	CHECK_EQ(ur_client_network(theirs), UR_CLIENT_NET_OTHER);
	CHECK_EQ(ur_client_network(here), UR_CLIENT_NET_UNKNOWN);
}

/* A socket that everybody may make proves nothing, nor does none. */
static void test_proofs(void)
{
	int plain = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int raw, admin;

	CHECK(own_net());
	raw = ur_proof_net_raw();
	admin = ur_proof_net_admin();
	CHECK(raw >= 0 && admin >= 0 && plain >= 0);
	CHECK(ur_proves_net_raw(raw) && !ur_proves_net_admin(raw));
	CHECK(ur_proves_net_admin(admin) && !ur_proves_net_raw(admin));
	CHECK(!ur_proves_net_raw(plain) && !ur_proves_net_admin(plain));
	CHECK(!ur_proves_net_raw(-1) && !ur_proves_net_admin(-1));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP("no network namespace of our own is allowed");
	if (ur_proof_net_admin() < 0 || ur_proof_net_raw() < 0)
		SKIP("no socket that shows a right can be made");
	CASE(test_network(false));
	CASE(test_network(true));
	CASE(test_proofs());
	return cases_status();
}
