// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client gets the descriptor that its command was about, whatever becomes of it here between the release of the
 * control lock and the message.
 *
 * usage: test_installed UROCED_HELD
 */
#include <arpa/inet.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/held_send.h"

#define ADDRESS	  "10.9.9.9"
#define GID	  "0000:0000:0000:0000:0000:ffff:0a09:0909"
#define ROCE_PORT 4791

static struct daemon_proc dev;
static struct held_send *page;

static void share_page(void)
{
	int fd = memfd_create("held", 0);
	char text[16];
	void *p;

	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, sizeof(*page)));
	p = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 0);
	CHECK(p != MAP_FAILED);
	page = p;
	snprintf(text, sizeof(text), "%d", fd);
	CHECK(!setenv(HELD_SEND_ENV, text, 1));
}

static void change_address(const char *how)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "ip addr %s " ADDRESS "/32 dev lo", how);
	CHECK_EQ(system(cmd), 0);
}

static int has_gid(int index)
{
	char path[160], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/uroce0/ports/1/gids/%d", dev.dir,
		 index);
	f = fopen(path, "re");
	if (!f)
		return 0;
	CHECK(fgets(text, sizeof(text), f));
	fclose(f);
	return !strncmp(text, GID, strlen(GID));
}

static int wait_gid(void)
{
	for (int i = 0;; i = (i + 1) % 16)
		if (has_gid(i))
			return i;
}

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[2];
};

static void send_command(int sock, struct command *cmd, uint16_t method,
			 const uint32_t *index, void *resp, uint16_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_IOCTL,
				    .call.request = RDMA_VERBS_IOCTL,
				    .call.arg = (uintptr_t)cmd};
	struct ib_uverbs_attr *a = cmd->attr;

	memset(cmd, 0, sizeof(*cmd));
	if (index)
		*a++ = (struct ib_uverbs_attr){
			.attr_id = UROCE_ATTR_ENGINE_SOCKET_INDEX,
			.len = sizeof(*index),
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = *index};
	*a++ = (struct ib_uverbs_attr){
		.attr_id = index ? UROCE_ATTR_ENGINE_SOCKET_RESP
				 : UROCE_ATTR_ENGINE_OPEN_RESP,
		.len = len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = (uintptr_t)resp};
	cmd->hdr = (struct ib_uverbs_ioctl_hdr){
		.object_id = UVERBS_OBJECT_DEVICE,
		.method_id = method,
		.num_attrs = (uint16_t)(a - cmd->attr)};
	cmd->hdr.length = (uint16_t)((char *)a - (char *)cmd);
	client_send(sock, &msg, NULL, 0);
}

static void open_engine(int sock)
{
	static struct uroce_engine_open open;
	struct uroce_tun_msg msg;
	struct command cmd;

	send_command(sock, &cmd, UROCE_METHOD_ENGINE_OPEN, NULL, &open,
		     sizeof(open));
	CHECK_EQ(client_hear(sock, &msg), 0);
}

/* The client answers as one that has put it there. */
static int take_installed(int sock)
{
	struct uroce_tun_msg msg, reply = {.op = UROCE_TUN_FD};
	int fd;

	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_INSTALL);
	CHECK(fd >= 0);
	reply.ret = fd;
	client_send(sock, &reply, NULL, 0);
	return fd;
}

static void check_bound(int fd)
{
	struct sockaddr_in sin = {0};
	socklen_t len = sizeof(sin);
	char text[INET_ADDRSTRLEN];

	CHECK(!getsockname(fd, (struct sockaddr *)&sin, &len));
	CHECK_EQ(sin.sin_family, AF_INET);
	CHECK_EQ(ntohs(sin.sin_port), ROCE_PORT);
	CHECK(inet_ntop(AF_INET, &sin.sin_addr, text, sizeof(text)));
	CHECK(!strcmp(text, ADDRESS));
}

/* The address goes, and its sockets with it; the numbers are another client's then. */
static void test_address_goes(void)
{
	static struct uroce_engine_socket resp;
	int sock = client_session(&dev), others[4], fd;
	struct uroce_tun_msg msg;
	struct command cmd;
	uint32_t index;

	open_engine(sock);
	change_address("add");
	index = (uint32_t)wait_gid();
	atomic_store(&page->armed, 1);
	send_command(sock, &cmd, UROCE_METHOD_ENGINE_SOCKET, &index, &resp,
		     sizeof(resp));
	while (!atomic_load(&page->waits))
		usleep(1000);
	change_address("del");
	while (has_gid((int)index))
		usleep(1000);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		others[i] = client_session(&dev);
	atomic_store(&page->go, 1);
	fd = take_installed(sock);
	check_bound(fd);
	CHECK_EQ(client_hear(sock, &msg), 0);
	CHECK_EQ(resp.fd, fd);
	close(fd);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		close(others[i]);
	close(sock);
	client_settle(&dev);
}

/* Another connection of the file says, between two descriptors of a command, that the event file which the second is of
 * is closed. */
static void test_event_file_goes(void)
{
	static struct uroce_engine_async resp;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_CLOSE_FD};
	struct uroce_tun_msg sync = {.op = UROCE_TUN_SYNC}, reply;
	struct uroce_alloc_ucontext_resp ctx;
	int visible, sock = client_open(&dev, "uverbs0", &visible), other, rx;
	struct command cmd;
	int fd;

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	open_engine(sock);
	rx = client_alloc_async(sock);
	msg.closed.cookie = client_installed;
	other = client_join(&dev, visible);
	send_command(sock, &cmd, UROCE_METHOD_ENGINE_ASYNC, NULL, &resp,
		     sizeof(resp));
	CHECK(!client_recv(sock, &reply, &fd));
	CHECK_EQ(reply.op, UROCE_TUN_INSTALL);
	client_send(other, &msg, NULL, 0);
	client_send(other, &sync, NULL, 0);
	CHECK_EQ(client_hear(other, &sync), 0);
	reply = (struct uroce_tun_msg){.op = UROCE_TUN_FD, .ret = fd};
	client_send(sock, &reply, NULL, 0);
	CHECK_EQ(client_hear(sock, &reply), 0);
	CHECK(send(resp.tx, "", 1, MSG_NOSIGNAL) < 0);
	client_check(&dev);
	close(rx);
	close(fd);
	close(other);
	close(visible);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	if (system("ip -V >/dev/null 2>&1"))
		SKIP("no ip command");
	client_private_net();
	share_page();
	daemon_start(&dev, argv[1], 0);
	STEP(test_address_goes());
	STEP(test_event_file_goes());
	daemon_stop(&dev);
	return cases_status();
}
