// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/sender.h"

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

int64_t sender_modify(const struct sender *s, const struct queue *q,
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
	CHECK_EQ(sender_modify(s, q, 1, 1 | 1 << 4 | 1 << 5 | 1 << 6), 0);
	CHECK_EQ(sender_modify(s, q, 2, 1), 0);
	CHECK_EQ(sender_modify(s, q, 3, 1 | 1 << 16), 0);
}

void sender_fill(struct sender *s, struct queue *q)
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
			.length = 64, .lkey = s->lkey, .addr = s->addr};
	}
	__atomic_store_n(&hdr->prod, hdr->prod + n, __ATOMIC_RELEASE);
	__atomic_fetch_or(&s->db->word[slot / 64], 1ull << (slot % 64),
			  __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&s->db->summary, 1ull << (slot / 64),
			  __ATOMIC_SEQ_CST);
}

struct sender *sender_begin(const struct daemon_proc *d, unsigned int n,
			    uint32_t depth)
{
	struct sender *s = calloc(1, sizeof(*s));
	struct uroce_alloc_ucontext_resp ctx;

	CHECK(s && n <= SENDER_QPS);
	s->user.sock = client_open(d, "uverbs0", &s->visible);
	CHECK_EQ(client_get_context(s->user.sock, &ctx), 0);
	s->wake_fd = ctx.wake_fd;
	s->db = map(s->visible, ctx.db_map_off, ctx.db_map_len);
	CHECK_EQ(make_pd(&s->user), 0);
	CHECK_EQ(make_cq(&s->user), 0);
	s->addr = (uintptr_t)page;
	make_target(s);
	for (s->n = 0; s->n < n; s->n++)
		make_queue(s, &s->queue[s->n], depth);
	return s;
}

void sender_wake(const struct sender *s)
{
	uint64_t one = 1;

	CHECK_EQ(write(s->wake_fd, &one, sizeof(one)), sizeof(one));
}

void sender_end(struct sender *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		munmap(s->queue[i].base, s->queue[i].rings.map_len);
	munmap(s->db, sizeof(*s->db));
	close(s->wake_fd);
	close(s->visible);
	free(s);
}
