// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A UD queue pair and its memory: receive buffers, each with 40 bytes for the received IP
 * header in front of the payload; headers to send; and one padding for all packets.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/path/queue.h"

#define GRH_BYTES   40
#define IPV4_IN_GRH 20 /* IBTA annex A17: RoCEv2 over IPv4 has it there */
#define STRIDE	    ((size_t)GRH_BYTES + UR_PATH_MTU_MAX)
#define HEADERS_AT  (UR_PATH_RECEIVES * STRIDE)
#define FILLER_AT \
	(HEADERS_AT + UR_PATH_BURST_MAX * sizeof(struct ur_path_message))
#define MEMORY	    (FILLER_AT + UR_PATH_MTU_MAX)
#define SEND_MAX_NS 1000000000ull

static int post_receive(struct ur_path_queue *q, uint64_t slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(q->memory + slot * STRIDE),
			      .length = STRIDE,
			      .lkey = q->mr->lkey};
	struct ibv_recv_wr *bad,
		wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return -ibv_post_recv(q->id->qp, &wr, &bad);
}

static int create(struct ur_path_queue *q)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = UR_PATH_BURST_MAX,
			.max_recv_wr = UR_PATH_RECEIVES,
			.max_send_sge = 2,
			.max_recv_sge = 1}};
	struct ibv_context *verbs = q->id->verbs;

	q->pd = ibv_alloc_pd(verbs);
	q->channel = ibv_create_comp_channel(verbs);
	q->memory = aligned_alloc(4096, (MEMORY + 4095) / 4096 * 4096);
	if (!q->pd || !q->channel || !q->memory)
		return -errno;
	memset(q->memory, 0, MEMORY);
	q->mr = ibv_reg_mr(q->pd, q->memory, MEMORY, IBV_ACCESS_LOCAL_WRITE);
	q->sent = ibv_create_cq(verbs, UR_PATH_BURST_MAX, NULL, NULL, 0);
	q->received =
		ibv_create_cq(verbs, UR_PATH_RECEIVES, NULL, q->channel, 0);
	if (!q->mr || !q->sent || !q->received)
		return -errno;
	attr.send_cq = q->sent;
	attr.recv_cq = q->received;
	if (rdma_create_qp(q->id, q->pd, &attr))
		return -errno;
	for (uint64_t slot = 0; slot < UR_PATH_RECEIVES; slot++) {
		int err = post_receive(q, slot);

		if (err)
			return err;
	}
	return 0;
}

int ur_path_queue_open(struct ur_path_queue *q, struct rdma_cm_id *id)
{
	int err;

	*q = (struct ur_path_queue){.id = id, .sends = UR_PATH_BURST_MAX};
	err = create(q);
	if (err)
		ur_path_queue_close(q);
	return err;
}

void ur_path_queue_close(struct ur_path_queue *q)
{
	if (q->id->qp)
		rdma_destroy_qp(q->id);
	if (q->sent)
		ibv_destroy_cq(q->sent);
	if (q->received)
		ibv_destroy_cq(q->received);
	if (q->mr)
		ibv_dereg_mr(q->mr);
	if (q->channel)
		ibv_destroy_comp_channel(q->channel);
	if (q->pd)
		ibv_dealloc_pd(q->pd);
	free(q->memory);
}

uint32_t ur_path_queue_mtu(const struct ur_path_queue *q)
{
	struct ibv_port_attr port;

	if (ibv_query_port(q->id->verbs, q->id->port_num, &port))
		return 0;
	return 128u << port.active_mtu;
}

static int reap(struct ur_path_queue *q)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(q->sent, 16, wc);

	if (n > 0)
		q->completed += (uint32_t)n;
	return n < 0 ? -EIO : 0;
}

int ur_path_queue_send(struct ur_path_queue *q, const struct ur_path_target *to,
		       const struct ur_path_message *message, size_t bytes)
{
	size_t slot = q->posted % q->sends, at = slot * sizeof(*message);
	uint8_t *header = q->memory + HEADERS_AT + at;
	struct ibv_sge sge[2] = {
		{.addr = (uintptr_t)header,
		 .length = sizeof(*message),
		 .lkey = q->mr->lkey},
		{.addr = (uintptr_t)(q->memory + FILLER_AT),
		 .length = (uint32_t)(bytes - sizeof(*message)),
		 .lkey = q->mr->lkey},
	};
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND,
		      .sg_list = sge,
		      .num_sge = bytes > sizeof(*message) ? 2 : 1,
		      .wr.ud = {.ah = to->ah,
				.remote_qpn = to->qpn,
				.remote_qkey = to->qkey}};
	uint64_t end = ur_path_now() + SEND_MAX_NS;
	int err;

	while (q->posted - q->completed >= q->sends) {
		err = reap(q);
		if (err)
			return err;
		if (ur_path_now() > end)
			return -ETIMEDOUT;
		usleep(10);
	}
	memcpy(header, message, sizeof(*message));
	err = ibv_post_send(q->id->qp, &wr, &bad);
	if (err)
		return -err;
	q->posted++;
	return reap(q);
}

static uint16_t header_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)(sum + (sum >> 16));
}

/* Takes traffic class and hop limit from the 40 bytes before the payload: a
 * GRH, of the same form as an IPv6 header, or an IPv4 header behind 20 bytes of
 * anything. */
static void read_area(struct ur_path_queue *q, const uint8_t *area,
		      struct ur_path_arrival *a)
{
	const uint8_t *ip = area + IPV4_IN_GRH;

	if (ip[0] == 0x45 && header_sum(ip) == 0xffff) {
		a->tclass = ip[1];
		a->hops = ip[8];
		q->v1 = false;
		return;
	}
	a->tclass = (uint8_t)(area[0] << 4 | area[1] >> 4);
	a->hops = area[7];
	q->v1 = area[6] == 0x1b; /* IBTA: next header of a GRH before a BTH */
}

/* Returns whether the completion is a valid datagram. */
static bool take(struct ur_path_queue *q, const struct ibv_wc *wc,
		 struct ur_path_received *ret)
{
	const uint8_t *area = q->memory + wc->wr_id * STRIDE;
	size_t bytes = wc->byte_len;

	if (!(wc->wc_flags & IBV_WC_GRH) ||
	    bytes < GRH_BYTES + sizeof(ret->arrival.message))
		return false;
	ret->wc = *wc;
	memcpy(&ret->grh, area, sizeof(ret->grh));
	memcpy(&ret->arrival.message, area + GRH_BYTES,
	       sizeof(ret->arrival.message));
	ret->arrival.bytes = bytes - GRH_BYTES;
	ret->arrival.ns = ur_path_now();
	read_area(q, (const uint8_t *)&ret->grh, &ret->arrival);
	return true;
}

/* Sleeps until a datagram may have arrived. */
static int sleep_until(struct ur_path_queue *q, uint64_t until_ns)
{
	struct pollfd pfd = {.fd = q->channel->fd, .events = POLLIN};
	uint64_t now = ur_path_now();
	struct timespec ts;
	struct ibv_cq *cq;
	void *context;

	if (now >= until_ns)
		return 0;
	ts = (struct timespec){
		.tv_sec = (time_t)((until_ns - now) / 1000000000u),
		.tv_nsec = (long)((until_ns - now) % 1000000000u)};
	if (ppoll(&pfd, 1, &ts, NULL) != 1)
		return 0;
	if (ibv_get_cq_event(q->channel, &cq, &context))
		return -errno;
	ibv_ack_cq_events(cq, 1);
	return 1;
}

int ur_path_queue_receive(struct ur_path_queue *q, uint64_t until_ns,
			  struct ur_path_received *ret)
{
	bool armed = false;
	struct ibv_wc wc;
	int n, err;

	for (;;) {
		n = ibv_poll_cq(q->received, 1, &wc);
		if (n < 0)
			return -EIO;
		if (n && wc.status != IBV_WC_SUCCESS)
			return -EIO;
		if (n) {
			bool ours = take(q, &wc, ret);

			err = post_receive(q, wc.wr_id);
			if (err || ours)
				return err ? err : 1;
			/* Foreign datagrams must not extend the wait. */
			if (ur_path_now() >= until_ns)
				return 0;
			continue;
		}
		if (!armed) {
			if (ibv_req_notify_cq(q->received, 0))
				return -EIO;
			armed = true;
			continue;
		}
		err = sleep_until(q, until_ns);
		if (err <= 0)
			return err;
		armed = false;
	}
}
