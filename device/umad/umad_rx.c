// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dispatches MADs received on QP1, except the connection manager's: to the device's own
 * agent or a program's, or back with an error status.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "device/umad/umad.h"
#include "util/assert.h"

#define HOP_LIMIT 64

/* A received MAD, with the path for its response. */
struct rx_mad {
	struct ur_device *dev;
	const struct ur_rx_meta *meta;
	u32 sgid_index; /* of its destination GID */
	u32 src_qpn;
	struct ur_mad_header h;
	const u8 *mad;
};

int umad_queue(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
	       const u8 *mad, u32 bytes)
{
	struct iovec iov[2] = {
		{.iov_base = (void *)hdr, .iov_len = umad_hdr_bytes(file)},
		{.iov_base = (void *)mad, .iov_len = bytes}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	if (file->sock < 0)
		return -EPIPE;
	return sendmsg(file->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0
		       ? -errno
		       : 0;
}

static void deliver(const struct rx_mad *c, const struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	struct ib_user_mad_hdr hdr = {
		.id = agent->id,
		.length = umad_hdr_bytes(file) + UR_MAD_BYTES,
		.qpn = htonl(c->src_qpn),
		.sl = c->meta->sl,
		.grh_present = 1,
		.gid_index = (u8)c->sgid_index,
		.hop_limit = HOP_LIMIT,
		.traffic_class = c->meta->tos & 0xfc,
		.flow_label = htonl(c->meta->flow_label),
	};

	memcpy(hdr.gid, c->meta->saddr, 16);
	if (umad_queue(file, &hdr, c->mad, UR_MAD_BYTES) && !file->dropped++)
		ur_debug("%s: a program does not read its MADs", c->dev->name);
}

static void answer(const struct rx_mad *c, const u8 *mad)
{
	struct ur_epath path = {.sgid_index = c->sgid_index,
				.flow_label = c->meta->flow_label,
				.traffic_class = c->meta->tos & 0xfc,
				.hop_limit = HOP_LIMIT,
				.sl = c->meta->sl,
				.v1 = c->meta->v1};

	memcpy(path.sgid, c->meta->daddr, 16);
	memcpy(path.dgid, c->meta->saddr, 16);
	/* A response that cannot be sent counts as lost: the requester repeats. */
	ur_engine_gsi_send(c->dev->engine, &path, c->src_qpn, mad);
}

static void to_asker(const struct rx_mad *c)
{
	struct umad_agent *agent =
		umad_agent_by_tid(c->dev, (u32)(c->h.tid >> 32));
	bool segment = umad_is_segment(c->mad);
	struct umad_send *send;

	if (!agent || (segment && umad_agent_is_unable(agent)))
		return;
	send = umad_send_find(agent, &c->h, c->meta->daddr);
	if (send)
		umad_send_free(send);
	/* A segmented response has more MADs than the one that ends the send. */
	if (send || segment)
		deliver(c, agent);
}

static bool is_get_or_set(const struct ur_mad_header *h)
{
	return h->method == UR_MAD_GET || h->method == UR_MAD_SET;
}

/* Responds like the kernel to a request that no agent receives. */
static void refuse_request(const struct rx_mad *c)
{
	u8 mad[UR_MAD_BYTES];

	ur_mad_answer(c->mad, mad, UR_MAD_BAD_METHOD_ATTR);
	answer(c, mad);
}

static void to_listener(const struct rx_mad *c)
{
	struct umad_agent *agent = umad_agent_for(c->dev, &c->h, c->mad);
	u8 mad[UR_MAD_BYTES];

	if (c->h.mgmt_class == UR_MAD_CLASS_PERF && is_get_or_set(&c->h)) {
		umad_perf_answer(c->dev, &c->h, c->mad, mad);
		answer(c, mad);
	} else if (!agent) {
		if (is_get_or_set(&c->h))
			refuse_request(c);
	} else if (!umad_is_segment(c->mad) || !umad_agent_is_unable(agent)) {
		deliver(c, agent);
	}
}

/* Subnet management uses QP0. */
static bool is_valid(const struct ur_mad_header *h)
{
	return h->base_version == UR_MAD_BASE_VERSION &&
	       h->mgmt_class != UR_MAD_CLASS_SUBN_LID &&
	       h->mgmt_class != UR_MAD_CLASS_SUBN_DIRECTED;
}

void umad_rx(struct ur_device *dev, const struct ur_rx_meta *meta, u32 src_qpn,
	     const u8 *mad)
{
	struct rx_mad c = {.dev = dev,
			   .meta = meta,
			   .src_qpn = src_qpn,
			   .h = ur_mad_parse(mad),
			   .mad = mad};
	int index = ur_gid_find(dev, meta->daddr,
				meta->v1 ? UR_GID_ROCE_V1 : UR_GID_ROCE_V2);

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (index < 0 || !src_qpn || !is_valid(&c.h))
		return;
	c.sgid_index = (u32)index;
	if (ur_mad_is_response(&c.h))
		to_asker(&c);
	else
		to_listener(&c);
}
