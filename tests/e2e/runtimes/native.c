// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Verbs for run times that are not C's: native.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "native.h"
#include "tests/verbs_pair.h"

#define ACCESS                                             \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_WRITE)

struct hello {
	uint32_t qpn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

struct native {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int sock;
	struct hello theirs;
};

static int reach(const char *server, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, peer;

	if (s < 0)
		return -1;
	if (*server)
		return inet_pton(AF_INET, server, &a.sin_addr) == 1 &&
				       !connect(s, (void *)&a, sizeof(a))
			       ? s
			       : -1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 1))
		return -1;
	do
		peer = accept(s, NULL, NULL);
	while (peer < 0 && errno == EINTR);
	close(s);
	return peer;
}

static bool swap(int sock, const void *mine, void *theirs, size_t bytes)
{
	size_t got = 0;

	if (write(sock, mine, bytes) != (ssize_t)bytes)
		return false;
	while (got < bytes) {
		ssize_t n = read(sock, (char *)theirs + got, bytes - got);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		got += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool make_objects(struct native *n, void *buffer, size_t bytes)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		return false;
	n->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!n->context)
		return false;
	n->pd = ibv_alloc_pd(n->context);
	n->channel = ibv_create_comp_channel(n->context);
	if (!n->pd || !n->channel)
		return false;
	n->mr = ibv_reg_mr(n->pd, buffer, bytes, ACCESS);
	n->cq = ibv_create_cq(n->context, 32, NULL, n->channel, 0);
	if (!n->mr || !n->cq)
		return false;
	init.send_cq = init.recv_cq = n->cq;
	n->qp = ibv_create_qp(n->pd, &init);
	return n->qp;
}

static bool connect_pair(struct native *n, int gid_index, const char *gid)
{
	struct hello mine = {.qpn = n->qp->qp_num,
			     .rkey = n->mr->rkey,
			     .addr = (uintptr_t)n->mr->addr};
	struct ibv_qp_attr attr;

	if (inet_pton(AF_INET6, gid, &mine.gid) != 1 ||
	    !swap(n->sock, &mine, &n->theirs, sizeof(mine)))
		return false;
	attr = pair_attr(&n->theirs.gid, n->theirs.qpn);
	attr.ah_attr.grh.sgid_index = (uint8_t)gid_index;
	attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
	return !pair_connect(n->qp, &attr);
}

struct native *native_open(const char *server, int port, int gid_index,
			   const char *gid, void *buffer, size_t bytes)
{
	struct native *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->sock = reach(server, port);
	if (n->sock >= 0 && make_objects(n, buffer, bytes) &&
	    connect_pair(n, gid_index, gid))
		return n;
	fprintf(stderr, "native_open: %s\n", strerror(errno));
	return NULL;
}

static int post(struct native *n, enum ibv_wr_opcode opcode, size_t at,
		size_t remote, size_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)n->mr->addr + at, (uint32_t)bytes,
			      n->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	wr.wr.rdma.remote_addr = n->theirs.addr + remote;
	wr.wr.rdma.rkey = n->theirs.rkey;
	return ibv_post_send(n->qp, &wr, &bad);
}

int native_send(struct native *n, size_t at, size_t bytes)
{
	return post(n, IBV_WR_SEND, at, 0, bytes);
}

int native_write(struct native *n, size_t at, size_t remote, size_t bytes)
{
	return post(n, IBV_WR_RDMA_WRITE, at, remote, bytes);
}

int native_read(struct native *n, size_t at, size_t remote, size_t bytes)
{
	return post(n, IBV_WR_RDMA_READ, at, remote, bytes);
}

int native_receive(struct native *n, size_t at, size_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)n->mr->addr + at, (uint32_t)bytes,
			      n->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(n->qp, &wr, &bad);
}

int native_meet(struct native *n)
{
	char byte = 0, other;

	return swap(n->sock, &byte, &other, 1) ? 0 : -1;
}

int native_take(struct native *n)
{
	struct ibv_wc wc;
	int got = ibv_poll_cq(n->cq, 1, &wc);

	if (got <= 0)
		return got;
	return wc.status ? -(int)wc.status : 1 + (int)wc.opcode;
}

int native_wait(struct native *n)
{
	struct ibv_cq *cq;
	void *context;
	int got = native_take(n);

	while (!got) {
		if (ibv_req_notify_cq(n->cq, 0))
			return -1;
		got = native_take(n);
		if (got)
			break;
		if (!ibv_get_cq_event(n->channel, &cq, &context))
			ibv_ack_cq_events(cq, 1);
		else if (errno != EINTR)
			return -1;
		got = native_take(n);
	}
	return got;
}

int native_close(struct native *n)
{
	int bad = ibv_destroy_qp(n->qp) || ibv_destroy_cq(n->cq) ||
		  ibv_dereg_mr(n->mr) || ibv_destroy_comp_channel(n->channel) ||
		  ibv_dealloc_pd(n->pd) || ibv_close_device(n->context) ||
		  close(n->sock);

	free(n);
	return bad ? -1 : 0;
}
