// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The netdev's life as programs see it: addresses that come and go are GIDs,
 * the link is the port's state, each with its asynchronous event.
 *
 * usage: test_net UROCED
 */
#include <errno.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

#define EVENT_PORT_ACTIVE 9 /* enum ibv_event_type */
#define EVENT_PORT_ERR	  10
#define EVENT_GID_CHANGE  18

static struct daemon_proc dev;

static void ip(const char *args)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "ip %s", args);
	CHECK_EQ(system(cmd), 0);
}

static void expect_event(int async, uint32_t type)
{
	struct ib_uverbs_async_event_desc ev = {0};
	struct pollfd p = {.fd = async, .events = POLLIN};

	do {
		CHECK_EQ(poll(&p, 1, 30000), 1);
		CHECK_EQ(read(async, &ev, sizeof(ev)), sizeof(ev));
		CHECK_EQ(ev.element, 1);
		/* Bringing a link down takes addresses along. */
	} while (ev.event_type == EVENT_GID_CHANGE && ev.event_type != type);
	CHECK_EQ(ev.event_type, type);
}

static void read_file(const char *name, char *text, size_t size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uroce0/%s",
		 dev.dir, name);
	f = fopen(path, "re");
	CHECK(f);
	CHECK(fgets(text, (int)size, f));
	fclose(f);
}

static int find_gid(const char *gid)
{
	char name[64], text[64];

	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "ports/1/gids/%d", i);
		read_file(name, text, sizeof(text));
		if (!strncmp(text, gid, strlen(gid)))
			return i;
	}
	return -1;
}

static struct ib_uverbs_query_port_resp query_port(int sock)
{
	struct ib_uverbs_query_port req = {.port_num = 1};
	struct ib_uverbs_query_port_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_QUERY_PORT, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp;
}

static int64_t create_ah(int sock, uint32_t pd, uint8_t sgid_index, int grh)
{
	struct ib_uverbs_create_ah req = {
		.pd_handle = pd,
		.attr = {.grh = {.dgid = {[10] = 0xff, 0xff, 10, 9, 9, 9},
				 .sgid_index = sgid_index,
				 .hop_limit = 64},
			 .is_global = (uint8_t)grh,
			 .port_num = 1},
	};
	struct {
		struct ib_uverbs_create_ah_resp core;
		struct uroce_create_ah_resp udata;
	} resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_CREATE_AH, &req,
			     sizeof(req), &resp, sizeof(resp));
}

static void make_netdev(void)
{
	ip("addr add 10.8.8.8/24 dev uro0");
	ip("link set uro0 up");
	ip("link set uro1 up");
}

/* A netdev that goes away and is made again under the same name. */
static void test_made_anew(const char *uroced)
{
	static const char gid[] = "0000:0000:0000:0000:0000:ffff:0a08:0808";
	static const char add[] = "ip link add uro0 type veth peer name uro1";
	struct uroce_alloc_ucontext_resp ctx;
	int sock, async;

	if (system(add)) {
		printf("no veth here: a netdev made anew is not tested\n");
		return;
	}
	make_netdev();
	dev = (struct daemon_proc){.netdev = "uro0"};
	daemon_start(&dev, uroced, 0);
	sock = client_open(&dev, "uverbs0", NULL);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	async = client_alloc_async(sock);
	while (query_port(sock).state != 4)
		usleep(1000);
	CHECK_EQ(find_gid(gid), 0);
	ip("link del uro0");
	while (query_port(sock).state != 1 || find_gid(gid) >= 0)
		usleep(1000);
	CHECK(!system(add));
	make_netdev();
	while (query_port(sock).state != 4 || find_gid(gid) < 0)
		usleep(1000);
	close(async);
	close(sock);
	daemon_stop(&dev);
}

int main(int argc, char **argv)
{
	static const char added[] = "0000:0000:0000:0000:0000:ffff:0a09:0909";
	struct uroce_alloc_ucontext_resp ctx;
	struct ib_uverbs_alloc_pd pd_req = {0};
	struct ib_uverbs_alloc_pd_resp pd = {0};
	int sock, async, index;
	char text[64];

	CHECK(argc > 1);
	if (system("ip -V >/dev/null 2>&1"))
		SKIP("no ip command");
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	sock = client_open(&dev, "uverbs0", NULL);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	async = client_alloc_async(sock);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ALLOC_PD, &pd_req,
			       sizeof(pd_req), &pd, sizeof(pd)),
		 0);
	CHECK_EQ(find_gid("0000:0000:0000:0000:0000:ffff:7f00:0001"), 0);
	CHECK_EQ(query_port(sock).state, 4);
	CHECK_EQ(query_port(sock).active_mtu, 5);

	/* An address comes and goes. */
	CHECK_EQ(find_gid(added), -1);
	ip("addr add 10.9.9.9/32 dev lo");
	expect_event(async, EVENT_GID_CHANGE);
	index = find_gid(added);
	CHECK(index > 0);
	CHECK_EQ(create_ah(sock, pd.pd_handle, (uint8_t)index, 1), 0);
	CHECK_EQ(create_ah(sock, pd.pd_handle, (uint8_t)index, 0),
		 (int64_t)-EINVAL);
	ip("addr del 10.9.9.9/32 dev lo");
	expect_event(async, EVENT_GID_CHANGE);
	CHECK_EQ(find_gid(added), -1);
	CHECK_EQ(create_ah(sock, pd.pd_handle, (uint8_t)index, 1),
		 (int64_t)-EINVAL);

	/* The MTU follows the netdev's. */
	ip("link set lo mtu 1500");
	while (query_port(sock).active_mtu != 3)
		usleep(1000);
	ip("link set lo mtu 9000");
	while (query_port(sock).active_mtu != 5)
		usleep(1000);

	/* The link. */
	ip("link set lo down");
	expect_event(async, EVENT_PORT_ERR);
	CHECK_EQ(query_port(sock).state, 1);
	read_file("ports/1/state", text, sizeof(text));
	CHECK(!strcmp(text, "1: DOWN\n"));
	ip("link set lo up");
	expect_event(async, EVENT_PORT_ACTIVE);
	CHECK_EQ(query_port(sock).state, 4);
	close(sock);
	daemon_stop(&dev);
	test_made_anew(argv[1]);
	return 0;
}
