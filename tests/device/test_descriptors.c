// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Descriptors that clients show: those there is no room for, and those that
 * keep whoever looks at them, or gives them back, waiting.
 *
 * usage: test_descriptors UROCED
 */
#include <errno.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static int64_t create_cq(int sock, int32_t channel)
{
	struct ib_uverbs_create_cq req = {.cqe = 16, .comp_channel = channel};
	struct ib_uverbs_create_cq_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			     sizeof(req), &resp, sizeof(resp));
}

static int make_channel(int sock)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &resp, sizeof(resp)),
		 0);
	return (int)resp.fd;
}

/* Connect until the device turns somebody away. */
static int fill(const struct daemon_proc *d, int *socks, int max)
{
	for (int n = 0; n < max; n++) {
		struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
		int fd;

		socks[n] = client_connect(d);
		client_send(socks[n], &msg, NULL, 0);
		if (client_recv(socks[n], &msg, &fd) || msg.ret == -ENFILE) {
			close(socks[n]);
			return n;
		}
	}
	CHECK(!"it turns nobody away");
	return 0;
}

/* The device has no descriptor left: a client that shows one hears so, and is
 * served when there is room again. */
static void test_no_room(const char *uroced)
{
	struct daemon_proc small = {.max_files = 64};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .cmd = UROCE_TUN_VERSION,
				    .name = "uverbs0"};
	int sock, late, channel, socks[64], n, fd;
	int mem = client_mem();

	daemon_start(&small, uroced, 0);
	sock = client_session(&small);
	channel = make_channel(sock);
	CHECK_EQ(create_cq(sock, channel), 0);
	late = client_connect(&small);
	n = fill(&small, socks, 64);
	CHECK_EQ(create_cq(sock, channel), (int64_t)-ENFILE);
	client_send(late, &msg, &mem, 1);
	CHECK(!client_recv(late, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, (int64_t)-ENFILE);
	close(late);
	while (n)
		close(socks[--n]);
	client_settle_to(&small, 1);
	CHECK_EQ(create_cq(sock, channel), 0);
	client_check(&small);
	close(channel);
	close(sock);
	close(mem);
	daemon_stop(&small);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	client_private_net();
	test_no_room(argv[1]);
	return 0;
}
