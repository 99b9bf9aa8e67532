// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connects the asker to the listener: rdma_cm's datagram service (SIDR). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/path/asker.h"
#include "cli/path/lines.h"

#define STEP_MS 1500
/* A lost request is repeated after 4.3 s (4.096 us * 2^20). */
#define LET_IN_MS 5000
#define HOPS	  64

int ur_path_fail(const char *word, const char *text)
{
	printf("%s %s\n", word, text);
	return 1;
}

int ur_path_event(struct rdma_event_channel *channel, int ms,
		  struct rdma_cm_event **ret)
{
	struct pollfd pfd = {.fd = channel->fd, .events = POLLIN};

	if (poll(&pfd, 1, ms) != 1)
		return -ETIMEDOUT;
	return rdma_get_cm_event(channel, ret) ? -errno : 0;
}

/* Waits for the event. Returns 0, or an exit status after printing the reason. If nobody
 * has the peer's address, the reason is the peer's silence and no fault of this host. */
static int expect(struct rdma_event_channel *channel,
		  enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type got;
	int status, err = ur_path_event(channel, STEP_MS + 500, &event);
	char why[128];

	if (err)
		return ur_path_fail(UR_PATH_LOCAL, strerror(-err));
	got = event->event;
	status = event->status;
	rdma_ack_cm_event(event);
	if (got == want)
		return 0;
	if (got != RDMA_CM_EVENT_ADDR_ERROR || status != -ETIMEDOUT)
		return ur_path_fail(UR_PATH_LOCAL, rdma_event_str(got));
	snprintf(why, sizeof(why), "%d %s", status, rdma_event_str(got));
	return ur_path_fail(UR_PATH_REFUSED, why);
}

static int resolve(struct ur_path_asker *a, const char *address)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP,
				      .ai_qp_type = IBV_QPT_UD},
			     *info;
	int err;

	if (rdma_getaddrinfo(address, UR_PATH_PORT, &hints, &info))
		return ur_path_fail(UR_PATH_LOCAL, "address");
	err = rdma_resolve_addr(a->id, NULL, info->ai_dst_addr, STEP_MS);
	rdma_freeaddrinfo(info);
	if (err)
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	err = expect(a->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (err)
		return err;
	if (rdma_resolve_route(a->id, STEP_MS))
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	return expect(a->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Reads the peer's data from the reply. Returns whether the peer is a compatible listener. */
static bool take_welcome(struct ur_path_asker *a,
			 const struct rdma_ud_param *ud)
{
	struct ur_path_welcome welcome;

	if (!ud->private_data || ud->private_data_len < sizeof(welcome))
		return false;
	memcpy(&welcome, ud->private_data, sizeof(welcome));
	if (welcome.version != UR_PATH_VERSION)
		return false;
	a->attr = ud->ah_attr;
	a->attr.grh.hop_limit = HOPS;
	a->qpn = ud->qp_num;
	a->qkey = ud->qkey;
	a->token = welcome.token;
	a->peer_mtu = ntohl(welcome.active_mtu);
	return a->peer_mtu >= 256 && a->peer_mtu <= UR_PATH_MTU_MAX;
}

static int let_in(struct ur_path_asker *a)
{
	struct rdma_conn_param param = {.retry_count = 7};
	struct rdma_cm_event *event;
	bool welcome = false;
	char why[128];
	int err;

	if (rdma_connect(a->id, &param))
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	err = ur_path_event(a->channel, LET_IN_MS, &event);
	if (err) {
		snprintf(why, sizeof(why), "%d %s", err, strerror(-err));
		return ur_path_fail(UR_PATH_REFUSED, why);
	}
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		welcome = take_welcome(a, &event->param.ud);
	snprintf(why, sizeof(why), "%d %s", event->status,
		 rdma_event_str(event->event));
	rdma_ack_cm_event(event);
	return welcome ? 0 : ur_path_fail(UR_PATH_REFUSED, why);
}

int ur_path_connect(struct ur_path_asker *a, const char *address)
{
	int err;

	*a = (struct ur_path_asker){.channel = rdma_create_event_channel()};
	if (!a->channel ||
	    rdma_create_id(a->channel, &a->id, NULL, RDMA_PS_UDP))
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	err = resolve(a, address);
	if (err)
		return err;
	err = ur_path_queue_open(&a->queue, a->id);
	if (err)
		return ur_path_fail(UR_PATH_LOCAL, strerror(-err));
	a->mtu = ur_path_queue_mtu(&a->queue);
	if (a->mtu < 256 || a->mtu > UR_PATH_MTU_MAX)
		return ur_path_fail(UR_PATH_LOCAL, "active MTU");
	return let_in(a);
}

void ur_path_disconnect(struct ur_path_asker *a)
{
	if (a->queue.memory)
		ur_path_queue_close(&a->queue);
	if (a->id)
		rdma_destroy_id(a->id);
	if (a->channel)
		rdma_destroy_event_channel(a->channel);
}
