// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /dev/infiniband/umadN, raw: agents, MADs from one to another over the
 * device's QP1, what nobody answers, and what nobody should ask.
 *
 * usage: test_umad UROCED
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/umad/umad.h"
#include "tests/check.h"
#include "tests/device/client.h"

#define OUI	    0x001405
#define PING_CLASS  0x32
#define PING_METHOD 0x01
#define FOREVER_MS  20000

struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[256];
};

struct file {
	int sock, fd;
};

static struct daemon_proc dev = {.admin = 1};
static uint8_t gid[16]; /* the device's, index 0 */

static int64_t try_open(const char *name, struct file *f)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UMAD,
				    .open.version = UROCE_TUN_VERSION};
	int mem = client_mem();

	f->sock = client_connect(&dev);
	snprintf(msg.name, sizeof(msg.name), "%s", name);
	client_send(f->sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(f->sock, &msg, &f->fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	return msg.ret;
}

static void close_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	close(f->sock);
}

static int64_t ask(struct file *f, uint64_t request, void *arg)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_IOCTL,
				    .call.request = request,
				    .call.arg = (uintptr_t)arg};

	client_send(f->sock, &msg, NULL, 0);
	return client_hear(f->sock, &msg);
}

static struct file open_file(void)
{
	struct file f;

	CHECK_EQ(try_open("umad0", &f), 0);
	CHECK(f.fd >= 0);
	CHECK_EQ(ask(&f, IB_USER_MAD_ENABLE_PKEY, NULL), 0);
	return f;
}

static struct ib_user_mad_reg_req ping_request(void)
{
	return (struct ib_user_mad_reg_req){.qpn = 1,
					    .mgmt_class = PING_CLASS,
					    .mgmt_class_version = 1,
					    .method_mask = {1 << PING_METHOD},
					    .oui = {0x00, 0x14, 0x05}};
}

/* Adds an agent that receives pings, or one that only sends. */
static uint32_t add_agent(struct file *f, bool listens)
{
	struct ib_user_mad_reg_req req = ping_request();

	if (!listens)
		req.mgmt_class = 0;
	CHECK_EQ(ask(f, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	return req.id;
}

static struct packet ping(uint32_t agent, uint32_t number)
{
	struct packet p = {.hdr = {.id = agent,
				   .qpn = htonl(1),
				   .qkey = htonl(0x80010000),
				   .grh_present = 1,
				   .timeout_ms = FOREVER_MS}};

	memcpy(p.hdr.gid, gid, 16);
	p.mad[0] = 1;
	p.mad[1] = PING_CLASS;
	p.mad[2] = 1;
	p.mad[3] = PING_METHOD;
	number = htonl(number);
	memcpy(p.mad + 12, &number, 4);
	p.mad[38] = 0x14;
	p.mad[39] = 0x05;
	for (int i = 40; i < 256; i++)
		p.mad[i] = (uint8_t)(i + number);
	return p;
}

static int64_t put(struct file *f, const struct packet *p)
{
	return client_write(f->sock, p, sizeof(*p));
}

static bool is_readable(const struct file *f, int ms)
{
	struct pollfd p = {f->fd, POLLIN, 0};

	return poll(&p, 1, ms) == 1;
}

static struct packet get(const struct file *f, size_t bytes)
{
	struct packet p = {0};

	CHECK(is_readable(f, FOREVER_MS));
	CHECK_EQ(read(f->fd, &p, sizeof(p)), (ssize_t)bytes);
	return p;
}

static void check_device(void)
{
	client_check(&dev);
}

static void learn_gid(void)
{
	char path[256], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/uroce0/ports/1/gids/0", dev.dir);
	file = fopen(path, "r");
	CHECK(file && fgets(text, sizeof(text), file));
	fclose(file);
	text[strcspn(text, "\n")] = 0;
	CHECK_EQ(inet_pton(AF_INET6, text, gid), 1);
}

/* ---- honest ---- */

static void test_tree(void)
{
	static const struct {
		const char *name, *text;
	} want[] = {
		{"sys/class/infiniband_mad/abi_version", "5\n"},
		{"sys/class/infiniband_mad/umad0/ibdev", "uroce0\n"},
		{"sys/class/infiniband_mad/umad0/port", "1\n"},
		{"sys/class/infiniband_mad/umad0/dev", "231:0\n"},
		{"dev/infiniband/umad0", "231:0\n"},
	};
	char path[256], text[64];

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", dev.dir, want[i].name);
		file = fopen(path, "r");
		CHECK(file && fgets(text, sizeof(text), file));
		fclose(file);
		CHECK(!strcmp(text, want[i].text));
	}
	/* No QP0, so no subnet manager. */
	snprintf(path, sizeof(path), "%s/dev/infiniband/issm0", dev.dir);
	CHECK(access(path, F_OK));
}

static void test_conversation(void)
{
	struct file server = open_file(), client = open_file();
	uint32_t s = add_agent(&server, true), c = add_agent(&client, false);
	struct packet p = ping(c, 7), q, back;

	CHECK_EQ(put(&client, &p), sizeof(p));
	q = get(&server, sizeof(q));
	CHECK_EQ(q.hdr.id, s);
	CHECK_EQ(q.hdr.status, 0);
	CHECK_EQ(q.hdr.length, sizeof(q));
	CHECK_EQ(ntohl(q.hdr.qpn), 1);
	CHECK_EQ(q.hdr.grh_present, 1);
	CHECK_EQ(q.hdr.gid_index, 0);
	CHECK(!memcmp(q.hdr.gid, gid, 16));
	/* All but the high half of the transaction id is what was sent. */
	CHECK(memcmp(q.mad + 8, p.mad + 8, 4));
	memcpy(p.mad + 8, q.mad + 8, 4);
	CHECK(!memcmp(q.mad, p.mad, 256));
	/* The answer, twice: the second answers nothing any more. */
	back = q;
	back.mad[3] |= 0x80;
	back.mad[255] ^= 0xff;
	back.hdr.timeout_ms = 0;
	CHECK_EQ(put(&server, &back), sizeof(back));
	CHECK_EQ(put(&server, &back), sizeof(back));
	q = get(&client, sizeof(q));
	CHECK_EQ(q.hdr.id, c);
	CHECK(!memcmp(q.mad, back.mad, 256));
	/* The next MAD is the next question's. */
	p = ping(c, 8);
	CHECK_EQ(put(&client, &p), sizeof(p));
	back = get(&server, sizeof(back));
	back.mad[3] |= 0x80;
	back.hdr.timeout_ms = 0;
	CHECK_EQ(put(&server, &back), sizeof(back));
	q = get(&client, sizeof(q));
	CHECK_EQ(q.mad[15], 8);
	close_file(&server);
	close_file(&client);
	client_settle(&dev);
}

static void test_timeout(void)
{
	struct file server = open_file(), client = open_file();
	uint32_t c = add_agent(&client, false);
	struct packet p = ping(c, 9), q;

	add_agent(&server, true);
	p.hdr.timeout_ms = 1;
	p.hdr.retries = 3;
	CHECK_EQ(put(&client, &p), sizeof(p));
	q = get(&client, sizeof(q.hdr) + 24);
	CHECK_EQ(q.hdr.status, ETIMEDOUT);
	CHECK_EQ(q.hdr.id, c);
	CHECK_EQ(q.mad[15], 9);
	/* Once and three times more. */
	for (int i = 0; i < 4; i++) {
		struct packet r = get(&server, sizeof(r));

		CHECK(!memcmp(r.mad, q.mad, 24));
	}
	/* An answer after that is nobody's. */
	p = ping(c, 10);
	CHECK_EQ(put(&client, &p), sizeof(p));
	p = get(&server, sizeof(p));
	CHECK_EQ(p.mad[15], 10);
	q.hdr.timeout_ms = 0;
	q.mad[3] |= 0x80;
	q.hdr.id = 0;
	memcpy(q.hdr.gid, gid, 16);
	CHECK_EQ(put(&server, &q), sizeof(q));
	p.mad[3] |= 0x80;
	p.hdr.timeout_ms = 0;
	CHECK_EQ(put(&server, &p), sizeof(p));
	q = get(&client, sizeof(q));
	CHECK_EQ(q.mad[15], 10);
	close_file(&server);
	close_file(&client);
	client_settle(&dev);
}

/* A question of that class, method and attribute to the device itself; its
 * answer. */
static struct packet inquire(struct file *f, uint8_t mgmt_class, uint8_t method,
			     uint16_t attr)
{
	static uint32_t number;
	struct packet p = ping(0, ++number);

	memset(p.mad + 24, 0, sizeof(p.mad) - 24);
	p.mad[1] = mgmt_class;
	p.mad[3] = method;
	p.mad[16] = (uint8_t)(attr >> 8);
	p.mad[17] = (uint8_t)attr;
	p.mad[65] = 1;
	CHECK_EQ(put(f, &p), sizeof(p));
	p = get(f, sizeof(p));
	CHECK_EQ(p.hdr.status, 0);
	CHECK_EQ(p.mad[3], 0x81);
	return p;
}

static uint64_t be(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static void test_counters(void)
{
	struct file f = open_file();
	struct packet a, b;

	add_agent(&f, false);
	a = inquire(&f, 0x04, 0x01, 0x0001);
	CHECK_EQ(be(a.mad + 4, 2), 0);
	CHECK_EQ(be(a.mad + 66, 2), 0x0300);
	a = inquire(&f, 0x04, 0x01, 0x001d);
	b = inquire(&f, 0x04, 0x01, 0x001d);
	CHECK_EQ(be(a.mad + 4, 2), 0);
	CHECK_EQ(a.mad[65], 1);
	/* The answer to a, and the question of b. */
	CHECK_EQ(be(b.mad + 88, 8) - be(a.mad + 88, 8), 2);
	CHECK_EQ(be(b.mad + 96, 8) - be(a.mad + 96, 8), 2);
	CHECK(be(b.mad + 72, 8) > be(a.mad + 72, 8));
	a = inquire(&f, 0x04, 0x01, 0x0012);
	CHECK_EQ(be(a.mad + 96, 4), (be(b.mad + 88, 8) + 2) & 0xffffffff);
	/* Nobody sets them, another attribute is none, a port is not there. */
	CHECK_EQ(be(inquire(&f, 0x04, 0x02, 0x0012).mad + 4, 2), 0x0c);
	CHECK_EQ(be(inquire(&f, 0x04, 0x01, 0x0010).mad + 4, 2), 0x0c);
	/* As the kernel: of a class that nobody listens to. */
	CHECK_EQ(be(inquire(&f, 0x06, 0x01, 0x0001).mad + 4, 2), 0x0c);
	CHECK_EQ(be(inquire(&f, 0x07, 0x01, 0x0001).mad + 4, 2), 0x0c);
	close_file(&f);
	client_settle(&dev);
}

/* ---- what the kernel refuses ---- */

static void test_registrations(void)
{
	struct file f, other = open_file();
	struct ib_user_mad_reg_req req;
	struct ib_user_mad_reg_req2 req2 = {.qpn = 1, .flags = 4};
	uint32_t id;

	CHECK_EQ(try_open("umad0", &f), 0);
	for (uint32_t i = 0; i < UMAD_FILE_AGENTS_MAX; i++)
		CHECK_EQ(add_agent(&f, false), i);
	req = ping_request();
	CHECK_EQ(ask(&f, IB_USER_MAD_REGISTER_AGENT, &req), -ENOMEM);
	CHECK_EQ(ask(&f, IB_USER_MAD_ENABLE_PKEY, NULL), -EINVAL);
	id = 5;
	CHECK_EQ(ask(&f, IB_USER_MAD_UNREGISTER_AGENT, &id), 0);
	CHECK_EQ(ask(&f, IB_USER_MAD_UNREGISTER_AGENT, &id), -EINVAL);
	id = UMAD_FILE_AGENTS_MAX;
	CHECK_EQ(ask(&f, IB_USER_MAD_UNREGISTER_AGENT, &id), -EINVAL);
	CHECK_EQ(add_agent(&f, true), 5);
	/* Its methods are taken, others not. */
	req = ping_request();
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	req.method_mask[0] = 1 << 5;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	req = ping_request();
	req.oui[2]++;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	memset(req.oui, 0, 3);
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	/* No QP0; classes of it; the connection manager's. */
	req = (struct ib_user_mad_reg_req){.qpn = 0};
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req),
		 -EPROTONOSUPPORT);
	req.qpn = 2;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	req = (struct ib_user_mad_reg_req){
		.qpn = 1, .mgmt_class = 0x81, .mgmt_class_version = 1};
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	req.mgmt_class = 7;
	req.mgmt_class_version = 2;
	req.method_mask[0] = 1 << 3;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	req.mgmt_class = 4;
	req.rmpp_version = 1;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	req.rmpp_version = 2;
	req.mgmt_class = 3;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT, &req), -EINVAL);
	/* The newer form says which flags there are. */
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT2, &req2), -EINVAL);
	CHECK_EQ(req2.flags, IB_USER_MAD_REG_FLAGS_CAP);
	req2.mgmt_class = PING_CLASS;
	req2.oui = 0x1000000;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT2, &req2), -EINVAL);
	req2.oui = 0x123456;
	req2.rmpp_version = 1;
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT2, &req2), 0);
	CHECK_EQ(ask(&other, IB_USER_MAD_REGISTER_AGENT2, (void *)8), -EFAULT);
	CHECK_EQ(ask(&other, 1234, &req2), -ENOTTY);
	close_file(&f);
	close_file(&other);
	client_settle(&dev);
}

static void test_bad_sends(void)
{
	struct file f = open_file();
	struct ib_user_mad_reg_req req = {.qpn = 1, .rmpp_version = 1};
	uint32_t c = add_agent(&f, false);
	struct packet p = ping(c, 1);

	CHECK_EQ(client_write(f.sock, &p, sizeof(p.hdr) + 35), -EINVAL);
	CHECK_EQ(client_write(f.sock, &p, sizeof(p) + 1), -EINVAL);
	CHECK_EQ(client_write(f.sock, (void *)8, sizeof(p)), -EFAULT);
	p.hdr.id = 1;
	CHECK_EQ(put(&f, &p), -EINVAL);
	p.hdr.id = UINT32_MAX;
	CHECK_EQ(put(&f, &p), -EINVAL);
	p = ping(c, 1);
	p.hdr.grh_present = 0; /* by LID: not over Ethernet */
	CHECK_EQ(put(&f, &p), -EINVAL);
	p = ping(c, 1);
	p.hdr.gid_index = 200;
	CHECK_EQ(put(&f, &p), -EINVAL);
	p = ping(c, 1);
	p.hdr.pkey_index = 1;
	CHECK_EQ(put(&f, &p), -EINVAL);
	p = ping(c, 1);
	p.hdr.qpn = 0;
	CHECK_EQ(put(&f, &p), -EINVAL);
	/* Two that could not be distinguished. The device answers no Trap. */
	p = ping(c, 1);
	p.mad[3] = 5;
	CHECK_EQ(put(&f, &p), sizeof(p));
	CHECK_EQ(put(&f, &p), -EINVAL);
	/* Segments, which somebody else shall make. */
	CHECK_EQ(ask(&f, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	p = ping(req.id, 2);
	p.mad[26] = 1;
	CHECK_EQ(put(&f, &p), -EOPNOTSUPP);
	close_file(&f);
	client_settle(&dev);
}

static void test_who(void)
{
	struct file f;

	CHECK_EQ(try_open("umad1", &f), -ENXIO);
	close_file(&f);
	CHECK_EQ(try_open("umad", &f), -ENOENT);
	close_file(&f);
	CHECK_EQ(try_open("umad0x", &f), -ENOENT);
	close_file(&f);
	CHECK_EQ(try_open("uverbs0", &f), -ENOENT);
	close_file(&f);
	if (geteuid())
		return;
	dev.as = 65534;
	CHECK_EQ(try_open("umad0", &f), -EACCES);
	close_file(&f);
	dev.as = 0;
	client_settle(&dev);
}

/* ---- hostile ---- */

/* Sends n MADs of that method, as often as it takes for the queue to the engine
 * to have room. */
static void flood(struct file *f, uint32_t agent, uint8_t method, uint32_t n,
		  uint32_t timeout_ms)
{
	for (uint32_t i = 0; i < n; i++) {
		struct packet p = ping(agent, i);

		p.hdr.timeout_ms = timeout_ms;
		p.mad[3] = method;
		while (put(f, &p) != sizeof(p))
			;
	}
}

/* More than anybody reads: bounded, and the others go on. */
static void test_deaf(void)
{
	struct file deaf = open_file(), f = open_file();
	struct ib_user_mad_reg_req req = ping_request();
	uint32_t c = add_agent(&f, false), got = 0, told = 0;
	struct packet p;

	add_agent(&deaf, true);
	flood(&f, c, PING_METHOD, 1000, 0);
	inquire(&f, 0x04, 0x01, 0x0001);
	while (is_readable(&deaf, 0)) {
		get(&deaf, sizeof(p));
		got++;
	}
	CHECK(got > 50);
	CHECK(got < 500);
	/* Nobody answers, and there is no room to report that: each is reported
	 * nevertheless, once there is. */
	req.method_mask[0] = 1 << 5;
	CHECK_EQ(ask(&f, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	flood(&f, c, 5, 1000, 0);
	flood(&f, c, PING_METHOD, UMAD_FILE_SENDS_MAX, 1);
	for (got = 0; told < UMAD_FILE_SENDS_MAX; got++) {
		CHECK(is_readable(&f, FOREVER_MS));
		CHECK(read(f.fd, &p, sizeof(p)) > 0);
		told += p.hdr.status == ETIMEDOUT;
	}
	CHECK(got > 50 + UMAD_FILE_SENDS_MAX);
	/* And no more than so many wait. */
	flood(&f, c, PING_METHOD, UMAD_FILE_SENDS_MAX, FOREVER_MS);
	p = ping(c, UMAD_FILE_SENDS_MAX);
	CHECK_EQ(put(&f, &p), -ENOMEM);
	close_file(&deaf);
	close_file(&f);
	client_settle(&dev);
}

/* Any bytes at all. */
static void test_garbage(void)
{
	struct file f = open_file();
	unsigned int seed = 5;
	uint8_t bytes[512];

	add_agent(&f, true);
	add_agent(&f, false);
	for (int i = 0; i < 4000; i++) {
		static const uint64_t requests[] = {IB_USER_MAD_REGISTER_AGENT,
						    IB_USER_MAD_REGISTER_AGENT2,
						    IB_USER_MAD_ENABLE_PKEY, 0};

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(rand_r(&seed) >> 8);
		if (i % 2) {
			ask(&f, requests[i / 2 % 4], bytes);
			continue;
		}
		/* Some that get as far as the wire. */
		bytes[0] = (uint8_t)(i & 1);
		memset(bytes + 1, 0, 3);
		if (i % 4) {
			bytes[32] = 1;
			bytes[33] = 0;
			memcpy(bytes + 36, gid, 16);
			memset(bytes + 56, 0, 2);
			memset(bytes + 20, 0, 2);
		}
		client_write(f.sock, bytes, (uint32_t)rand_r(&seed) % 400);
		while (is_readable(&f, 0))
			CHECK(read(f.fd, bytes, sizeof(bytes)) > 0);
	}
	close_file(&f);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755)); /* strangers too */
	learn_gid();
	test_tree();
	test_conversation();
	test_timeout();
	test_counters();
	test_registrations();
	test_bad_sends();
	test_who();
	test_deaf();
	test_garbage();
	check_device();
	daemon_stop(&dev);
	return 0;
}
