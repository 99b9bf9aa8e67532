// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of each type that have got so far when uroced is killed, and go on with the next one:
 *
 *	later MODE GID_INDEX GID PORT [SERVER]
 *
 * Prints "made", waits for SIGUSR1, connects them to those of the other program, and sends messages both ways,
 * whose every byte is looked at. MODE "many": only such of RC in INIT, MANY of them; else it says to each uroced,
 * too, that it has queue pairs which it may not have had. MODE "daemon": the server is a daemon by then, whose number
 * it prints. MODE "refused": it becomes one after the signal, and looks what its commands are then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "kernel-abi/uroce-abi.h"
#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define BYTES	 700
#define GRH	 40
#define MESSAGES 20
#define MANY	 400
#define QKEY	 0x1234

struct kind {
	enum ibv_qp_type type;
	bool srq;
};

static const struct kind kinds[] = {{IBV_QPT_RC, false},
				    {IBV_QPT_UC, false},
				    {IBV_QPT_UD, false},
				    {IBV_QPT_RC, true}};
/* One in RTS begins again. */
static const enum ibv_qp_state states[] = {
	IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR};

#define KINDS  (sizeof(kinds) / sizeof(kinds[0]))
#define STATES (sizeof(states) / sizeof(states[0]))

/* in: of the shared receive queue where there is one. */
struct one {
	const struct kind *kind;
	enum ibv_qp_state state;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_qp_attr attr;
	uint32_t theirs;
	uint8_t in[GRH + BYTES], out[BYTES];
};

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct one *ones;
static uint32_t n_ones;

static void make(struct one *o)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = o->kind->type,
	};

	o->cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	must(o->cq, "ibv_create_cq");
	if (o->kind->srq) {
		o->srq = ibv_create_srq(pd, &srq);
		must(o->srq, "ibv_create_srq");
	}
	init.send_cq = init.recv_cq = o->cq;
	init.srq = o->srq;
	o->qp = ibv_create_qp(pd, &init);
	must(o->qp, "ibv_create_qp");
}

static void know(struct one *o, const union ibv_gid *gid)
{
	o->attr = pair_attr(gid, o->theirs);
	o->attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	o->attr.qkey = QKEY;
	o->attr.rq_psn = o->attr.sq_psn = 0xfffffe;
	if (o->kind->type != IBV_QPT_UD)
		return;
	o->ah = ibv_create_ah(pd, &o->attr.ah_attr);
	must(o->ah, "ibv_create_ah");
}

/* The states before it. */
static void move(struct one *o, enum ibv_qp_state from, enum ibv_qp_state to)
{
	for (int s = (int)from + 1; s <= (int)to; s++)
		must(!pair_to(o->qp, &o->attr, (enum ibv_qp_state)s),
		     "ibv_modify_qp");
}

static void move_to_first(struct one *o)
{
	bool err = o->state == IBV_QPS_ERR;

	move(o, IBV_QPS_RESET, err ? IBV_QPS_INIT : o->state);
	if (err)
		must(!pair_to(o->qp, &o->attr, IBV_QPS_ERR), "ERR");
}

/* One of RTS or ERR begins again, and was changed meanwhile by a uroced that has not made them. */
static void move_on(struct one *o)
{
	enum ibv_qp_state from = o->state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr now;

	must(!ibv_query_qp(o->qp, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == o->state,
	     "the state");
	if (from >= IBV_QPS_RTS) {
		must(!pair_to(o->qp, &o->attr, IBV_QPS_RESET), "RESET");
		from = IBV_QPS_RESET;
	}
	must(from >= IBV_QPS_RTR ||
		     pair_to(o->qp, &o->attr, IBV_QPS_SQD) == EINVAL,
	     "no such change");
	move(o, from, IBV_QPS_RTS);
	must(!ibv_query_qp(o->qp, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS &&
		     (o->kind->type == IBV_QPT_UD ||
		      now.dest_qp_num == o->theirs),
	     "what it is now");
}

static void receive(struct one *o)
{
	struct ibv_sge sge = {(uintptr_t)o->in, sizeof(o->in), mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	memset(o->in, 0, sizeof(o->in));
	must(!(o->srq ? ibv_post_srq_recv(o->srq, &wr, &bad)
		      : ibv_post_recv(o->qp, &wr, &bad)),
	     "a receive");
}

static uint8_t byte_of(bool client, uint32_t which, uint32_t n, uint32_t i)
{
	return (uint8_t)(client * 101 + which * 31 + n * 7 + i * 3 + 1);
}

static void send_one(struct one *o, uint32_t n)
{
	struct ibv_sge sge = {(uintptr_t)o->out, BYTES, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (o->ah) {
		wr.wr.ud.ah = o->ah;
		wr.wr.ud.remote_qpn = o->theirs;
		wr.wr.ud.remote_qkey = QKEY;
	}
	for (uint32_t i = 0; i < BYTES; i++)
		o->out[i] = byte_of(peer.client, (uint32_t)(o - ones), n, i);
	must(!ibv_post_send(o->qp, &wr, &bad), "ibv_post_send");
}

/* Both are done, what was sent and what has come. */
static void wait_for_both(struct one *o, uint32_t n)
{
	uint32_t skip = o->ah ? GRH : 0;
	struct ibv_wc wc;
	int left = 2;

	while (left) {
		int got = ibv_poll_cq(o->cq, 1, &wc);

		must(got >= 0, "ibv_poll_cq");
		left -= got;
		must(!got || !wc.status, ibv_wc_status_str(wc.status));
	}
	for (uint32_t i = 0; i < BYTES; i++)
		must(o->in[skip + i] ==
			     byte_of(!peer.client, (uint32_t)(o - ones), n, i),
		     "the bytes");
}

static void exchange(uint32_t n)
{
	for (uint32_t i = 0; i < n_ones; i++)
		receive(&ones[i]);
	rounds_both(&peer);
	for (uint32_t i = 0; i < n_ones; i++) {
		send_one(&ones[i], n);
		wait_for_both(&ones[i], n);
	}
}

static void end(struct one *o)
{
	must(!ibv_destroy_qp(o->qp), "ibv_destroy_qp");
	must(!o->srq || !ibv_destroy_srq(o->srq), "ibv_destroy_srq");
	must(!ibv_destroy_cq(o->cq), "ibv_destroy_cq");
	must(!o->ah || !ibv_destroy_ah(o->ah), "ibv_destroy_ah");
}

static void choose(bool many)
{
	n_ones = many ? MANY : KINDS * STATES;
	ones = calloc(n_ones, sizeof(*ones));
	must(ones, "calloc");
	for (uint32_t i = 0; i < n_ones; i++) {
		ones[i].kind = &kinds[many ? 0 : i % KINDS];
		ones[i].state = many ? IBV_QPS_INIT : states[i / KINDS];
	}
}

static void make_all(void)
{
	union ibv_gid theirs;

	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, ones, n_ones * sizeof(*ones),
			IBV_ACCESS_LOCAL_WRITE);
	must(mr, "ibv_reg_mr");
	rounds_swap(&peer, &peer.gid, &theirs, sizeof(theirs));
	for (uint32_t i = 0; i < n_ones; i++) {
		make(&ones[i]);
		rounds_swap(&peer, &ones[i].qp->qp_num, &ones[i].theirs, 4);
		know(&ones[i], &theirs);
		move_to_first(&ones[i]);
	}
}

/* Says that it has one of that number: 0, with its handle in *handle, or an errno. */
static int claim(uint32_t flags, uint32_t number, uint32_t *handle)
{
	struct ib_uverbs_create_qp_resp resp;
	struct uroce_create_qp_resp drv;
	uint8_t answer[sizeof(resp) + sizeof(drv)];
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp cmd;
		struct uroce_create_qp_req drv;
	} req = {.hdr = {.command = IB_USER_VERBS_CMD_CREATE_QP,
			 .in_words = sizeof(req) / 4,
			 .out_words = sizeof(answer) / 4},
		 .cmd = {.response = (uintptr_t)answer,
			 .pd_handle = pd->handle,
			 .send_cq_handle = ones->cq->handle,
			 .recv_cq_handle = ones->cq->handle,
			 .max_send_wr = 1,
			 .max_send_sge = 1,
			 .qp_type = IBV_QPT_RC},
		 .drv = {flags, number}};

	if (write(context->cmd_fd, &req, sizeof(req)) != sizeof(req))
		return errno;
	memcpy(&resp, answer, sizeof(resp));
	must(resp.qpn == number, "the number");
	*handle = resp.qp_handle;
	return 0;
}

static void give_back(uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp cmd;
	} req = {.hdr = {.command = IB_USER_VERBS_CMD_DESTROY_QP,
			 .in_words = sizeof(req) / 4,
			 .out_words = sizeof(resp) / 4},
		 .cmd = {.response = (uintptr_t)&resp, .qp_handle = handle}};

	must(write(context->cmd_fd, &req, sizeof(req)) == sizeof(req),
	     "its end");
}

static void claim_others(void)
{
	uint32_t number = ones->qp->qp_num, slot = number >> 19, handle;

	for (uint32_t other = 0; other < 32; other++)
		must(other == slot || claim(UROCE_QP_F_AGAIN,
					    other << 19 | (number & 0x7ffff),
					    &handle) == EINVAL,
		     "another slot's");
	must(claim(UROCE_QP_F_AGAIN, 0, &handle) == EINVAL, "none");
	must(claim(UROCE_QP_F_AGAIN, 1, &handle) == EINVAL, "QP1");
	must(claim(UROCE_QP_F_AGAIN, 0xffffff, &handle) == EINVAL,
	     "the number of multicast");
	must(claim(UROCE_QP_F_AGAIN, number | 1u << 24, &handle) == EINVAL,
	     "25 bits");
	must(claim(UROCE_QP_F_AGAIN | 1, number, &handle) == EINVAL,
	     "a flag that is none");
	must(claim(0, number, &handle) == EINVAL, "a number without the flag");
}

static uint32_t gone; /* the number of one that it has had */

static void claim_before(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.send_cq = ones->cq,
		.recv_cq = ones->cq};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	uint32_t handle;

	must(qp, "one that ends");
	gone = qp->qp_num;
	must(!ibv_destroy_qp(qp), "its end");
	claim_others();
	must(claim(UROCE_QP_F_AGAIN, ones->qp->qp_num ^ 1, &handle) == EINVAL,
	     "one of its own before a uroced was killed");
}

static void claim_after(void)
{
	uint32_t handle, never = gone;
	bool used = true;

	while (used) {
		never ^= (never << 1 ^ 1) & 0x7ffff;
		used = never == gone;
		for (uint32_t i = 0; i < n_ones; i++)
			used |= ones[i].qp->qp_num == never;
	}
	claim_others();
	must(claim(UROCE_QP_F_AGAIN, never, &handle) == EINVAL,
	     "one of its slot that it has never had");
	must(claim(UROCE_QP_F_AGAIN, ones->qp->qp_num, &handle) == EEXIST,
	     "one that it has");
	must(!claim(UROCE_QP_F_AGAIN, gone, &handle), "one that it had");
	must(claim(UROCE_QP_F_AGAIN, gone, &handle) == EEXIST, "twice");
	give_back(handle);
	must(!claim(UROCE_QP_F_AGAIN, gone, &handle), "again");
	give_back(handle);
}

static long ms_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000 +
	       (now.tv_nsec - from->tv_nsec) / 1000000;
}

/* One that is made with the next uroced, of a shared receive queue of before. */
static void make_with(const struct one *o)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = o->kind->type,
		.send_cq = o->cq,
		.recv_cq = o->cq,
		.srq = o->srq};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	must(qp, "a queue pair of old things");
	must(!ibv_destroy_qp(qp), "its end");
}

static void connect_all(void)
{
	struct timespec from;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (uint32_t i = 0; i < n_ones; i++)
		move_on(&ones[i]);
	make_with(&ones[n_ones - 1]);
	printf("connected in %ld ms\n", ms_since(&from));
}

/* It has its parent's engine from its first verb on. */
static void become_daemon(void)
{
	struct ibv_wc wc;

	fflush(stdout);
	must(!daemon(1, 1), "daemon");
	printf("daemon %d\n", (int)getpid());
	must(!ibv_poll_cq(ones->cq, 1, &wc), "ibv_poll_cq");
}

/* The uroced that is there has never seen its parent. Each command could wait for another one. */
static void look_at_refusals(void)
{
	become_daemon();
	for (int i = 0; i < 4; i++)
		must(!ibv_alloc_pd(context) && errno == EIO, "EIO");
	printf("refused\n");
	exit(0);
}

int main(int argc, char **argv)
{
	rounds_will_wait();
	rounds_begin(&peer, argc, argv);
	context = rounds_open();
	choose(!strcmp(argv[1], "many"));
	make_all();
	claim_before();
	if (!peer.client && !strcmp(argv[1], "daemon"))
		become_daemon();
	rounds_wait(n_ones);
	if (!peer.client && !strcmp(argv[1], "refused"))
		look_at_refusals();
	connect_all();
	/* Its uroced is another one now, and stays. */
	if (!peer.client && n_ones != MANY)
		claim_after();
	for (uint32_t n = 0; n < MESSAGES; n++)
		exchange(n);
	rounds_both(&peer);
	for (uint32_t i = 0; i < n_ones; i++)
		end(&ones[i]);
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	must(!ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	printf("done 0\n");
	return 0;
}
