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
#include <sys/mman.h>
#include <unistd.h>

#include "kernel-abi/uroce-ring.h"
#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_NS 20000000ull
#else
#define LIMIT_NS 3000000ull
#endif
/* Some tenths of a millisecond are meant. Interrupts count too, and what a virtual
 * machine is not given. */
#define TRIES 3

#define QPS   256
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

struct queue {
	uint32_t handle;
	struct uroce_create_qp_resp rings;
	uint8_t *base;
};

struct sender {
	struct user user;
	int visible;
	struct uroce_db_page *db;
	uint32_t ah, ah_number, mr, lkey;
	struct queue queue[QPS];
	unsigned int n;
};

static void *map(int fd, uint64_t off, uint64_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)off);

	CHECK(p != MAP_FAILED);
	return p;
}

static void make_target(struct sender *s)
{
	struct ib_uverbs_create_ah ah = {
		.pd_handle = s->user.pd,
		.attr = {.is_global = 1,
			 .port_num = 1,
			 .grh = {.dgid = {[10] = 0xff, 0xff, 127, 0, 0, 1}}}};
	struct {
		struct ib_uverbs_create_ah_resp core;
		struct uroce_create_ah_resp udata;
	} ah_resp = {0};
	struct ib_uverbs_reg_mr mr = {.start = (uintptr_t)page,
				      .length = sizeof(page),
				      .hca_va = (uintptr_t)page,
				      .pd_handle = s->user.pd,
				      .access_flags =
					      IB_UVERBS_ACCESS_LOCAL_WRITE};
	struct ib_uverbs_reg_mr_resp mr_resp = {0};

	CHECK_EQ(client_legacy(s->user.sock, IB_USER_VERBS_CMD_CREATE_AH, &ah,
			       sizeof(ah), &ah_resp, sizeof(ah_resp)),
		 0);
	s->ah = ah_resp.core.ah_handle;
	s->ah_number = ah_resp.udata.ah;
	CHECK_EQ(client_legacy(s->user.sock, IB_USER_VERBS_CMD_REG_MR, &mr,
			       sizeof(mr), &mr_resp, sizeof(mr_resp)),
		 0);
	s->mr = mr_resp.mr_handle;
	s->lkey = mr_resp.lkey;
}

static int64_t modify(const struct sender *s, const struct queue *q,
		      uint32_t state, uint32_t mask)
{
	struct ib_uverbs_modify_qp req = {.qp_handle = q->handle,
					  .attr_mask = mask,
					  .qp_state = (uint8_t)state,
					  .port_num = 1,
					  .qkey = 1};

	return client_legacy(s->user.sock, IB_USER_VERBS_CMD_MODIFY_QP, &req,
			     sizeof(req), NULL, 0);
}

static void make_queue(struct sender *s, struct queue *q, uint32_t depth)
{
	struct ib_uverbs_create_qp req = {.pd_handle = s->user.pd,
					  .send_cq_handle = s->user.cq,
					  .recv_cq_handle = s->user.cq,
					  .max_send_wr = depth,
					  .max_recv_wr = 1,
					  .max_send_sge = 1,
					  .max_recv_sge = 1,
					  .qp_type = IB_UVERBS_QPT_UD};
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct uroce_create_qp_resp udata;
	} resp = {0};

	CHECK_EQ(client_legacy(s->user.sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	q->handle = resp.core.qp_handle;
	q->rings = resp.udata;
	q->base = map(s->visible, q->rings.map_off, q->rings.map_len);
	/* INIT: port, P_Key, Q_Key; RTR; RTS: PSN. */
	CHECK_EQ(modify(s, q, 1, 1 | 1 << 4 | 1 << 5 | 1 << 6), 0);
	CHECK_EQ(modify(s, q, 2, 1), 0);
	CHECK_EQ(modify(s, q, 3, 1 | 1 << 16), 0);
}

/* All that a queue takes, its bit set, and nobody told. */
static void fill(struct sender *s, struct queue *q)
{
	struct uroce_ring_hdr *hdr = (void *)(q->base + q->rings.sq_hdr_off);
	uint32_t bbs = q->rings.sq_bbs, n = q->rings.sq_max_wqes;
	uint32_t slot = q->rings.db_slot;

	for (uint32_t i = hdr->prod; i != hdr->prod + n; i++) {
		uint8_t *wqe = q->base + q->rings.sq_off +
			       (uint64_t)(i % bbs) * UROCE_SQ_BB;

		*(struct uroce_wqe_ctrl *)wqe = (struct uroce_wqe_ctrl){
			.opcode = UROCE_WQE_SEND, .ds = 3};
		*(struct uroce_wqe_av *)(wqe + 16) = (struct uroce_wqe_av){
			.ah = s->ah_number, .dqpn = 0x123456, .qkey = 1};
		*(struct uroce_wqe_data *)(wqe + 32) = (struct uroce_wqe_data){
			.length = 64, .lkey = s->lkey, .addr = (uintptr_t)page};
	}
	__atomic_store_n(&hdr->prod, hdr->prod + n, __ATOMIC_RELEASE);
	__atomic_fetch_or(&s->db->word[slot / 64], 1ull << (slot % 64),
			  __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&s->db->summary, 1ull << (slot / 64),
			  __ATOMIC_SEQ_CST);
}

static void check_sent(const struct queue *q)
{
	const struct uroce_ring_hdr *hdr =
		(void *)(q->base + q->rings.sq_hdr_off);

	CHECK_EQ(__atomic_load_n(&hdr->cons, __ATOMIC_ACQUIRE), hdr->prod);
}

static struct sender *begin(unsigned int n, uint32_t depth)
{
	struct sender *s = calloc(1, sizeof(*s));
	struct uroce_alloc_ucontext_resp ctx;

	CHECK(s);
	s->user.sock = client_open(&dev, "uverbs0", &s->visible);
	CHECK_EQ(client_get_context(s->user.sock, &ctx), 0);
	close(ctx.wake_fd);
	s->db = map(s->visible, ctx.db_map_off, ctx.db_map_len);
	CHECK_EQ(make_pd(&s->user), 0);
	CHECK_EQ(make_cq(&s->user), 0);
	make_target(s);
	for (s->n = 0; s->n < n; s->n++)
		make_queue(s, &s->queue[s->n], depth);
	for (unsigned int i = 0; i < n; i++)
		fill(s, &s->queue[i]);
	longest();
	return s;
}

static void hang_up(struct sender *s)
{
	close(s->user.sock);
	client_settle(&dev);
}

static void end(struct sender *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		munmap(s->queue[i].base, s->queue[i].rings.map_len);
	munmap(s->db, sizeof(*s->db));
	close(s->visible);
	free(s);
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
	CHECK_EQ(modify(s, &s->queue[0], 6, 1), 0);
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
		end(s);
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
