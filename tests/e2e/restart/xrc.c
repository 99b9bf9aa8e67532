// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC in a domain of each of two programs, with uroced killed under it:
 *
 *	xrc MODE GID_INDEX GID PORT [SERVER]
 *
 * MODE "later": prints "made" and waits for SIGUSR1 before the queue pairs are connected. Else they send until the
 * client gets that signal, and say how many rounds there were; "more": each batch of rounds asks uroced for something
 * and makes something. Every byte is looked at. At the end all is asked, changed and destroyed.
 *
 * In the environment: XRC_FILE, a file whose domain they have instead, together if they are on one host; then XRC_CROSS,
 * each sends to the target of the other, and to its own queue there, until both get the signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define BYTES 700u
#define DEPTH 8u
#define BATCH 100u
#define LATER 200u

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_xrcd *domain;
static struct ibv_srq *srq;
static struct ibv_qp *target, *from;
static struct ibv_mr *mr;
static uint8_t (*in)[BYTES], *out;
static uint32_t sent, received, theirs; /* of the queue that it sends to */
static uint32_t through; /* the target that the messages come by */
static bool cross;
static volatile sig_atomic_t ends;
static bool last, done;

static void on_usr1(int sig)
{
	ends = 1;
}

/* Of XRC_FILE, with that behind it. */
static int open_file(const char *more)
{
	const char *file = getenv("XRC_FILE");
	char path[256];
	int fd;

	if (!file)
		return -1;
	snprintf(path, sizeof(path), "%s%s", file, more);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd >= 0, path);
	return fd;
}

static struct ibv_xrcd *open_domain(const char *more)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = open_file(more),
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *made = ibv_open_xrcd(context, &attr);

	must(made, "ibv_open_xrcd");
	if (attr.fd >= 0)
		close(attr.fd);
	return made;
}

static struct ibv_srq *make_srq(struct ibv_xrcd *within)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = DEPTH, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = within,
		.cq = cq,
		.pd = pd,
	};
	struct ibv_srq *made = ibv_create_srq_ex(context, &attr);

	must(made, "ibv_create_srq_ex");
	return made;
}

static struct ibv_qp *make_target(struct ibv_xrcd *within)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = within,
	};
	struct ibv_qp *made = ibv_create_qp_ex(context, &attr);

	must(made, "the target");
	return made;
}

static struct ibv_qp *open_target(void)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
		.qp_num = target->qp_num,
		.xrcd = domain,
	};
	struct ibv_qp *opened = ibv_open_qp(context, &attr);

	must(opened && opened->qp_num == target->qp_num, "ibv_open_qp");
	return opened;
}

static void post_receive(uint32_t i)
{
	struct ibv_sge sge = {(uintptr_t)in[i], BYTES, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1},
			   *bad;

	must(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

static void make(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
		.qp_type = IBV_QPT_XRC_SEND,
		.sq_sig_all = 1};

	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0);
	in = calloc(DEPTH + 1, BYTES);
	must(pd && cq && in, "what it needs");
	out = in[DEPTH];
	mr = ibv_reg_mr(pd, in, (DEPTH + 1) * BYTES, IBV_ACCESS_LOCAL_WRITE);
	must(mr, "ibv_reg_mr");
	domain = open_domain("");
	srq = make_srq(domain);
	target = make_target(domain);
	init.send_cq = init.recv_cq = cq;
	from = ibv_create_qp(pd, &init);
	must(from, "ibv_create_qp");
	for (uint32_t i = 0; i < DEPTH; i++)
		post_receive(i);
}

struct hello {
	uint32_t target, from, srqn;
	union ibv_gid gid;
};

static struct hello greet(void)
{
	struct hello mine = {target->qp_num, from->qp_num, 0, peer.gid}, got;

	must(!ibv_get_srq_num(srq, &mine.srqn), "ibv_get_srq_num");
	rounds_swap(&peer, &mine, &got, sizeof(mine));
	theirs = cross ? mine.srqn : got.srqn;
	through = cross ? got.target : target->qp_num;
	return got;
}

static void connect_both(const struct hello *got)
{
	struct ibv_qp_attr attr = pair_attr(&got->gid, got->target);

	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	if (getenv("QP_TIMEOUT"))
		attr.timeout = (uint8_t)atoi(getenv("QP_TIMEOUT"));
	must(!pair_connect(from, &attr), "RTS");
	attr.dest_qp_num = got->from;
	must(!pair_connect(target, &attr), "RTS of the target");
	rounds_both(&peer);
}

static uint8_t byte_of(uint32_t n, uint32_t i)
{
	return (uint8_t)(n * 31 + i * 7);
}

/* The first byte says whether it is the last message. */
static void post(void)
{
	struct ibv_sge sge = {(uintptr_t)out, BYTES, mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .qp_type.xrc.remote_srqn = theirs};

	for (uint32_t i = 1; i < BYTES; i++)
		out[i] = byte_of(sent, i);
	out[0] = done = last;
	must(!ibv_post_send(from, &wr, &bad), "ibv_post_send");
}

static void take(const struct ibv_wc *wc)
{
	uint8_t *got = in[wc->wr_id];

	if (!(wc->opcode & IBV_WC_RECV)) {
		sent++;
		return;
	}
	must(wc->byte_len == BYTES && wc->qp_num == through, "the message");
	for (uint32_t i = 1; i < BYTES; i++)
		must(got[i] == byte_of(received, i), "the bytes");
	last |= got[0];
	received++;
	memset(got, 0xee, BYTES);
	post_receive((uint32_t)wc->wr_id);
}

static void until(uint32_t to_send, uint32_t to_receive)
{
	struct ibv_wc wc;
	int n;

	while (sent < to_send || received < to_receive) {
		n = ibv_poll_cq(cq, 1, &wc);
		must(n >= 0 && (!n || !wc.status),
		     n > 0 ? ibv_wc_status_str(wc.status) : "ibv_poll_cq");
		if (n)
			take(&wc);
	}
}

/* The next message may come before the acknowledgement of the last one does. */
static void one_round(void)
{
	static uint32_t rounds;

	rounds++;
	if (!peer.client && !cross)
		until(sent, rounds);
	post();
	until(sent + 1, rounds);
}

/* With whichever uroced there is. */
static void ask(void)
{
	struct ibv_srq_attr limit = {.srq_limit = 1};
	struct ibv_qp *opened = open_target(), *made;
	struct ibv_qp_init_attr init;
	struct ibv_xrcd *other;
	struct ibv_qp_attr now;
	struct ibv_srq *more;
	uint32_t a, b;

	must(!ibv_query_qp(target, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS,
	     "the target's state");
	must(!ibv_query_qp(opened, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS,
	     "the state of the other handle");
	must(!ibv_query_qp(from, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS,
	     "the state");
	now.min_rnr_timer = 5;
	must(!ibv_modify_qp(opened, &now, IBV_QP_MIN_RNR_TIMER),
	     "a change by it");
	must(!ibv_destroy_qp(opened), "its end");
	must(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "the limit");
	limit.srq_limit = 0;
	must(!ibv_query_srq(srq, &limit) && limit.srq_limit == 1,
	     "ibv_query_srq");
	limit.srq_limit = 0;
	must(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "no limit");
	/* New ones of the old domain, and of another. */
	made = make_target(domain);
	more = make_srq(domain);
	must(!ibv_get_srq_num(srq, &a) && !ibv_get_srq_num(more, &b) && a != b,
	     "the numbers");
	must(!ibv_destroy_qp(made) && !ibv_destroy_srq(more), "their ends");
	other = open_domain(peer.client ? ".client" : ".server");
	made = make_target(other);
	must(!ibv_destroy_qp(made) && !ibv_close_xrcd(other), "a domain");
}

static void end(void)
{
	must(!ibv_destroy_qp(from), "ibv_destroy_qp");
	must(!ibv_destroy_qp(target), "the target's end");
	must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	must(!ibv_close_xrcd(domain), "ibv_close_xrcd");
	must(!ibv_destroy_cq(cq) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) &&
		     !ibv_close_device(context),
	     "the end of the rest");
}

static void run(bool more)
{
	while (!done) {
		for (uint32_t i = 0; i < BATCH && !done; i++) {
			if ((peer.client || cross) && ends)
				last = true;
			one_round();
		}
		if (more)
			ask();
		printf("rounds %u\n", received);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	bool later = argc > 1 && !strcmp(argv[1], "later");
	bool more = argc > 1 && !strcmp(argv[1], "more");
	struct hello got;

	if (later)
		rounds_will_wait();
	else
		signal(SIGUSR1, on_usr1);
	cross = getenv("XRC_CROSS");
	rounds_begin(&peer, argc, argv);
	context = rounds_open();
	make();
	got = greet();
	if (later)
		rounds_wait(1);
	must(ibv_close_xrcd(domain) == EBUSY, "a domain with a queue");
	connect_both(&got);
	if (later)
		for (uint32_t i = 0; i < LATER; i++)
			one_round();
	else
		run(more);
	ask();
	rounds_both(&peer);
	end();
	printf("done 0\n");
	return 0;
}
