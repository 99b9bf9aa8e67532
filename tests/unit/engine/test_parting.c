// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine has to see what was posted before a command first. Here the engine
 * sleeps and gets no doorbell for what is posted, or gets one and is not woken:
 * the command alone brings it out.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/qp_walk.h"

#define FILE_BYTES (1ull << 40)
#define PD	   3
#define QKEY	   0x11111111
#define BYTES	   8

static struct ur_engine *engine;
static struct ur_ectx *ectx;
static struct ur_user_mem *self;
static struct ur_ecq *scq, *rcq;
static struct ur_eqp *sender, *receiver;
static struct uroce_create_qp_resp rings; /* of the sender */
static struct ur_eah *ah;
static struct ur_emr *recv_mr, *send_mr;
static struct ur_epath path;
static u8 *map; /* the rings' file */
static u8 outgoing[BYTES], incoming[64 * 1024];
static u32 arrived;

static void *at(u64 off)
{
	return map + off;
}

static struct ur_emr *reg_mr(void *buf, u64 bytes)
{
	struct ur_emr_attr attr = {
		.pd = PD,
		.access = UR_ACCESS_LOCAL_WRITE,
		.addr = (uintptr_t)buf,
		.iova = (uintptr_t)buf,
		.length = bytes,
		.mem = self,
		.dmabuf_fd = -1,
	};
	struct ur_emr *mr;

	CHECK_EQ(ur_emr_reg(ectx, &attr, &mr), 0);
	return mr;
}

static struct ur_ecq *make_cq(void)
{
	struct ur_ecq_init init = {.entries = 1024};
	struct uroce_create_cq_resp resp;
	struct ur_ecq *cq;

	CHECK_EQ(ur_ecq_create(ectx, &init, &cq, &resp), 0);
	return cq;
}

static struct ur_eqp *make_qp(u32 max_recv, struct uroce_create_qp_resp *resp)
{
	struct ur_eqp_init init = {
		.type = UR_QPT_UD,
		.pd = PD,
		.caps.max_send_wr = 8,
		.caps.max_recv_wr = max_recv,
		.caps.max_send_sge = 1,
		.caps.max_recv_sge = 1,
		.send_cq = scq,
		.recv_cq = rcq,
	};
	struct ur_qp_attr a = {.port_num = 1, .qkey = QKEY};
	struct ur_eqp *qp;

	CHECK_EQ(ur_eqp_create(ectx, &init, &qp, resp), 0);
	a.state = UR_QP_INIT;
	CHECK_EQ(ur_eqp_modify(qp, &a, NULL,
			       UR_QP_ATTR_STATE | UR_QP_ATTR_PKEY_INDEX |
				       UR_QP_ATTR_PORT | UR_QP_ATTR_QKEY),
		 0);
	a.state = UR_QP_RTR;
	CHECK_EQ(ur_eqp_modify(qp, &a, NULL, UR_QP_ATTR_STATE), 0);
	a.state = UR_QP_RTS;
	CHECK_EQ(ur_eqp_modify(qp, &a, NULL,
			       UR_QP_ATTR_STATE | UR_QP_ATTR_SQ_PSN),
		 0);
	return qp;
}

static void post_recvs(const struct uroce_create_qp_resp *r, u32 n)
{
	struct uroce_ring_hdr *hdr = at(r->map_off + r->rq_hdr_off);

	for (u32 i = 0; i < n; i++) {
		struct uroce_recv_wqe *w =
			at(r->map_off + r->rq_off + (u64)i * r->rq_stride);
		struct uroce_wqe_data *d = (struct uroce_wqe_data *)(w + 1);

		*w = (struct uroce_recv_wqe){.wr_id = i, .num_sge = 1};
		*d = (struct uroce_wqe_data){.length = UR_GRH_BYTES + BYTES,
					     .lkey = ur_mr_key(recv_mr->mr),
					     .addr = (uintptr_t)incoming +
						     i * 64};
	}
	__atomic_store_n(&hdr->prod, n, __ATOMIC_RELEASE);
}

/* Puts it in the ring and rings no doorbell. */
static void post(void)
{
	struct uroce_ring_hdr *hdr = at(rings.map_off + rings.sq_hdr_off);
	u32 prod = hdr->prod;
	u8 *wqe = at(rings.map_off + rings.sq_off +
		     (u64)(prod % rings.sq_bbs) * UROCE_SQ_BB);

	*(struct uroce_wqe_ctrl *)wqe = (struct uroce_wqe_ctrl){
		.opcode = UROCE_WQE_SEND, .flags = 0, .ds = 3};
	*(struct uroce_wqe_av *)(wqe + 16) = (struct uroce_wqe_av){
		.ah = ur_eah_number(ah), .dqpn = receiver->qpn, .qkey = QKEY};
	*(struct uroce_wqe_data *)(wqe + 32) =
		(struct uroce_wqe_data){.length = BYTES,
					.lkey = ur_mr_key(send_mr->mr),
					.addr = (uintptr_t)outgoing};
	__atomic_store_n(&hdr->prod, prod + 1, __ATOMIC_RELEASE);
}

/* As a client does that has posted, but wakes nobody. */
static void ring(void)
{
	__atomic_fetch_or(&ectx->db->word[rings.db_slot / 64],
			  1ull << (rings.db_slot % 64), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&ectx->db->summary, 1ull << (rings.db_slot / 64),
			  __ATOMIC_SEQ_CST);
}

static int count_arrived(struct ur_engine *e, void *arg)
{
	return (int)rcq->prod;
}

static void one_more(void)
{
	CHECK_EQ(ur_engine_call(engine, count_arrived, NULL), ++arrived);
}

static void wait_asleep(void)
{
	while (!atomic_load(&engine->asleep))
		poll(NULL, 0, 1);
}

static void begin(void)
{
	sender = make_qp(0, &rings);
	send_mr = reg_mr(outgoing, BYTES);
	CHECK_EQ(ur_eah_create(ectx, PD, &path, &ah), 0);
	wait_asleep();
	post();
}

static void end(void)
{
	struct ur_emr_left left;
	struct ur_events_left events;

	if (sender)
		CHECK_EQ(ur_eqp_destroy(sender, &events), 0);
	if (ah)
		ur_eah_destroy(ah);
	if (send_mr)
		CHECK_EQ(ur_emr_dereg(send_mr, &left), 0);
}

static void by_destroy(void)
{
	struct ur_events_left events;

	begin();
	CHECK_EQ(ur_eqp_destroy(sender, &events), 0);
	sender = NULL;
	one_more();
	end();
}

static void by_state(enum ur_qp_state state)
{
	struct ur_qp_attr a = {.state = state};

	begin();
	CHECK_EQ(ur_eqp_modify(sender, &a, NULL, UR_QP_ATTR_STATE), 0);
	one_more();
	end();
}

static void by_ah(void)
{
	begin();
	ring();
	ur_eah_destroy(ah);
	ah = NULL;
	one_more();
	end();
}

static void by_mr(void)
{
	struct ur_emr_left left;

	begin();
	ring();
	CHECK_EQ(ur_emr_dereg(send_mr, &left), 0);
	send_mr = NULL;
	one_more();
	end();
}

static void by_settle(void)
{
	u64 run = 0;

	begin();
	ring();
	while (ur_ectx_drain(ectx, &run))
		;
	one_more();
	end();
}

/* Any command at all, when there was a doorbell. */
static void by_doorbell(void)
{
	begin();
	ring();
	one_more();
	end();
}

/* As much as a send queue takes. */
static void many(void)
{
	struct ur_events_left events;

	begin();
	for (u32 i = 1; i < 8; i++)
		post();
	CHECK_EQ(ur_eqp_destroy(sender, &events), 0);
	sender = NULL;
	arrived += 7;
	one_more();
	end();
}

static void start(void)
{
	struct ur_engine_config config = {
		LO_ENGINE,
		.kind = &ur_program_kind,
	};
	/* One of the loopback's addresses that nobody else takes. */
	u32 pid = (u32)getpid();
	u8 gid[16] = {[10] = 0xff, 0xff, 127, 64, 0, 0};
	struct uroce_create_qp_resp r;
	struct ur_ectx_info info;
	int fd = memfd_create("rings", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, FILE_BYTES));
	map = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	gid[13] |= pid >> 16 & 0x3f;
	gid[14] = (u8)(pid >> 8);
	gid[15] = (u8)pid;
	memcpy(path.sgid, gid, 16);
	memcpy(path.dgid, gid, 16);
	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	CHECK_EQ(ur_engine_set_gid(engine, 0, gid, UR_GID_ROCE_V2), 0);
	CHECK_EQ(ur_user_mem_create(open("/proc/self/mem", O_RDWR), getpid(),
				    &self),
		 0);
	CHECK_EQ(ur_ectx_create(engine, fd, self, 0, &ectx, &info), 0);
	scq = make_cq();
	rcq = make_cq();
	recv_mr = reg_mr(incoming, sizeof(incoming));
	receiver = make_qp(256, &r);
	post_recvs(&r, 256);
}

static void stop(void)
{
	struct ur_emr_left left;
	struct ur_events_left events, more;

	CHECK_EQ(ur_eqp_destroy(receiver, &events), 0);
	CHECK_EQ(ur_emr_dereg(recv_mr, &left), 0);
	CHECK(!left.map);
	CHECK_EQ(ur_ecq_destroy(scq, &events, &more), 0);
	CHECK_EQ(ur_ecq_destroy(rcq, &events, &more), 0);
	ur_ectx_destroy(ectx);
	ur_user_mem_put(self);
	ur_engine_destroy(engine);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	start();
	STEP(by_destroy());
	STEP(by_state(UR_QP_RESET));
	STEP(by_state(UR_QP_ERR));
	STEP(by_state(UR_QP_SQD));
	STEP(by_ah());
	STEP(by_mr());
	STEP(by_settle());
	STEP(by_doorbell());
	STEP(many());
	stop();
	return cases_status();
}
