// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Clients that stall in the middle of something, or fill the pause with what
 * nobody asked for. Nobody else waits for them.
 *
 * usage: test_stall UROCED
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static struct daemon_proc dev;

/* While the device waits for a descriptor, as many notices of closed event
 * files as it keeps, and then one more. */
static void test_closed_while_asked(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .cmd = UROCE_TUN_VERSION};
	int visible, fd, mem = client_mem();
	int opener = client_open(&dev, "uverbs0", &visible);
	int sock = client_connect(&dev);

	msg.arg = (uint64_t)visible;
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_FGET);
	for (int i = 0; i < 32; i++) {
		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_CLOSE_FD;
		msg.cookie = UINT64_MAX;
		client_send(sock, &msg, NULL, 0);
	}
	msg.op = UROCE_TUN_FD;
	client_send(sock, &msg, &visible, 1);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, 0);
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_CLOSE_FD;
	msg.cookie = UINT64_MAX;
	client_send(sock, &msg, NULL, 0);
	/* An answer says that the notice was heard. */
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_SYNC;
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	close(sock);
	close(visible);
	close(opener);
	client_check(&dev);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	test_closed_while_asked();
	client_settle(&dev);
	daemon_stop(&dev);
	return 0;
}
