// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mistakes with rdma_cm. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"

/* An id with its address resolved, which needs no peer. */
struct half {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
};

static void resolve(struct half *half)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(7471)};

	memset(half, 0, sizeof(*half));
	MUST(inet_pton(AF_INET, lab_setting("LAB_ADDRESS", "127.0.0.1"),
		       &to.sin_addr) == 1);
	half->channel = rdma_create_event_channel();
	MUST(half->channel);
	MUST(!rdma_create_id(half->channel, &half->id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(half->id, NULL, (struct sockaddr *)&to, 2000));
	MUST(!rdma_get_cm_event(half->channel, &half->event));
	MUST(half->event->event == RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void add_qp(struct half *half)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	MUST(!rdma_create_qp(half->id, NULL, &attr));
}

static void cm_unacked(bool wrong)
{
	struct half half;

	resolve(&half);
	if (wrong)
		lab_hangs();
	else
		MUST(!rdma_ack_cm_event(half.event));
	MUST(!rdma_destroy_id(half.id));
	rdma_destroy_event_channel(half.channel);
}

/* The id moves to another channel, and the first one may go. */
static void migrate(struct half *half)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel && !rdma_migrate_id(half->id, channel));
	rdma_destroy_event_channel(half->channel);
	half->channel = channel;
}

static void cm_qp_left(bool wrong)
{
	struct half half;

	resolve(&half);
	MUST(!rdma_ack_cm_event(half.event));
	migrate(&half);
	add_qp(&half);
	if (!wrong)
		rdma_destroy_qp(half.id);
	rdma_destroy_id(half.id);
	rdma_destroy_event_channel(half.channel);
}

static void cm_qp_foreign(bool wrong)
{
	struct half half;

	resolve(&half);
	MUST(!rdma_ack_cm_event(half.event));
	add_qp(&half);
	if (wrong) {
		MUST(!ibv_destroy_qp(half.id->qp));
		_exit(0);
	}
	rdma_destroy_qp(half.id);
	MUST(!rdma_destroy_id(half.id));
	rdma_destroy_event_channel(half.channel);
}

static void cm_removal(bool wrong)
{
	struct half half;

	resolve(&half);
	MUST(!rdma_ack_cm_event(half.event));
	MUST(!system(lab_setting("LAB_REMOVE", "false")));
	MUST(!rdma_get_cm_event(half.channel, &half.event));
	MUST(half.event->event == RDMA_CM_EVENT_DEVICE_REMOVAL);
	MUST(!rdma_ack_cm_event(half.event));
	if (wrong)
		exit(0);
	MUST(!rdma_destroy_id(half.id));
	rdma_destroy_event_channel(half.channel);
}

const struct lab_case lab_cm[] = {{"UR-CM-01", cm_unacked},
				  {"UR-CM-02", cm_qp_left},
				  {"UR-CM-03", cm_qp_foreign},
				  {"UR-CM-04", cm_removal},
				  {0}};
