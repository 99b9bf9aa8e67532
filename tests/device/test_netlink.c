// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink, raw: the messages that `rdma` sends, and those that nobody
 * should, to a device that must go on answering.
 *
 * usage: test_netlink UROCED
 */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

#define SEQ 77

static struct daemon_proc dev;

/* A message that is being written, and the last that came. */
static struct {
	struct nlmsghdr nlh;
	uint8_t body[20000];
} out, in;
static uint8_t datagram[70000];
static size_t got, at; /* bytes of the last datagram, of it taken */

static int open_netlink(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_NETLINK,
				    .open.version = UROCE_TUN_VERSION};
	int sock = client_connect(&dev), fd;

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, 0);
	CHECK(fd < 0);
	return sock;
}

static void tell(int sock, uint64_t port, uint64_t groups, uint64_t flags)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_BIND,
				    .bind = {port, groups, flags, {0}}};

	client_send(sock, &msg, NULL, 0);
}

static void begin(uint32_t op, uint16_t flags)
{
	out.nlh = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = SEQ};
}

static void put(uint16_t type, const void *data, uint16_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len),
			   .nla_type = type};
	uint8_t *to = (uint8_t *)&out + out.nlh.nlmsg_len;

	memset(to, 0, NLA_ALIGN(a.nla_len));
	memcpy(to, &a, sizeof(a));
	memcpy(to + NLA_HDRLEN, data, len);
	out.nlh.nlmsg_len += NLA_ALIGN(a.nla_len);
}

static void put_u32(uint16_t type, uint32_t v)
{
	put(type, &v, sizeof(v));
}

static void put_text(uint16_t type, const char *text)
{
	put(type, text, (uint16_t)(strlen(text) + 1));
}

static void post(int sock)
{
	CHECK(send(sock, &out, out.nlh.nlmsg_len, MSG_NOSIGNAL) > 0);
}

/* The next message, within five seconds; its type. */
static uint32_t hear(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};

	if (at >= got) {
		CHECK_EQ(poll(&p, 1, 5000), 1);
		got = (size_t)recv(sock, datagram, sizeof(datagram), 0);
		CHECK(got >= NLMSG_HDRLEN && got <= 4096);
		at = 0;
	}
	memcpy(&in.nlh, datagram + at, sizeof(in.nlh));
	CHECK(in.nlh.nlmsg_len >= NLMSG_HDRLEN && in.nlh.nlmsg_len <= got - at);
	memcpy(&in, datagram + at, in.nlh.nlmsg_len);
	at += NLMSG_ALIGN(in.nlh.nlmsg_len);
	CHECK_EQ(in.nlh.nlmsg_seq, SEQ);
	return in.nlh.nlmsg_type;
}

/* What an acknowledgement, or the end of a dump, says. */
static int error(int sock, uint32_t type)
{
	int err;

	CHECK_EQ(hear(sock), type);
	memcpy(&err, in.body, sizeof(err));
	return err;
}

static int ask(int sock)
{
	post(sock);
	return error(sock, NLMSG_ERROR);
}

/* An attribute of the last message, or NULL. */
static const uint8_t *find(uint16_t type)
{
	uint32_t i = 0, end = in.nlh.nlmsg_len - NLMSG_HDRLEN;

	while (end - i >= NLA_HDRLEN) {
		struct nlattr a;

		memcpy(&a, in.body + i, sizeof(a));
		CHECK(a.nla_len >= NLA_HDRLEN && a.nla_len <= end - i);
		if (a.nla_type == type)
			return in.body + i + NLA_HDRLEN;
		i += NLA_ALIGN(a.nla_len);
	}
	return NULL;
}

static uint32_t find_u32(uint16_t type)
{
	const uint8_t *data = find(type);
	uint32_t v;

	CHECK(data);
	memcpy(&v, data, sizeof(v));
	return v;
}

#define ANSWER(op) ((uint32_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op))

/* The device answers as it should, on a socket of its own. */
static void check(void)
{
	int sock = open_netlink();

	begin(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_GET));
	CHECK(in.nlh.nlmsg_flags & NLM_F_MULTI);
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_DEV_NAME), "uroce0"));
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_DEV_INDEX), 0);
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	CHECK_EQ(error(sock, NLMSG_DONE), 0);
	close(sock);
}

static void test_answers(void)
{
	int sock = open_netlink();

	tell(sock, 4711, 0, 0);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_GET));
	CHECK_EQ(in.nlh.nlmsg_pid, 4711);
	CHECK_EQ(in.nlh.nlmsg_flags, 0);
	CHECK_EQ(*find(RDMA_NLDEV_ATTR_DEV_NODE_TYPE), 1);
	CHECK_EQ(error(sock, NLMSG_ERROR), 0);
	CHECK_EQ(in.nlh.nlmsg_flags, NLM_F_CAPPED);
	begin(RDMA_NLDEV_CMD_PORT_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	post(sock);
	hear(sock);
	CHECK_EQ(*find(RDMA_NLDEV_ATTR_PORT_STATE), 4);
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_NDEV_NAME), "lo"));
	begin(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_PORT_GET));
	CHECK_EQ(error(sock, NLMSG_DONE), 0);
	begin(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_text(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm");
	post(sock);
	hear(sock);
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_CHARDEV_NAME),
		      "rdma_cm"));
	close(sock);
}

/* Two in one datagram; what the second one is told is about it. */
static void test_several(void)
{
	int sock = open_netlink();
	uint8_t both[256];
	uint32_t first;

	begin(RDMA_NLDEV_CMD_SYS_GET, 0);
	first = out.nlh.nlmsg_len;
	memcpy(both, &out, first);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	memcpy(both + first, &out, out.nlh.nlmsg_len);
	CHECK(send(sock, both, first + out.nlh.nlmsg_len, 0) > 0);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_SYS_GET));
	CHECK_EQ(error(sock, NLMSG_ERROR), (uint64_t)-EINVAL);
	/* With the message that it is about, as nobody asked for less. */
	CHECK(!memcmp(in.body + 4, &out, out.nlh.nlmsg_len));
	CHECK_EQ(in.nlh.nlmsg_len, NLMSG_HDRLEN + 4 + out.nlh.nlmsg_len);
	close(sock);
}

static void test_ext_ack(void)
{
	int sock = open_netlink();

	tell(sock, 1, 0, UROCE_TUN_NL_EXT_ACK | UROCE_TUN_NL_CAP_ACK);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put(RDMA_NLDEV_ATTR_DEV_INDEX, "x", 1);
	CHECK_EQ(ask(sock), (uint64_t)-EINVAL);
	CHECK_EQ(in.nlh.nlmsg_flags, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	CHECK(!strcmp((char *)in.body + 4 + NLMSG_HDRLEN + NLA_HDRLEN,
		      "Attribute failed policy validation"));
	close(sock);
}

static void test_refused(void)
{
	int sock = open_netlink();

	for (uint32_t op = 0; op < 64; op++) {
		begin(op, NLM_F_ACK);
		post(sock);
		if (op == RDMA_NLDEV_CMD_SYS_GET)
			hear(sock);
		CHECK_EQ(error(sock, NLMSG_ERROR),
			 op == RDMA_NLDEV_CMD_SYS_GET ? 0 : (uint64_t)-EINVAL);
	}
	/* Of other subsystems, and those that ask for nothing. */
	begin(RDMA_NLDEV_CMD_GET, 0);
	out.nlh.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_LS, 1);
	CHECK_EQ(ask(sock), (uint64_t)-EINVAL);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	out.nlh.nlmsg_flags = NLM_F_ACK;
	CHECK_EQ(ask(sock), 0);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	out.nlh.nlmsg_type = NLMSG_NOOP;
	CHECK_EQ(ask(sock), 0);
	begin(RDMA_NLDEV_CMD_PORT_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	CHECK_EQ(ask(sock), (uint64_t)-EINVAL);
	begin(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_text(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "umad");
	CHECK_EQ(ask(sock), (uint64_t)-EOPNOTSUPP);
	close(sock);
	check();
}

/* Bytes of no sense, and of some. */
static void test_garbage(void)
{
	int sock = open_netlink();

	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t len = (size_t)rand() % 200 + 1;
		uint8_t *bytes = (uint8_t *)&out;

		for (size_t j = 0; j < len; j++)
			bytes[j] = (uint8_t)rand();
		out.nlh.nlmsg_flags &= ~(NLM_F_ACK);
		out.nlh.nlmsg_flags |= NLM_F_REQUEST;
		if (i & 1)
			out.nlh.nlmsg_len = (uint32_t)len;
		out.nlh.nlmsg_type = (uint16_t)ANSWER(rand() % 32);
		if (send(sock, &out, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			CHECK_EQ(errno, EAGAIN);
		while (recv(sock, datagram, sizeof(datagram), MSG_DONTWAIT) > 0)
			;
	}
	close(sock);
	check();
	/* The longest, and one byte. */
	sock = open_netlink();
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	out.nlh.nlmsg_len = 20000;
	CHECK_EQ(send(sock, &out, 20000, 0), 20000);
	CHECK_EQ(send(sock, &out, 1, 0), 1);
	tell(sock, 1, ~0ull, ~0ull);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	got = at = 0;
	CHECK_EQ(ask(sock), (uint64_t)-EINVAL);
	close(sock);
	check();
}

/* Who asks and does not read holds up himself alone. */
static void test_deaf(void)
{
	int sock = open_netlink(), n = 0;

	begin(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	while (send(sock, &out, out.nlh.nlmsg_len, MSG_DONTWAIT) > 0)
		n++;
	CHECK(n > 1);
	check();
	client_check(&dev);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	check();
	test_answers();
	test_several();
	test_ext_ack();
	test_refused();
	test_garbage();
	test_deaf();
	daemon_stop(&dev);
	return 0;
}
