// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reliable half of uroce ping: an RC connection by rdma_cm, like any
 * program's, and RDMA WRITEs on it. A WRITE without data needs no buffer, no key and
 * no receive of the peer: the device of any rdma_cm service acknowledges it. A WRITE of a
 * full packet has an invalid key. The reply "remote access error" shows that the packet
 * has crossed. It breaks the connection, so this WRITE is the last.
 *
 *   uroce-rcping connect ADDRESS PORT COUNT
 *   uroce-rcping listen PORT
 *
 * It prints what happens line by line on standard output; rcping.h has the
 * words. A program of its own, because it links librdmacm; it runs on any RDMA
 * device, with `uroce run` on ours.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rcping/rcping.h"
#include "util/os/clock.h"
#include "util/os/standard_fds.h"

#define STEP_MS	    2000
#define ACK_TIMEOUT 14 /* 4.096 us * 2^14 = 67 ms */
#define RETRIES	    4
#define LIMIT_S	    10
#define BACKLOG	    16

/* Memory that no one has registered. */
#define NOWHERE (UINT64_MAX - (1 << 20) + 1)
#define NO_KEY	0x5ca1ab1e

static int fail(const char *word, const char *detail)
{
	printf("%s %s\n", word, detail);
	return 1;
}

/* Waits for the event. Returns NULL, or the name of the error or of the event that came
 * instead. */
static const char *expect(struct rdma_event_channel *channel,
			  enum rdma_cm_event_type want, int *ret_status)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type got;

	if (rdma_get_cm_event(channel, &event))
		return strerror(errno);
	got = event->event;
	*ret_status = event->status;
	rdma_ack_cm_event(event);
	return got == want ? NULL : rdma_event_str(got);
}

static int create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = 2,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	return rdma_create_qp(id, NULL, &attr);
}

/* Return: the completion's status, or -errno. */
static int write_bytes(struct rdma_cm_id *id, void *buf, size_t bytes,
		       struct ibv_mr *mr)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf,
			      .length = (uint32_t)bytes,
			      .lkey = mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = bytes ? 1 : 0,
			.wr.rdma = {.remote_addr = NOWHERE, .rkey = NO_KEY},
		};
	struct ibv_wc wc;
	int n, err = ibv_post_send(id->qp, &wr, &bad);

	if (err)
		return -err;
	do
		n = ibv_poll_cq(id->send_cq, 1, &wc);
	while (!n);
	return n < 0 ? n : (int)wc.status;
}

/* The largest packet of the connection, last: it breaks it. */
static int check_mtu(struct rdma_cm_id *id, void *buf, struct ibv_mr *mr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int status;
	size_t mtu;

	if (ibv_query_qp(id->qp, &attr, IBV_QP_PATH_MTU, &init))
		return fail(UR_RCPING_LOST, strerror(errno));
	mtu = 128u << attr.path_mtu;
	status = write_bytes(id, buf, mtu, mr);
	if (status == IBV_WC_RETRY_EXC_ERR ||
	    status == IBV_WC_REM_INV_REQ_ERR || status < 0) {
		printf("%s %zu\n", UR_RCPING_MTU_LOST, mtu);
		return 1;
	}
	printf("%s %zu\n", UR_RCPING_MTU, mtu);
	return 0;
}

static int probe(struct rdma_cm_id *id, int count)
{
	static uint8_t buf[UR_RCPING_MTU_MAX];
	struct ibv_mr *mr = ibv_reg_mr(id->pd, buf, sizeof(buf), 0);

	if (!mr)
		return fail(UR_RCPING_LOCAL, "memory registration");
	for (int i = 0; i < count; i++) {
		uint64_t start = ur_clock_ns(CLOCK_MONOTONIC);
		int status = write_bytes(id, buf, 0, mr);

		if (status)
			return fail(UR_RCPING_LOST,
				    status < 0 ? strerror(-status)
					       : ibv_wc_status_str(status));
		printf("%s %.1f\n", UR_RCPING_ANSWER,
		       (double)(ur_clock_ns(CLOCK_MONOTONIC) - start) / 1e3);
	}
	return check_mtu(id, buf, mr);
}

static int connect_to(const char *address, const char *port, int count)
{
	/* Our own retry count, whatever the service proposes. */
	struct rdma_conn_param param = {.retry_count = RETRIES};
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP,
				      .ai_qp_type = IBV_QPT_RC},
			     *info;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	uint8_t timeout = ACK_TIMEOUT;
	struct rdma_cm_id *id;
	const char *why;
	int status = 0;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	if (rdma_getaddrinfo(address, port, &hints, &info))
		return fail(UR_RCPING_LOCAL, "address");
	if (rdma_resolve_addr(id, NULL, info->ai_dst_addr, STEP_MS))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	why = expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, &status);
	if (why)
		return fail(UR_RCPING_LOCAL, why);
	/* Older kernels do not support this; then it takes longer. */
	rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&timeout, sizeof(timeout));
	if (rdma_resolve_route(id, STEP_MS))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	why = expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, &status);
	if (why)
		return fail(UR_RCPING_LOCAL, why);
	if (create_qp(id))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	if (rdma_connect(id, &param))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	why = expect(channel, RDMA_CM_EVENT_ESTABLISHED, &status);
	if (why) {
		printf("%s %d %s\n", UR_RCPING_REFUSED, status, why);
		return 1;
	}
	status = probe(id, count);
	rdma_disconnect(id);
	return status;
}

static void serve_event(struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	struct rdma_conn_param param = {.retry_count = RETRIES};

	switch (event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (create_qp(id) || rdma_accept(id, &param)) {
			rdma_reject(id, NULL, 0);
			if (id->qp)
				rdma_destroy_qp(id);
			rdma_destroy_id(id);
		}
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		/* fallthrough */
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
		break;
	default:
		break;
	}
}

static int listen_on(const char *port)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in6 any = {.sin6_family = AF_INET6,
				   .sin6_port = htons((uint16_t)atoi(port))};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&any) ||
	    rdma_listen(id, BACKLOG))
		return fail(UR_RCPING_LOCAL, strerror(errno));
	printf("%s %s\n", UR_RCPING_LISTENING, port);
	while (!rdma_get_cm_event(channel, &event)) {
		enum rdma_cm_event_type what = event->event;
		struct rdma_cm_id *of = event->id;

		rdma_ack_cm_event(event);
		if (of == id && what == RDMA_CM_EVENT_DEVICE_REMOVAL)
			return fail(UR_RCPING_LOCAL, "device removed");
		serve_event(of, what);
	}
	return fail(UR_RCPING_LOCAL, strerror(errno));
}

int main(int argc, char **argv)
{
	ur_open_standard_fds();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && !strcmp(argv[1], "connect")) {
		/* rdma_cm repeats a connect request for a minute. */
		alarm(LIMIT_S + (unsigned int)atoi(argv[4]));
		return connect_to(argv[2], argv[3], atoi(argv[4]));
	}
	if (argc == 3 && !strcmp(argv[1], "listen"))
		return listen_on(argv[2]);
	fputs("usage: uroce-rcping connect ADDRESS PORT COUNT | listen PORT\n",
	      stderr);
	return 2;
}
