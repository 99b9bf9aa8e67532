// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The connection, and the messages: rounds.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rounds.h"
#include "tests/verbs_pair.h"

void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

struct ibv_context *rounds_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	must(list && list[0], "a device");
	context = ibv_open_device(list[0]);
	must(context, "ibv_open_device");
	ibv_free_device_list(list);
	return context;
}

void rounds_meet(struct rounds_peer *peer, const char *server, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	must(s >= 0, "socket");
	peer->client = server != NULL;
	if (server) {
		must(inet_pton(AF_INET, server, &a.sin_addr) == 1, "address");
		must(!connect(s, (void *)&a, sizeof(a)), "connect");
		peer->sock = s;
		return;
	}
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	must(!bind(s, (void *)&a, sizeof(a)) && !listen(s, 1), "listen");
	peer->sock = accept(s, NULL, NULL);
	must(peer->sock >= 0, "accept");
	close(s);
}

void rounds_begin(struct rounds_peer *peer, int argc, char **argv)
{
	must(argc >= 5, "arguments");
	peer->gid_index = atoi(argv[2]);
	must(inet_pton(AF_INET6, argv[3], &peer->gid) == 1, "GID");
	rounds_meet(peer, argc > 5 ? argv[5] : NULL, atoi(argv[4]));
}

void rounds_swap(const struct rounds_peer *peer, const void *mine, void *theirs,
		 size_t bytes)
{
	must(write(peer->sock, mine, bytes) == (ssize_t)bytes, "write");
	must(recv(peer->sock, theirs, bytes, MSG_WAITALL) == (ssize_t)bytes,
	     "read");
}

void rounds_both(const struct rounds_peer *peer)
{
	char mine = 'x', theirs;

	rounds_swap(peer, &mine, &theirs, 1);
}

static sigset_t just_usr1(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return set;
}

void rounds_will_wait(void)
{
	sigset_t set = just_usr1();

	must(!sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
}

void rounds_wait(uint32_t made)
{
	sigset_t set = just_usr1();
	int got;

	printf("made %u\n", made);
	fflush(stdout);
	must(!sigwait(&set, &got), "sigwait");
}

struct hello {
	uint32_t qpn;
	union ibv_gid gid;
};

static void post_receive(struct rounds *r)
{
	struct ibv_sge sge = {(uintptr_t)r->in, ROUND_BYTES, r->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	must(!ibv_post_recv(r->qp, &wr, &bad), "ibv_post_recv");
}

int rounds_post(struct rounds *r)
{
	struct ibv_sge sge = {(uintptr_t)r->out, ROUND_BYTES, r->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	for (uint32_t i = 0; i < ROUND_BYTES; i++)
		r->out[i] = (uint8_t)(r->salt + r->sent * 31 + i * 7);
	return ibv_post_send(r->qp, &wr, &bad);
}

void rounds_connect(struct rounds *r, struct ibv_context *context,
		    const struct rounds_peer *peer, bool sleeps)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr;
	struct hello mine, theirs;

	*r = (struct rounds){.context = context, .client = peer->client};
	r->pd = ibv_alloc_pd(context);
	must(r->pd, "ibv_alloc_pd");
	if (sleeps) {
		r->channel = ibv_create_comp_channel(context);
		must(r->channel, "ibv_create_comp_channel");
	}
	r->cq = ibv_create_cq(context, 16, NULL, r->channel, 0);
	must(r->cq, "ibv_create_cq");
	r->in = calloc(2, ROUND_BYTES);
	must(r->in, "calloc");
	r->out = r->in + ROUND_BYTES;
	r->mr = ibv_reg_mr(r->pd, r->in, 2 * ROUND_BYTES,
			   IBV_ACCESS_LOCAL_WRITE);
	must(r->mr, "ibv_reg_mr");
	init.send_cq = init.recv_cq = r->cq;
	r->qp = ibv_create_qp(r->pd, &init);
	must(r->qp, "ibv_create_qp");
	mine.qpn = r->qp->qp_num;
	mine.gid = peer->gid;
	rounds_swap(peer, &mine, &theirs, sizeof(mine));
	attr = pair_attr(&theirs.gid, theirs.qpn);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer->gid_index;
	if (getenv("QP_TIMEOUT"))
		attr.timeout = (uint8_t)atoi(getenv("QP_TIMEOUT"));
	must(!pair_to(r->qp, &attr, IBV_QPS_INIT), "INIT");
	post_receive(r);
	must(!pair_to(r->qp, &attr, IBV_QPS_RTR), "RTR");
	must(!pair_to(r->qp, &attr, IBV_QPS_RTS), "RTS");
	rounds_swap(peer, &mine, &theirs, sizeof(mine)); /* both are ready */
}

int rounds_sleep(struct rounds *r)
{
	struct ibv_cq *cq;
	void *context;

	errno = 0; /* stays, where the file has ended */
	if (ibv_get_cq_event(r->channel, &cq, &context))
		return errno == EINTR ? 0 : errno ? -errno : -ENODATA;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static void take(struct rounds *r, const struct ibv_wc *wc)
{
	uint32_t peers = r->salt + r->received * 31;

	if (wc->opcode == IBV_WC_SEND) {
		r->sent++;
		return;
	}
	must(wc->byte_len == ROUND_BYTES, "the length");
	for (uint32_t i = 0; i < ROUND_BYTES; i++)
		must(r->in[i] == (uint8_t)(peers + i * 7), "the bytes");
	r->received++;
	memset(r->in, 0, ROUND_BYTES);
	post_receive(r);
}

/* Takes completions until so many were sent and received. */
static int wait_for(struct rounds *r, uint32_t sent, uint32_t received)
{
	bool armed = false;
	struct ibv_wc wc;
	int n;

	while (r->sent < sent || r->received < received) {
		n = ibv_poll_cq(r->cq, 1, &wc);
		if (n < 0)
			return n;
		if (n && wc.status != IBV_WC_SUCCESS)
			return (int)wc.status;
		if (n) {
			take(r, &wc);
		} else if (r->channel && !armed) {
			must(!ibv_req_notify_cq(r->cq, 0), "ibv_req_notify_cq");
			armed = true;
		} else if (r->channel) {
			n = rounds_sleep(r);
			if (n)
				return n;
			armed = false;
		}
	}
	return 0;
}

int rounds_send(struct rounds *r)
{
	int err = rounds_post(r);

	return err ? err : wait_for(r, r->sent + 1, 0);
}

int rounds_run(struct rounds *r, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		/* The next message may come before the acknowledgement of the last one does. */
		r->rounds++;
		if (!r->client)
			err = wait_for(r, r->sent, r->rounds);
		if (!err)
			err = rounds_post(r);
		if (!err)
			err = wait_for(r, r->sent + 1, r->rounds);
	}
	return err;
}

void rounds_end(struct rounds *r)
{
	must(!ibv_destroy_qp(r->qp), "ibv_destroy_qp");
	must(!ibv_destroy_cq(r->cq), "ibv_destroy_cq");
	must(!ibv_dereg_mr(r->mr), "ibv_dereg_mr");
	if (r->channel)
		must(!ibv_destroy_comp_channel(r->channel),
		     "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(r->pd), "ibv_dealloc_pd");
	free(r->in);
}
