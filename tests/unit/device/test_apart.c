// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages of programs to an engine process (device/apart/), whose door is a made-up one. */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/apart/apart.h"
#include "device/memory.h"
#include "tests/check.h"

#define SLOT 3u
#define QPN  (SLOT << 19 | 77)

static u32 made, destroyed, detached, made_pdn;
static char object[1];
static u32 state_of_wq;
static const struct uroce_eqp_rss *last_rss;

static int create_cq(struct uroce_ectx *ctx, const struct uroce_ecq_init *init,
		     struct uroce_ecq **cq, struct uroce_create_cq_resp *resp)
{
	made++;
	*cq = (struct uroce_ecq *)(void *)object;
	return 0;
}

static int destroy_cq(struct uroce_ecq *cq, u32 read[2])
{
	destroyed++;
	return 0;
}

static int create_qp(struct uroce_ectx *ctx, const struct uroce_eqp_init *init,
		     struct uroce_eqp **qp, struct uroce_create_qp_resp *resp)
{
	made++;
	made_pdn = init->pdn;
	if (init->rss)
		CHECK(init->rss->size == 2 &&
		      init->rss->wq[1] == (void *)object);
	last_rss = init->rss;
	*qp = (struct uroce_eqp *)(void *)object;
	return 0;
}

static int open_qp(struct uroce_ectx *ctx, const struct uroce_eqp_init *init,
		   struct uroce_eqp **qp)
{
	made++;
	*qp = (struct uroce_eqp *)(void *)object;
	return 0;
}

/* A queue pair that is in a group is not destroyed. */
static int destroy_qp(struct uroce_eqp *qp, u32 *read)
{
	CHECK(detached == 1);
	destroyed++;
	return 0;
}

static struct uroce_emr_init last_mr;

static int reg_mr(struct uroce_ectx *ctx, const struct uroce_emr_init *init,
		  struct uroce_emr **mr)
{
	made++;
	last_mr = *init;
	*mr = (struct uroce_emr *)(void *)object;
	return 0;
}

static int rereg_mr(struct uroce_emr *mr, u32 flags,
		    const struct uroce_emr_init *init)
{
	CHECK_EQ(flags, 7);
	last_mr = *init;
	return 0;
}

static int dereg_mr(struct uroce_emr *mr)
{
	destroyed++;
	return 0;
}

static int mcast(struct uroce_eqp *qp, const u8 gid[16], u32 attach)
{
	detached += !attach;
	return 0;
}

static u64 more_room;

static __u64 room(struct uroce_ectx *ctx)
{
	return more_room;
}

static u32 drained;

static void drain(struct uroce_ectx *ctx)
{
	drained++;
}

static int has_raw(struct uroce_ectx *ctx)
{
	return 1;
}

static int use_raw(struct uroce_ectx *ctx, const struct uroce_engine_raw *raw)
{
	made++;
	return 0;
}

static int modify_wq(struct uroce_eqp *wq, u32 state)
{
	state_of_wq = state;
	return 0;
}

/* The rule has counted something at once. */
static int create_flow(struct uroce_eqp *qp,
		       const struct uroce_engine_flow *init,
		       struct uroce_eflow_counts *counts,
		       struct uroce_eflow **flow)
{
	made++;
	*counts = (struct uroce_eflow_counts){3, 300};
	*flow = (struct uroce_eflow *)(void *)object;
	return 0;
}

static void destroy_flow(struct uroce_eflow *flow)
{
	destroyed++;
}

static int left_sender(struct uroce_ectx *ctx)
{
	return -1;
}

static int make_home(const struct uroce_engine_open *open, const int *v1,
		     u32 isolated, int file, struct uroce_home **home)
{
	*home = (struct uroce_home *)(void *)object;
	return 0;
}

static void end_home(struct uroce_home *home)
{
}

static const struct uroce_engine_ops ops = {
	.make_home = make_home,
	.end_home = end_home,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.create_qp = create_qp,
	.open_qp = open_qp,
	.destroy_qp = destroy_qp,
	.mcast = mcast,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.room = room,
	.left_sender = left_sender,
	.drain = drain,
	.has_raw = has_raw,
	.use_raw = use_raw,
	.modify_wq = modify_wq,
	.create_flow = create_flow,
	.destroy_flow = destroy_flow,
};

static struct ur_apart_client client = {
	.ops = &ops, .slot = SLOT, .max_kib = UINT32_MAX};

static struct ur_apart_reply reply;

static int call_with(struct ur_apart_asked *asked, int *fds)
{
	ur_apart_call(&client, asked, fds, &reply);
	CHECK_EQ(reply.msg.op, asked->msg.op);
	return reply.msg.ret;
}

static int call(struct uroce_apart_msg *msg)
{
	int fds[UROCE_APART_MSG_FDS] = {-1, -1, -1}, ret;
	struct ur_apart_asked asked = {.msg = *msg};

	ret = call_with(&asked, fds);
	msg->number = reply.msg.number;
	return ret;
}

static u32 new_cq(void)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_CREATE_CQ,
				      .cq.entries = 8};

	CHECK_EQ(call(&msg), 0);
	return msg.number;
}

static struct uroce_apart_msg qp_of(u32 cq)
{
	return (struct uroce_apart_msg){
		.op = UROCE_APART_CREATE_QP,
		.qp = {.init = {.type = IB_UVERBS_QPT_RC, .qpn = QPN},
		       .send_cq = cq,
		       .recv_cq = cq}};
}

/* Two programs that have an engine together name domains alike, and have none in common. Contexts of one file
 * have all in common. */
static void domains(void)
{
	struct uroce_engine_open open = {.slot = SLOT};
	struct ur_apart_engine *engine, *same;
	struct uroce_apart_msg msg = qp_of(new_cq());
	int file = memfd_create("liveness", MFD_CLOEXEC);
	u32 first;

	CHECK_EQ(
		ur_apart_engine_get(&ops, 1, &open, NULL, false, file, &engine),
		0);
	CHECK_EQ(ur_apart_engine_get(&ops, 1, &open, NULL, false, -1, &same),
		 0);
	CHECK(engine == same);
	msg.qp.init.pdn = 7;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(made_pdn, 7);
	client.engine = engine;
	client.file = ur_apart_file_get(engine, 5);
	msg = qp_of(new_cq());
	msg.qp.init.pdn = 7;
	CHECK_EQ(call(&msg), 0);
	first = made_pdn;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(made_pdn, first);
	msg.qp.init.pdn = 8;
	CHECK_EQ(call(&msg), 0);
	CHECK(made_pdn != first);
	/* Another context of the file. */
	CHECK(client.file == ur_apart_file_get(engine, 5));
	ur_apart_file_put(client.file);
	msg.qp.init.pdn = 7;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(made_pdn, first);
	/* The other program. */
	ur_apart_file_put(client.file);
	client.file = ur_apart_file_get(engine, 6);
	msg.qp.init.pdn = 7;
	CHECK_EQ(call(&msg), 0);
	CHECK(made_pdn != first && made_pdn != first + 1);
	ur_apart_file_put(client.file);
	client.file = NULL;
	client.engine = NULL;
	ur_apart_engine_put(engine);
	ur_apart_engine_put(engine);
	ur_apart_engine_done(1);
	close(file);
}

static struct uroce_apart_msg region_of(u32 key, u64 addr)
{
	return (struct uroce_apart_msg){
		.op = UROCE_APART_REG_MR,
		.mr.init = {.key = key, .pdn = 1, .addr = addr, .length = 8}};
}

/* Regions that uroced has named: the program claims one, which is as the program says, and the others end. */
static void listed_regions(void)
{
	const struct uroce_emr_init listed[] = {
		{.key = 1, .pdn = 1, .addr = 4096, .length = 8},
		{.key = 2, .pdn = 1, .addr = 4096, .length = 8},
		/* A wrong one, as no uroced names it. */
		{.key = 3, .pdn = 1, .addr = 4096, .length = 8, .flags = ~0u},
		{.key = 4, .pdn = 1, .addr = 4096, .length = 8}};
	int file = memfd_create("regions", MFD_CLOEXEC);
	u32 had = made, ended = destroyed, first;
	struct uroce_apart_msg msg;

	CHECK_EQ(write(file, listed, sizeof(listed)), sizeof(listed));
	/* There are fewer than the number says. */
	ur_apart_register_listed(&client, file, 1000);
	close(file);
	CHECK_EQ(made, had + 3);
	msg = region_of(2, 8192);
	CHECK_EQ(call(&msg), 0);
	first = msg.number;
	CHECK_EQ(made, had + 3);
	CHECK_EQ(last_mr.addr, 8192);
	/* Once only. */
	msg = region_of(2, 8192);
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(made, had + 4);
	CHECK(msg.number != first);
	msg = (struct uroce_apart_msg){.op = UROCE_APART_CLAIMED};
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 2);
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 2);
	msg = (struct uroce_apart_msg){.op = UROCE_APART_DEREG_MR,
				       .number = first};
	CHECK_EQ(call(&msg), 0);
}

/* A program names an unclaimed region by its key alone: by a number it ends none that is to be claimed later. */
static void listed_regions_by_number(void)
{
	const struct uroce_emr_init listed = {
		.key = 1, .pdn = 1, .addr = 4096, .length = 8};
	int file = memfd_create("regions", MFD_CLOEXEC);
	u32 ended = destroyed;
	struct uroce_apart_msg msg;

	CHECK_EQ(write(file, &listed, sizeof(listed)), sizeof(listed));
	ur_apart_register_listed(&client, file, 1);
	close(file);
	for (u32 i = 1; i <= client.n_objects; i++) {
		msg = region_of(7, 4096);
		msg.op = UROCE_APART_REREG_MR;
		msg.number = i;
		CHECK_EQ(call(&msg), -EINVAL);
		msg.op = UROCE_APART_DEREG_MR;
		msg.number = i;
		CHECK_EQ(call(&msg), -EINVAL);
	}
	msg = region_of(1, 8192);
	CHECK_EQ(call(&msg), 0);
	msg.op = UROCE_APART_DEREG_MR;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 1);
}

/* What stands in a message for a pointer of the program's is followed by nobody. */
static void pointers(void)
{
	struct uroce_apart_msg msg;
	u32 cq = new_cq(), before = made;

	msg = qp_of(cq);
	msg.qp.init.rss = (const void *)(uintptr_t)8;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = qp_of(cq);
	msg.qp.init.wq = 1;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = qp_of(cq);
	msg.qp.init.xrcdn = 1;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = (struct uroce_apart_msg){
		.op = UROCE_APART_CREATE_SRQ,
		.srq = {.max_wr = 1,
			.max_sge = 1,
			.cq = (struct uroce_ecq *)(uintptr_t)8}};
	CHECK_EQ(call(&msg), -EINVAL);
	msg.srq.cq = NULL;
	msg.srq.xrcdn = 1;
	CHECK_EQ(call(&msg), -EINVAL);
	CHECK_EQ(made, before);
}

static void no_such_function(void)
{
	for (u32 op = UROCE_APART_OPS; op; op *= 2) {
		struct uroce_apart_msg msg = {.op = op};

		CHECK_EQ(call(&msg), -EOPNOTSUPP);
	}
	CHECK_EQ(call(&(struct uroce_apart_msg){0}), -EOPNOTSUPP);
}

static void last_requests(void)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_DRAIN};

	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(drained, 1);
}

/* A number is of an object of that kind, or of none. */
static void objects_of_others(void)
{
	u32 cq = new_cq();

	for (u32 op = UROCE_APART_MODIFY_CQ; op < UROCE_APART_OPS; op++) {
		struct uroce_apart_msg msg = {.op = op, .number = cq};

		if (op <= UROCE_APART_DESTROY_CQ)
			msg.number = cq + 1;
		if (op == UROCE_APART_CREATE_QP ||
		    op == UROCE_APART_CREATE_AH || op == UROCE_APART_REG_MR ||
		    op == UROCE_APART_CLAIMED || op == UROCE_APART_HAS_RAW ||
		    op == UROCE_APART_DRAIN)
			continue;
		CHECK_EQ(call(&msg), -EINVAL);
		msg.op = op;
		msg.number = UINT32_MAX;
		CHECK_EQ(call(&msg), -EINVAL);
	}
	CHECK_EQ(destroyed, 0);
}

/* Who has as many objects as there may be can destroy one, and then make one. */
static void most_objects(void)
{
	struct ur_apart_client most = client;
	int fds[UROCE_APART_MSG_FDS] = {-1, -1, -1};
	struct ur_apart_asked make = {.msg = {.op = UROCE_APART_CREATE_CQ,
					      .cq.entries = 8}},
			      end = {.msg = {.op = UROCE_APART_DESTROY_CQ,
					     .number = 5}};

	most.objects = calloc(UR_APART_OBJECTS, sizeof(*most.objects));
	CHECK(most.objects);
	most.room = most.n_objects = UR_APART_OBJECTS;
	most.kib = UR_KIB_CQ;
	most.free = 0;
	most.objects[4] =
		(struct ur_apart_object){.kind = UR_APART_CQ, .it = object};
	ur_apart_call(&most, &make, fds, &reply);
	CHECK_EQ(reply.msg.ret, -ENOMEM);
	ur_apart_call(&most, &end, fds, &reply);
	CHECK_EQ(reply.msg.ret, 0);
	ur_apart_call(&most, &make, fds, &reply);
	CHECK_EQ(reply.msg.ret, 0);
	CHECK_EQ(reply.msg.number, 5);
	free(most.objects);
}

static struct uroce_apart_msg raw_of(u32 send, u32 recv)
{
	return (struct uroce_apart_msg){
		.op = UROCE_APART_CREATE_QP,
		.qp = {.init = {.type = IB_UVERBS_QPT_RAW_PACKET, .qpn = QPN},
		       .send_cq = send,
		       .recv_cq = recv}};
}

static u32 destroy_of(u32 number, u32 op)
{
	struct uroce_apart_msg msg = {.op = op, .number = number};

	return (u32)call(&msg);
}

/* A queue without completion queue would complete into nothing. */
static void raw_queues(void)
{
	u32 cq = new_cq(), before = made;
	struct uroce_apart_msg msg = raw_of(cq, cq), bad;

	for (u32 i = 0; i < 6; i++) {
		bad = raw_of(i ? cq : 0, i == 1 || i == 5 ? 0 : cq);
		bad.qp.init.wq = i == 2 || i == 5 ? 1 : i == 3 ? 2 : 0;
		bad.qp.init.xrcdn = i == 4;
		CHECK_EQ(call(&bad), -EINVAL);
	}
	bad = raw_of(cq, UINT32_MAX);
	CHECK_EQ(call(&bad), -EINVAL);
	CHECK_EQ(made, before);
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroy_of(msg.number, UROCE_APART_MODIFY_WQ), (u32)-EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(msg.number, UROCE_APART_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(cq, UROCE_APART_DESTROY_CQ), 0);
}

/* A queue pair spreads frames over work queues alone, as many as come with the message. */
static void spread(void)
{
	int fds[UROCE_APART_MSG_FDS] = {-1, -1, -1};
	struct ur_apart_asked asked = {.n_wqs = 2};
	u32 cq = new_cq(), spreads;
	struct uroce_apart_msg wq = raw_of(0, cq), state;

	wq.qp.init.wq = 1;
	CHECK_EQ(call(&wq), 0);
	state = (struct uroce_apart_msg){
		.op = UROCE_APART_MODIFY_WQ, .number = wq.number, .value = 1};
	CHECK_EQ(call(&state), 0);
	CHECK_EQ(state_of_wq, 1);
	state.number = wq.number;
	state.value = 3;
	CHECK_EQ(call(&state), -EINVAL);
	asked.msg = raw_of(0, 0);
	asked.msg.qp.n_wqs = 2;
	asked.wq[0] = asked.wq[1] = wq.number;
	CHECK_EQ(call_with(&asked, fds), 0);
	CHECK(last_rss);
	spreads = reply.msg.number;
	asked.wq[1] = spreads;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.wq[1] = UINT32_MAX;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.wq[1] = wq.number;
	asked.n_wqs = 1;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.n_wqs = asked.msg.qp.n_wqs = 3;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.n_wqs = asked.msg.qp.n_wqs = 2;
	asked.msg.qp.init.max_recv_wr = 1;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.msg = (struct uroce_apart_msg){.op = UROCE_APART_MODIFY_WQ,
					     .number = wq.number};
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(spreads, UROCE_APART_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(wq.number, UROCE_APART_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(cq, UROCE_APART_DESTROY_CQ), 0);
}

/* A rule is of a raw packet queue pair, and tells what it has counted until its end. */
static void rules(void)
{
	u32 cq = new_cq(), kib = client.kib;
	struct uroce_apart_msg raw = raw_of(cq, cq), plain = qp_of(cq), msg;

	CHECK_EQ(call(&raw), 0);
	CHECK_EQ(call(&plain), 0);
	msg = (struct uroce_apart_msg){.op = UROCE_APART_CREATE_FLOW,
				       .number = plain.number};
	CHECK_EQ(call(&msg), -EINVAL);
	msg.number = raw.number;
	msg.flow.type = 4;
	CHECK_EQ(call(&msg), -EINVAL);
	msg.number = raw.number;
	msg.flow.type = 3;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroy_of(msg.number, UROCE_APART_READ_FLOW), 0);
	CHECK(reply.msg.counts.packets == 3 && reply.msg.counts.bytes == 300);
	CHECK_EQ(destroy_of(msg.number, UROCE_APART_DESTROY_FLOW), 0);
	CHECK_EQ(reply.msg.counts.packets, 3);
	CHECK_EQ(destroy_of(msg.number, UROCE_APART_DESTROY_FLOW),
		 (u32)-EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(raw.number, UROCE_APART_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(plain.number, UROCE_APART_DESTROY_QP), 0);
	CHECK_EQ(client.kib, kib);
	CHECK_EQ(destroy_of(cq, UROCE_APART_DESTROY_CQ), 0);
}

/* Only packet sockets are borrowed: of another kind the engine would read for ever. */
static void packet_sockets(void)
{
	struct ur_apart_asked asked = {.msg.op = UROCE_APART_USE_RAW};
	int fds[UROCE_APART_MSG_FDS] = {-1, -1, -1}, pair[2];
	u32 before = made;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	fds[0] = pair[0];
	fds[1] = pair[1];
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	close(pair[0]);
	close(pair[1]);
	CHECK_EQ(made, before);
}

static void numbers_come_again(void)
{
	u32 cq = new_cq();

	for (u32 i = 0; i < 1000; i++) {
		struct uroce_apart_msg msg = {.op = UROCE_APART_DESTROY_CQ,
					      .number = cq};

		CHECK_EQ(call(&msg), 0);
		msg.op = UROCE_APART_DESTROY_CQ;
		msg.number = cq;
		CHECK_EQ(call(&msg), -EINVAL);
		CHECK_EQ(new_cq(), cq);
	}
}

/* Memory is had by whoever destroys, or leaves a group, and by nobody else. */
static void memory_of_objects(void)
{
	u32 before = client.kib, cq = new_cq();
	struct uroce_apart_msg msg = qp_of(cq),
			       join = {.op = UROCE_APART_MCAST, .gid.index = 1};

	client.max_kib = client.kib + UR_KIB_QP + 1;
	CHECK_EQ(call(&msg), 0);
	join.number = msg.number;
	CHECK_EQ(call(&join), 0);
	/* Another group, and the same one again, which it does not leave by that. */
	join = (struct uroce_apart_msg){.op = UROCE_APART_MCAST,
					.number = msg.number,
					.gid.gid = {0xff},
					.gid.index = 1};
	CHECK_EQ(call(&join), -EDQUOT);
	CHECK_EQ(detached, 1);
	join = (struct uroce_apart_msg){
		.op = UROCE_APART_MCAST, .number = msg.number, .gid.index = 1};
	CHECK_EQ(call(&join), 0);
	CHECK_EQ(detached, 1);
	join = (struct uroce_apart_msg){.op = UROCE_APART_CREATE_CQ,
					.cq.entries = 8};
	CHECK_EQ(call(&join), -EDQUOT);
	join = (struct uroce_apart_msg){
		.op = UROCE_APART_OPEN_QP,
		.qp.init = {
			.type = IB_UVERBS_QPT_XRC_TGT, .qpn = QPN, .xrcdn = 1}};
	CHECK_EQ(call(&join), -EDQUOT);
	/* uroced has added to it. */
	more_room = UR_KIB_CQ << 10;
	join = (struct uroce_apart_msg){.op = UROCE_APART_CREATE_CQ,
					.cq.entries = 8};
	CHECK_EQ(call(&join), 0);
	join.op = UROCE_APART_DESTROY_CQ;
	CHECK_EQ(call(&join), 0);
	more_room = 0;
	msg.op = UROCE_APART_DESTROY_QP;
	detached = 1;
	CHECK_EQ(call(&msg), 0);
	msg = (struct uroce_apart_msg){.op = UROCE_APART_DESTROY_CQ,
				       .number = cq};
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(client.kib, before);
	client.max_kib = UINT32_MAX;
}

static void impossible_queue_pairs(void)
{
	u32 cq = new_cq();
	struct uroce_apart_msg good = qp_of(cq), msg = good;

	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(made, 2);
	/* A number of another slot's, or none at all. */
	msg = good;
	msg.qp.init.qpn = QPN + (1u << 19);
	CHECK_EQ(call(&msg), -EINVAL);
	msg = good;
	msg.qp.init.qpn = 1u << 24 | QPN;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = good;
	msg.qp.init.type = IB_UVERBS_QPT_DRIVER;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = good;
	msg.qp.init.max_send_wr = UINT32_MAX;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = good;
	msg.qp.init.max_inline = UINT32_MAX;
	CHECK_EQ(call(&msg), -EINVAL);
	msg = good;
	msg.qp.srq = cq;
	CHECK_EQ(call(&msg), -EINVAL);
	/* Its pointers are not read. */
	msg = good;
	msg.qp.recv_cq = 0;
	msg.qp.init.recv_cq = (struct uroce_ecq *)(void *)object;
	CHECK_EQ(call(&msg), -EINVAL);
	CHECK_EQ(made, 2);
}

static void impossible_values(void)
{
	struct uroce_apart_modify m = {.attr.path_mtu = 1024, .mask = 1u << 8};
	struct uroce_emr_init mr = {.addr = 4096, .length = 4096};

	CHECK(ur_apart_modify_is_good(&m));
	m.attr.path_mtu = 1000;
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_apart_modify){.mask = 1u << 31};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_apart_modify){.attr.state = 7};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_apart_modify){.attr.dest_qpn = 1u << 24};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_apart_modify){.attr.rnr_retry = 8};
	CHECK(!ur_apart_modify_is_good(&m));
	CHECK(ur_apart_mr_is_good(&mr));
	mr.length = UINT64_MAX;
	CHECK(!ur_apart_mr_is_good(&mr));
	mr = (struct uroce_emr_init){.flags = 1u << 7};
	CHECK(!ur_apart_mr_is_good(&mr));
	mr = (struct uroce_emr_init){.access = UINT32_MAX};
	CHECK(!ur_apart_mr_is_good(&mr));
	CHECK(!ur_apart_cq_is_good(&(struct uroce_apart_cq){0}));
	CHECK(!ur_apart_cq_is_good(
		&(struct uroce_apart_cq){.entries = 1u << 31}));
	CHECK(!ur_apart_srq_is_good(
		&(struct uroce_esrq_init){.max_wr = 1u << 31}, false));
	CHECK(!ur_apart_srq_is_good(
		&(struct uroce_esrq_init){.max_wr = 1, .xrcdn = 1}, true));
}

/* Nothing is mapped that its owner can make shorter. */
static void files_that_shrink(void)
{
	struct ur_apart_asked asked = {
		.msg = {.op = UROCE_APART_USE_RING, .ring.slot = 4}};
	int fds[UROCE_APART_MSG_FDS];

	for (u32 i = 0; i < UROCE_APART_MSG_FDS; i++)
		fds[i] = memfd_create("ring", MFD_ALLOW_SEALING);
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	CHECK(!ur_apart_file_is_good(fds[0]));
	CHECK_EQ(fcntl(fds[0], F_ADD_SEALS, F_SEAL_SHRINK), 0);
	CHECK(ur_apart_file_is_good(fds[0]));
	CHECK(!ur_apart_file_is_good(0));
	CHECK(!ur_apart_file_is_good(-1));
}

/* Queue pairs leave their groups, and go before what they use. */
static void all_ends(void)
{
	struct uroce_apart_msg msg = qp_of(new_cq());
	u32 qp;

	CHECK_EQ(call(&msg), 0);
	qp = msg.number;
	for (u32 i = 0; i < 2; i++) {
		msg = (struct uroce_apart_msg){.op = UROCE_APART_MCAST,
					       .number = qp,
					       .gid.gid = {0xff, (u8)i},
					       .gid.index = 1};
		CHECK_EQ(call(&msg), 0);
	}
	msg.op = UROCE_APART_MCAST;
	msg.number = qp;
	msg.gid.index = 0;
	CHECK_EQ(call(&msg), 0);
	detached = 0;
	ur_apart_destroy_all(&client);
	CHECK_EQ(destroyed, 2);
	CHECK_EQ(detached, 1);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(no_such_function());
	CASE(pointers());
	CASE(domains());
	CASE(listed_regions());
	CASE(listed_regions_by_number());
	CASE(last_requests());
	CASE(objects_of_others());
	CASE(numbers_come_again());
	CASE(most_objects());
	CASE(memory_of_objects());
	CASE(raw_queues());
	CASE(spread());
	CASE(rules());
	CASE(packet_sockets());
	CASE(impossible_queue_pairs());
	CASE(impossible_values());
	CASE(files_that_shrink());
	CASE(all_ends());
	return cases_status();
}
