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
		sender_end(s);
		if (ns < LIMIT_NS && at_end < LIMIT_NS)
			return;
	}
	fprintf(stderr, "held for %llu ns, and %llu at the end\n",
		(unsigned long long)ns, (unsigned long long)at_end);
	CHECK(ns < LIMIT_NS && at_end < LIMIT_NS);
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
	daemon_stop(&dev);
	snprintf(lock, sizeof(lock), "%s/lock", dev.dir);
	CHECK(!unlink(lock));
	CHECK(!rmdir(dev.dir));
	return cases_status();
}
