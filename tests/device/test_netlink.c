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
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

#define SEQ 77

static struct daemon_proc dev = {.admin = 1};

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

/* Returns the error in an acknowledgement, or in the end of a dump. */
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

static uint32_t dev_index; /* of uroce0, as the last check() saw it */

/* The device answers as it should, on a socket of its own. */
static void check(void)
{
	int sock = open_netlink();

	begin(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_GET));
	CHECK(in.nlh.nlmsg_flags & NLM_F_MULTI);
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_DEV_NAME), "uroce0"));
	dev_index = find_u32(RDMA_NLDEV_ATTR_DEV_INDEX);
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	CHECK_EQ(error(sock, NLMSG_DONE), 0);
	close(sock);
}

static void test_answers(void)
{
	int sock = open_netlink();

	tell(sock, 4711, 0, 0);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_GET));
	CHECK_EQ(in.nlh.nlmsg_pid, 4711);
	CHECK_EQ(in.nlh.nlmsg_flags, 0);
	CHECK_EQ(*find(RDMA_NLDEV_ATTR_DEV_NODE_TYPE), 1);
	CHECK_EQ(error(sock, NLMSG_ERROR), 0);
	CHECK_EQ(in.nlh.nlmsg_flags, NLM_F_CAPPED);
	begin(RDMA_NLDEV_CMD_PORT_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	post(sock);
	hear(sock);
	CHECK_EQ(*find(RDMA_NLDEV_ATTR_PORT_STATE), 4);
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_NDEV_NAME), "lo"));
	begin(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
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

/* Two in one datagram; the answer to the second one is about it. */
static void test_several(void)
{
	int sock = open_netlink();
	uint8_t both[256];
	uint32_t first;

	begin(RDMA_NLDEV_CMD_SYS_GET, 0);
	first = out.nlh.nlmsg_len;
	memcpy(both, &out, first);
	begin(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index + 5);
	memcpy(both + first, &out, out.nlh.nlmsg_len);
	CHECK(send(sock, both, first + out.nlh.nlmsg_len, 0) > 0);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_SYS_GET));
	CHECK_EQ(*find(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK), 1);
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
	/* Messages of other subsystems, and those that ask for nothing. */
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
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
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

/* A client that asks and does not read holds up only itself. */
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

/* ---- objects, of two users ---- */

/* How many entries a list has; key: an attribute that each has, or has not. */
static uint32_t list(int sock, uint32_t op, uint16_t entry, uint16_t key,
		     bool with_key)
{
	uint32_t n = 0;

	begin(op, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	post(sock);
	while (hear(sock) == ANSWER(op)) {
		const uint8_t *table = find((uint16_t)(entry - 1));
		struct nlattr a;
		uint32_t i = 0, end;

		CHECK(table);
		memcpy(&a, table - NLA_HDRLEN, sizeof(a));
		end = a.nla_len - NLA_HDRLEN;
		for (; i < end; i += NLA_ALIGN(a.nla_len), n++) {
			bool has = false;

			memcpy(&a, table + i, sizeof(a));
			CHECK_EQ(a.nla_type, entry);
			CHECK(a.nla_len <= end - i);
			for (uint32_t j = NLA_HDRLEN; j < a.nla_len;) {
				struct nlattr b;

				memcpy(&b, table + i + j, sizeof(b));
				has |= b.nla_type == key;
				j += NLA_ALIGN(b.nla_len);
			}
			CHECK_EQ(has, with_key);
		}
	}
	CHECK_EQ(in.nlh.nlmsg_type, NLMSG_DONE);
	return n;
}

static uint64_t summary(int sock, const char *name)
{
	const uint8_t *p, *end;
	uint64_t v;

	begin(RDMA_NLDEV_CMD_RES_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	post(sock);
	hear(sock);
	p = find(RDMA_NLDEV_ATTR_RES_SUMMARY);
	CHECK(p);
	end = (const uint8_t *)&in + in.nlh.nlmsg_len;
	p = memmem(p, (size_t)(end - p), name, strlen(name) + 1);
	CHECK(p);
	memcpy(&v, p + NLA_ALIGN(strlen(name) + 1) + NLA_HDRLEN, sizeof(v));
	return v;
}

/* Ends of a connection are seen by others later. */
static void wait_summary(int sock, const char *name, uint64_t n)
{
	while (summary(sock, name) != n)
		usleep(1000);
}

#define PDS 300

static void test_objects(void)
{
	int sock = open_netlink(), owner, other;
	uint32_t pd;

	owner = client_session(&dev);
	for (int i = 0; i < PDS; i++)
		pd = client_alloc_pd(owner);
	CHECK(pd);
	CHECK_EQ(summary(sock, "pd"), PDS);
	CHECK_EQ(summary(sock, "ctx"), 1);
	/* More than one message. */
	CHECK_EQ(list(sock, RDMA_NLDEV_CMD_RES_PD_GET,
		      RDMA_NLDEV_ATTR_RES_PD_ENTRY, RDMA_NLDEV_ATTR_RES_PDN,
		      true),
		 PDS);
	CHECK_EQ(list(sock, RDMA_NLDEV_CMD_RES_QP_GET,
		      RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_LQPN,
		      true),
		 0);
	/* One by its number, and none. */
	begin(RDMA_NLDEV_CMD_RES_PD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, PDS);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_RES_PD_GET));
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_RES_PDN), PDS);
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_RES_PID), getpid());
	begin(RDMA_NLDEV_CMD_RES_PD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, PDS + 1);
	CHECK_EQ(ask(sock), (uint64_t)-ENOENT);
	begin(RDMA_NLDEV_CMD_RES_PD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	CHECK_EQ(ask(sock), (uint64_t)-EINVAL);
	/* A stranger: how many, and whose. */
	dev.as = 65534;
	other = open_netlink();
	CHECK_EQ(summary(other, "pd"), PDS);
	CHECK_EQ(list(other, RDMA_NLDEV_CMD_RES_PD_GET,
		      RDMA_NLDEV_ATTR_RES_PD_ENTRY, RDMA_NLDEV_ATTR_RES_PDN,
		      true),
		 0);
	CHECK_EQ(list(other, RDMA_NLDEV_CMD_RES_CTX_GET,
		      RDMA_NLDEV_ATTR_RES_CTX_ENTRY, RDMA_NLDEV_ATTR_RES_PID,
		      true),
		 1);
	begin(RDMA_NLDEV_CMD_RES_PD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, PDS);
	CHECK_EQ(ask(other), (uint64_t)-ENOENT);
	close(other);
	dev.as = 0;
	close(owner);
	wait_summary(sock, "ctx", 0);
	CHECK_EQ(summary(sock, "pd"), 0);
	close(sock);
}

static void test_statistic(void)
{
	int sock = open_netlink();

	begin(RDMA_NLDEV_CMD_STAT_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	post(sock);
	CHECK_EQ(hear(sock), ANSWER(RDMA_NLDEV_CMD_STAT_GET));
	CHECK(memmem(in.body, in.nlh.nlmsg_len - NLMSG_HDRLEN,
		     "np_ecn_marked_roce_packets", 27));
	begin(RDMA_NLDEV_CMD_STAT_SET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put_u32(RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	put_u32(RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
	CHECK_EQ(ask(sock), (uint64_t)-EOPNOTSUPP);
	close(sock);
}

/* ---- changes, and the listeners that are notified of them ---- */

static int try_set(int sock, uint32_t op, uint16_t type, uint8_t v)
{
	begin(op, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put(type, &v, sizeof(v));
	return ask(sock);
}

static int call_it(int sock, const char *name)
{
	begin(RDMA_NLDEV_CMD_SET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put_text(RDMA_NLDEV_ATTR_DEV_NAME, name);
	return ask(sock);
}

static int add_link(int sock, const char *type, const char *netdev)
{
	begin(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	put_text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	put_text(RDMA_NLDEV_ATTR_LINK_TYPE, type);
	put_text(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return ask(sock);
}

/* Checks the next event that a listener receives. */
static void expect(int sock, uint8_t event, const char *name)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	ssize_t n;

	CHECK_EQ(poll(&p, 1, 5000), 1);
	n = recv(sock, &in, sizeof(in), 0);
	CHECK_EQ(n, in.nlh.nlmsg_len);
	CHECK_EQ(in.nlh.nlmsg_type, ANSWER(28)); /* RDMA_NLDEV_CMD_MONITOR */
	CHECK_EQ(*find(102), event);		 /* ..._ATTR_EVENT_TYPE */
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_DEV_NAME), name));
}

static void test_changes(void)
{
	int sock = open_netlink(), listener = open_netlink(), other;

	tell(listener, 9, 1 << 3, 0); /* RDMA_NL_GROUP_NOTIFY */
	begin(RDMA_NLDEV_CMD_SYS_GET, 0);
	post(listener);
	CHECK(recv(listener, &in, sizeof(in), 0) >
	      0); /* the reason was in the acknowledgement */
	CHECK_EQ(try_set(sock, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_DIM, 0),
		 0);
	CHECK_EQ(try_set(sock, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_DIM, 1),
		 (uint64_t)-EOPNOTSUPP);
	CHECK_EQ(call_it(sock, "other0"), 0);
	expect(listener, 4, "other0");
	CHECK_EQ(call_it(sock, "other0"), 0);
	CHECK_EQ(call_it(sock, "../x"), (uint64_t)-EINVAL);
	CHECK_EQ(call_it(sock, ""), (uint64_t)-EINVAL);
	CHECK_EQ(call_it(sock, "uroce0"), 0);
	expect(listener, 4, "uroce0");
	check();
	CHECK_EQ(add_link(sock, "siw", "lo"), (uint64_t)-EINVAL);
	CHECK_EQ(add_link(sock, "rxe", "none"), (uint64_t)-ENODEV);
	CHECK_EQ(add_link(sock, "rxe", "lo"), (uint64_t)-EEXIST);
	/* Not for everybody. */
	dev.as = 65534;
	other = open_netlink();
	CHECK_EQ(call_it(other, "mine0"), (uint64_t)-EPERM);
	CHECK_EQ(add_link(other, "rxe", "lo"), (uint64_t)-EPERM);
	begin(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	CHECK_EQ(ask(other), (uint64_t)-EPERM);
	close(other);
	dev.as = 0;
	/* Away, and here again. */
	begin(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	CHECK_EQ(ask(sock), 0);
	expect(listener, 1, "uroce0");
	CHECK_EQ(add_link(sock, "rxe", "lo"), 0);
	expect(listener, 0, "rxe0");
	expect(listener, 2, "rxe0");
	CHECK(!strcmp((const char *)find(RDMA_NLDEV_ATTR_NDEV_NAME), "lo"));
	/* As another: by its index nobody takes it for the one before. */
	CHECK_EQ(find_u32(RDMA_NLDEV_ATTR_DEV_INDEX), dev_index + 1);
	CHECK_EQ(call_it(sock, "uroce0"), (uint64_t)-EINVAL);
	dev_index++;
	CHECK_EQ(call_it(sock, "uroce0"), 0);
	check();
	close(listener);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755)); /* strangers too */
	check();
	test_answers();
	test_several();
	test_ext_ack();
	test_refused();
	test_objects();
	test_statistic();
	test_changes();
	test_garbage();
	test_deaf();
	daemon_stop(&dev);
	return 0;
}
