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

static struct uroce_emr_init last_mr;
static u64 more_room;
static u32 drained;

static int make(struct uroce_call *c)
{
	made++;
	c->it = object;
	return 0;
}

static int make_qp(struct uroce_call *c)
{
	const struct uroce_eqp_init *init = &c->msg.qp.init;

	made_pdn = init->pdn;
	if (init->rss)
		CHECK(init->rss->size == 2 &&
		      init->rss->wq[1] == (void *)object);
	last_rss = init->rss;
	return make(c);
}

/* What is asked of the engine. */
static int do_call(struct uroce_ectx *ctx, struct uroce_call *c)
{
	c->out[0] = c->out[1] = -1;
	switch (c->msg.op) {
	case UROCE_CALL_CREATE_QP:
		return make_qp(c);
	case UROCE_CALL_CREATE_FLOW:
		/* The rule has counted something at once. */
		*c->counts = (struct uroce_eflow_counts){3, 300};
		return make(c);
	case UROCE_CALL_REG_MR:
		last_mr = c->msg.mr.init;
		return make(c);
	case UROCE_CALL_CREATE_CQ:
	case UROCE_CALL_OPEN_QP:
	case UROCE_CALL_USE_RAW:
		return make(c);
	case UROCE_CALL_DESTROY_QP:
		/* A queue pair that is in a group is not destroyed. */
		CHECK(detached == 1);
		destroyed++;
		return 0;
	case UROCE_CALL_DESTROY_CQ:
	case UROCE_CALL_DEREG_MR:
	case UROCE_CALL_DESTROY_FLOW:
		destroyed++;
		return 0;
	case UROCE_CALL_REREG_MR:
		CHECK_EQ(c->msg.mr.flags, 7);
		last_mr = c->msg.mr.init;
		return 0;
	case UROCE_CALL_MCAST:
		detached += !c->msg.gid.index;
		return 0;
	case UROCE_CALL_MODIFY_WQ:
		state_of_wq = c->msg.value;
		return 0;
	case UROCE_CALL_DRAIN:
		drained++;
		return 0;
	case UROCE_CALL_HAS_RAW:
		return 1;
	default:
		CHECK(!"a call that no test makes");
		return -EINVAL;
	}
}

static __u64 room(struct uroce_ectx *ctx)
{
	return more_room;
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
	.call = do_call,
	.room = room,
};

static struct ur_apart_client client = {
	.ops = &ops, .slot = SLOT, .max_kib = UINT32_MAX};

static struct uroce_call_msg reply;

static int call_with(const struct ur_apart_call *asked, const int *fds)
{
	struct ur_apart_call c = *asked;

	memcpy(c.call.fds, fds, sizeof(c.call.fds));
	ur_apart_call(&client, &c);
	reply = c.call.reply;
	CHECK_EQ(reply.op, asked->call.msg.op);
	return reply.ret;
}

static int call(struct uroce_call_msg *msg)
{
	int fds[UROCE_CALL_FDS] = {-1, -1, -1}, ret;
	struct ur_apart_call asked = {.call.msg = *msg};

	ret = call_with(&asked, fds);
	msg->number = reply.number;
	return ret;
}

static u32 new_cq(void)
{
	struct uroce_call_msg msg = {.op = UROCE_CALL_CREATE_CQ,
				     .cq.entries = 8};

	CHECK_EQ(call(&msg), 0);
	return msg.number;
}

static struct uroce_call_msg qp_of(u32 cq)
{
	return (struct uroce_call_msg){
		.op = UROCE_CALL_CREATE_QP,
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
	struct uroce_call_msg msg = qp_of(new_cq());
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

static struct uroce_call_msg region_of(u32 key, u64 addr)
{
	return (struct uroce_call_msg){
		.op = UROCE_CALL_REG_MR,
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
	struct uroce_call_msg msg;

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
	msg = (struct uroce_call_msg){.op = UROCE_CALL_CLAIMED};
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 2);
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 2);
	msg = (struct uroce_call_msg){.op = UROCE_CALL_DEREG_MR,
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
	struct uroce_call_msg msg;

	CHECK_EQ(write(file, &listed, sizeof(listed)), sizeof(listed));
	ur_apart_register_listed(&client, file, 1);
	close(file);
	for (u32 i = 1; i <= client.n_objects; i++) {
		msg = region_of(7, 4096);
		msg.op = UROCE_CALL_REREG_MR;
		msg.number = i;
		CHECK_EQ(call(&msg), -EINVAL);
		msg.op = UROCE_CALL_DEREG_MR;
		msg.number = i;
		CHECK_EQ(call(&msg), -EINVAL);
	}
	msg = region_of(1, 8192);
	CHECK_EQ(call(&msg), 0);
	msg.op = UROCE_CALL_DEREG_MR;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroyed, ended + 1);
}

/* What stands in a message for a pointer of the program's is followed by nobody. */
static void pointers(void)
{
	struct uroce_call_msg msg;
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
	msg = (struct uroce_call_msg){
		.op = UROCE_CALL_CREATE_SRQ,
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
	for (u32 op = UROCE_CALL_OPS; op; op *= 2) {
		struct uroce_call_msg msg = {.op = op};

		CHECK_EQ(call(&msg), -EOPNOTSUPP);
	}
	CHECK_EQ(call(&(struct uroce_call_msg){0}), -EOPNOTSUPP);
}

static void last_requests(void)
{
	struct uroce_call_msg msg = {.op = UROCE_CALL_DRAIN};

	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(drained, 1);
}

/* A number is of an object of that kind, or of none. */
static void objects_of_others(void)
{
	u32 cq = new_cq();

	for (u32 op = UROCE_CALL_MODIFY_CQ; op < UROCE_CALL_OPS; op++) {
		struct uroce_call_msg msg = {.op = op, .number = cq};

		if (op <= UROCE_CALL_DESTROY_CQ)
			msg.number = cq + 1;
		if (op == UROCE_CALL_CREATE_QP || op == UROCE_CALL_CREATE_AH ||
		    op == UROCE_CALL_REG_MR || op == UROCE_CALL_CLAIMED ||
		    op == UROCE_CALL_HAS_RAW || op == UROCE_CALL_DRAIN)
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
	struct ur_apart_call create = {.call.msg = {.op = UROCE_CALL_CREATE_CQ,
						    .cq.entries = 8}},
			     end = {.call.msg = {.op = UROCE_CALL_DESTROY_CQ,
						 .number = 5}};

	most.objects = calloc(UR_APART_OBJECTS, sizeof(*most.objects));
	CHECK(most.objects);
	most.room = most.n_objects = UR_APART_OBJECTS;
	most.kib = UR_KIB_CQ;
	most.free = 0;
	most.objects[4] =
		(struct ur_apart_object){.kind = UR_APART_CQ, .it = object};
	ur_apart_call(&most, &create);
	CHECK_EQ(create.call.reply.ret, -ENOMEM);
	ur_apart_call(&most, &end);
	CHECK_EQ(end.call.reply.ret, 0);
	ur_apart_call(&most, &create);
	CHECK_EQ(create.call.reply.ret, 0);
	CHECK_EQ(create.call.reply.number, 5);
	free(most.objects);
}

static struct uroce_call_msg raw_of(u32 send, u32 recv)
{
	return (struct uroce_call_msg){
		.op = UROCE_CALL_CREATE_QP,
		.qp = {.init = {.type = IB_UVERBS_QPT_RAW_PACKET, .qpn = QPN},
		       .send_cq = send,
		       .recv_cq = recv}};
}

static u32 destroy_of(u32 number, u32 op)
{
	struct uroce_call_msg msg = {.op = op, .number = number};

	return (u32)call(&msg);
}

/* A queue without completion queue would complete into nothing. */
static void raw_queues(void)
{
	u32 cq = new_cq(), before = made;
	struct uroce_call_msg msg = raw_of(cq, cq), bad;

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
	CHECK_EQ(destroy_of(msg.number, UROCE_CALL_MODIFY_WQ), (u32)-EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(msg.number, UROCE_CALL_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(cq, UROCE_CALL_DESTROY_CQ), 0);
}

/* A queue pair spreads frames over work queues alone, as many as come with the message. */
static void spread(void)
{
	int fds[UROCE_CALL_FDS] = {-1, -1, -1};
	struct ur_apart_call asked = {.n_wqs = 2};
	u32 cq = new_cq(), spreads;
	struct uroce_call_msg wq = raw_of(0, cq), state;

	wq.qp.init.wq = 1;
	CHECK_EQ(call(&wq), 0);
	state = (struct uroce_call_msg){
		.op = UROCE_CALL_MODIFY_WQ, .number = wq.number, .value = 1};
	CHECK_EQ(call(&state), 0);
	CHECK_EQ(state_of_wq, 1);
	state.number = wq.number;
	state.value = 3;
	CHECK_EQ(call(&state), -EINVAL);
	asked.call.msg = raw_of(0, 0);
	asked.call.msg.qp.n_wqs = 2;
	asked.wq[0] = asked.wq[1] = wq.number;
	CHECK_EQ(call_with(&asked, fds), 0);
	CHECK(last_rss);
	spreads = reply.number;
	asked.wq[1] = spreads;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.wq[1] = UINT32_MAX;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.wq[1] = wq.number;
	asked.n_wqs = 1;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.n_wqs = asked.call.msg.qp.n_wqs = 3;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.n_wqs = asked.call.msg.qp.n_wqs = 2;
	asked.call.msg.qp.init.max_recv_wr = 1;
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	asked.call.msg = (struct uroce_call_msg){.op = UROCE_CALL_MODIFY_WQ,
						 .number = wq.number};
	CHECK_EQ(call_with(&asked, fds), -EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(spreads, UROCE_CALL_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(wq.number, UROCE_CALL_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(cq, UROCE_CALL_DESTROY_CQ), 0);
}

/* A rule is of a raw packet queue pair, and tells what it has counted until its end. */
static void rules(void)
{
	u32 cq = new_cq(), kib = client.kib;
	struct uroce_call_msg raw = raw_of(cq, cq), plain = qp_of(cq), msg;

	CHECK_EQ(call(&raw), 0);
	CHECK_EQ(call(&plain), 0);
	msg = (struct uroce_call_msg){.op = UROCE_CALL_CREATE_FLOW,
				      .number = plain.number};
	CHECK_EQ(call(&msg), -EINVAL);
	msg.number = raw.number;
	msg.flow.type = 4;
	CHECK_EQ(call(&msg), -EINVAL);
	msg.number = raw.number;
	msg.flow.type = 3;
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(destroy_of(msg.number, UROCE_CALL_READ_FLOW), 0);
	CHECK(reply.counts.packets == 3 && reply.counts.bytes == 300);
	CHECK_EQ(destroy_of(msg.number, UROCE_CALL_DESTROY_FLOW), 0);
	CHECK_EQ(reply.counts.packets, 3);
	CHECK_EQ(destroy_of(msg.number, UROCE_CALL_DESTROY_FLOW), (u32)-EINVAL);
	detached = 1;
	CHECK_EQ(destroy_of(raw.number, UROCE_CALL_DESTROY_QP), 0);
	CHECK_EQ(destroy_of(plain.number, UROCE_CALL_DESTROY_QP), 0);
	CHECK_EQ(client.kib, kib);
	CHECK_EQ(destroy_of(cq, UROCE_CALL_DESTROY_CQ), 0);
}

/* Only packet sockets are borrowed: of another kind the engine would read for ever. */
static void packet_sockets(void)
{
	struct ur_apart_call asked = {.call.msg.op = UROCE_CALL_USE_RAW};
	int fds[UROCE_CALL_FDS] = {-1, -1, -1}, pair[2];
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
		struct uroce_call_msg msg = {.op = UROCE_CALL_DESTROY_CQ,
					     .number = cq};

		CHECK_EQ(call(&msg), 0);
		msg.op = UROCE_CALL_DESTROY_CQ;
		msg.number = cq;
		CHECK_EQ(call(&msg), -EINVAL);
		CHECK_EQ(new_cq(), cq);
	}
}

/* Memory is had by whoever destroys, or leaves a group, and by nobody else. */
static void memory_of_objects(void)
{
	u32 before = client.kib, cq = new_cq();
	struct uroce_call_msg msg = qp_of(cq),
			      join = {.op = UROCE_CALL_MCAST, .gid.index = 1};

	client.max_kib = client.kib + UR_KIB_QP + 1;
	CHECK_EQ(call(&msg), 0);
	join.number = msg.number;
	CHECK_EQ(call(&join), 0);
	/* Another group, and the same one again, which it does not leave by that. */
	join = (struct uroce_call_msg){.op = UROCE_CALL_MCAST,
				       .number = msg.number,
				       .gid.gid = {0xff},
				       .gid.index = 1};
	CHECK_EQ(call(&join), -EDQUOT);
	CHECK_EQ(detached, 1);
	join = (struct uroce_call_msg){
		.op = UROCE_CALL_MCAST, .number = msg.number, .gid.index = 1};
	CHECK_EQ(call(&join), 0);
	CHECK_EQ(detached, 1);
	join = (struct uroce_call_msg){.op = UROCE_CALL_CREATE_CQ,
				       .cq.entries = 8};
	CHECK_EQ(call(&join), -EDQUOT);
	join = (struct uroce_call_msg){
		.op = UROCE_CALL_OPEN_QP,
		.qp.init = {
			.type = IB_UVERBS_QPT_XRC_TGT, .qpn = QPN, .xrcdn = 1}};
	CHECK_EQ(call(&join), -EDQUOT);
	/* uroced has added to it. */
	more_room = UR_KIB_CQ << 10;
	join = (struct uroce_call_msg){.op = UROCE_CALL_CREATE_CQ,
				       .cq.entries = 8};
	CHECK_EQ(call(&join), 0);
	join.op = UROCE_CALL_DESTROY_CQ;
	CHECK_EQ(call(&join), 0);
	more_room = 0;
	msg.op = UROCE_CALL_DESTROY_QP;
	detached = 1;
	CHECK_EQ(call(&msg), 0);
	msg = (struct uroce_call_msg){.op = UROCE_CALL_DESTROY_CQ,
				      .number = cq};
	CHECK_EQ(call(&msg), 0);
	CHECK_EQ(client.kib, before);
	client.max_kib = UINT32_MAX;
}

static void impossible_queue_pairs(void)
{
	u32 cq = new_cq();
	struct uroce_call_msg good = qp_of(cq), msg = good;

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
	struct uroce_call_modify m = {.attr.path_mtu = 1024, .mask = 1u << 8};
	struct uroce_emr_init mr = {.addr = 4096, .length = 4096};

	CHECK(ur_apart_modify_is_good(&m));
	m.attr.path_mtu = 1000;
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_call_modify){.mask = 1u << 31};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_call_modify){.attr.state = 7};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_call_modify){.attr.dest_qpn = 1u << 24};
	CHECK(!ur_apart_modify_is_good(&m));
	m = (struct uroce_call_modify){.attr.rnr_retry = 8};
	CHECK(!ur_apart_modify_is_good(&m));
	CHECK(ur_apart_mr_is_good(&mr));
	mr.length = UINT64_MAX;
	CHECK(!ur_apart_mr_is_good(&mr));
	mr = (struct uroce_emr_init){.flags = 1u << 7};
	CHECK(!ur_apart_mr_is_good(&mr));
	mr = (struct uroce_emr_init){.access = UINT32_MAX};
	CHECK(!ur_apart_mr_is_good(&mr));
	CHECK(!ur_apart_cq_is_good(&(struct uroce_call_cq){0}));
	CHECK(!ur_apart_cq_is_good(
		&(struct uroce_call_cq){.entries = 1u << 31}));
	CHECK(!ur_apart_srq_is_good(
		&(struct uroce_esrq_init){.max_wr = 1u << 31}, false));
	CHECK(!ur_apart_srq_is_good(
		&(struct uroce_esrq_init){.max_wr = 1, .xrcdn = 1}, true));
}

/* Nothing is mapped that its owner can make shorter. */
static void files_that_shrink(void)
{
	struct ur_apart_call asked = {
		.call.msg = {.op = UROCE_CALL_USE_RING, .ring.slot = 4}};
	int fds[UROCE_CALL_FDS];

	for (u32 i = 0; i < UROCE_CALL_FDS; i++)
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
	struct uroce_call_msg msg = qp_of(new_cq());
	u32 qp;

	CHECK_EQ(call(&msg), 0);
	qp = msg.number;
	for (u32 i = 0; i < 2; i++) {
		msg = (struct uroce_call_msg){.op = UROCE_CALL_MCAST,
					      .number = qp,
					      .gid.gid = {0xff, (u8)i},
					      .gid.index = 1};
		CHECK_EQ(call(&msg), 0);
	}
	msg.op = UROCE_CALL_MCAST;
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
