// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whatever a user has, and however he ends it: the control lock, which all
 * others wait for, is held for a millisecond at a time at most. Processor time is
 * measured, so a busy machine is no slower.
 *
 * usage: test_lock UROCED
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/sender.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_NS 20000000ull
#else
#define LIMIT_NS 3000000ull
#endif
/* Some tenths of a millisecond are meant. Interrupts count too, and what a virtual
 * machine is not given. */
#define TRIES 3

#define QPS   SENDER_QPS
#define DEPTH 1024u

static struct daemon_proc dev;

/* Nanoseconds since the last question. */
static uint64_t longest(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS, .name = "lock"};
	int sock = client_connect(&dev), fd;
	unsigned long long ns;
	char text[64] = "";

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0);
	CHECK_EQ(sscanf(text, "{\"longest_ns\":%llu}", &ns), 1);
	close(fd);
	close(sock);
	return ns;
}

/* ---- a user with full send queues ---- */

static void check_sent(const struct queue *q)
{
	const struct uroce_ring_hdr *hdr =
		(void *)(q->base + q->rings.sq_hdr_off);

	CHECK_EQ(__atomic_load_n(&hdr->cons, __ATOMIC_ACQUIRE), hdr->prod);
}

static struct sender *begin(unsigned int n, uint32_t depth)
{
	struct sender *s = sender_begin(&dev, n, depth);

	for (unsigned int i = 0; i < n; i++)
		sender_fill(s, &s->queue[i]);
	longest();
	return s;
}

static void hang_up(struct sender *s)
{
	close(s->user.sock);
	client_settle(&dev);
}

static int64_t by_handle(const struct sender *s, uint32_t command,
			 uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	uint64_t req[2] = {handle, 0};

	/* DESTROY_QP has room for a response, and then the handle. */
	if (command == IB_USER_VERBS_CMD_DESTROY_QP) {
		struct ib_uverbs_destroy_qp qp = {.qp_handle = handle};

		return client_legacy(s->user.sock, command, &qp, sizeof(qp),
				     &resp, sizeof(resp));
	}
	return client_legacy(s->user.sock, command, req, 4, NULL, 0);
}

static void settle(struct sender *s)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SETTLE};

	client_send(s->user.sock, &msg, NULL, 0);
	CHECK_EQ(client_hear(s->user.sock, &msg), 0);
	for (unsigned int i = 0; i < s->n; i++)
		check_sent(&s->queue[i]);
}

static void dereg(struct sender *s)
{
	CHECK_EQ(by_handle(s, IB_USER_VERBS_CMD_DEREG_MR, s->mr), 0);
	for (unsigned int i = 0; i < s->n; i++)
		check_sent(&s->queue[i]);
}

static void destroy_ah(struct sender *s)
{
	CHECK_EQ(by_handle(s, IB_USER_VERBS_CMD_DESTROY_AH, s->ah), 0);
	for (unsigned int i = 0; i < s->n; i++)
		check_sent(&s->queue[i]);
}

static void destroy_qp(struct sender *s)
{
	CHECK_EQ(by_handle(s, IB_USER_VERBS_CMD_DESTROY_QP, s->queue[0].handle),
		 0);
	check_sent(&s->queue[0]);
}

static void to_error(struct sender *s)
{
	CHECK_EQ(sender_modify(s, &s->queue[0], 6, 1), 0);
	check_sent(&s->queue[0]);
}

static void nothing(struct sender *s)
{
}

static void link_command(uint64_t what, const char *name)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_LINK, .link.what = what};
	int sock, fd;

	dev.admin = true;
	sock = client_connect(&dev);
	dev.admin = false;
	strcpy(msg.name, name);
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(sock);
}

/* A process that has it open ends as well. */
static void remove_device(struct sender *s)
{
	link_command(UROCE_TUN_LINK_DEL, "uroce0");
	client_settle(&dev);
}

/* To make the files of one takes longer, and is nobody's but an administrator's
 * doing. */
static void add_device(void)
{
	link_command(UROCE_TUN_LINK_ADD, "lo uroce0");
	longest();
}

static void check_full(void (*what)(struct sender *s), unsigned int n,
		       uint32_t depth)
{
	uint64_t ns = 0, at_end = 0;

	for (int i = 0; i < TRIES; i++) {
		struct sender *s = begin(n, depth);

		what(s);
		ns = longest();
		hang_up(s);
		at_end = longest();
		if (what == remove_device)
			add_device();
		sender_end(s);
		if (ns < LIMIT_NS && at_end < LIMIT_NS)
			return;
	}
	fprintf(stderr, "held for %llu ns, and %llu at the end\n",
		(unsigned long long)ns, (unsigned long long)at_end);
	CHECK(ns < LIMIT_NS && at_end < LIMIT_NS);
}

/* ---- a user with many objects, and connections ---- */

#define OBJECTS 1500

static int open_cm(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	int sock = client_connect(&dev), mem = client_mem();

	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK_EQ(client_hear(sock, &msg), 0);
	return sock;
}

static void make_many(struct user *u)
{
	static int64_t (*const make[])(struct user *) = {
		make_srq, make_qp, make_mr, make_mw, make_ah, make_id,
	};

	u->sock = client_session(&dev);
	u->cm = open_cm();
	CHECK_EQ(make_pd(u), 0);
	CHECK_EQ(make_cq(u), 0);
	CHECK_EQ(make_xrcd(u), 0);
	for (size_t k = 0; k < sizeof(make) / sizeof(make[0]); k++)
		for (int i = 0; i < OBJECTS; i++)
			CHECK_EQ(make[k](u), 0);
}

static void check_many(void)
{
	uint64_t made = 0, ended = 0;

	for (int i = 0; i < TRIES; i++) {
		struct user u = {0};

		longest();
		make_many(&u);
		made = longest();
		close(u.sock);
		close(u.cm);
		client_settle(&dev);
		ended = longest();
		if (made < LIMIT_NS && ended < LIMIT_NS)
			return;
	}
	fprintf(stderr, "made in %llu ns, and ended in %llu\n",
		(unsigned long long)made, (unsigned long long)ended);
	CHECK(made < LIMIT_NS && ended < LIMIT_NS);
}

int main(int argc, char **argv)
{
	char lock[80];

	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	CHECK(!setenv("UROCE_MEASURE_LOCK", "1", 1));
	/* As /run is: elsewhere to make a file may take long. */
	strcpy(dev.dir, "/dev/shm/uroce-test.XXXXXX");
	CHECK(mkdtemp(dev.dir));
	daemon_start(&dev, argv[1], 0);
	STEP(check_full(settle, QPS, DEPTH));
	STEP(check_full(dereg, QPS, DEPTH));
	STEP(check_full(destroy_ah, QPS, DEPTH));
	STEP(check_full(destroy_qp, 1, 1 << 16));
	STEP(check_full(to_error, 1, 1 << 16));
	STEP(check_full(nothing, QPS, DEPTH));
	STEP(check_full(remove_device, QPS, DEPTH));
	STEP(check_many());
	daemon_stop(&dev);
	snprintf(lock, sizeof(lock), "%s/lock", dev.dir);
	CHECK(!unlink(lock));
	CHECK(!rmdir(dev.dir));
	return cases_status();
}
