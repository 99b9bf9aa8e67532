// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs that programs send: a request is repeated until its response comes; if none comes,
 * the program gets a report. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>

#include "device/umad/umad.h"
#include "device/uverbs/objects.h"
#include "util/assert.h"

#define NS_PER_MS 1000000ull
/* Wait before the next attempt at a report for which the socket had no room. */
#define REPORT_AGAIN_NS (10 * NS_PER_MS)

/* The kernel sets this in every RoCE packet, whatever the program requests. */
#define HOP_LIMIT 64

/* Header sizes by class, IBA volume 1, 13.5.2 and 15.2.1.1. */
u32 umad_data_offset(u8 mgmt_class)
{
	if (mgmt_class == UR_MAD_CLASS_SUBN_ADM)
		return 56;
	if (umad_class_has_oui(mgmt_class))
		return 40;
	return umad_class_has_rmpp(mgmt_class) ? 64 : UR_MAD_HEADER_BYTES;
}

static int make_path(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		     struct ur_epath *path)
{
	struct ib_uverbs_ah_attr attr = {
		.grh = {.flow_label = ntohl(hdr->flow_label),
			.sgid_index = hdr->gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = hdr->traffic_class},
		.sl = hdr->sl & 0xf,
		.is_global = hdr->grh_present,
		.port_num = 1,
	};

	memcpy(attr.grh.dgid, hdr->gid, 16);
	return ur_path_from_ah(file->dev, &attr, path);
}

static void arm(struct umad_file *file)
{
	struct ur_loop *loop = file->dev->daemon->loop;
	u64 first = 0;

	ur_list_for_each(it, &file->sends) {
		u64 t = ur_list_entry(it, struct umad_send, node)->deadline_ns;

		if (!first || t < first)
			first = t;
	}
	if (first)
		ur_loop_timer_set(loop, &file->timer, first);
	else
		ur_loop_timer_clear(loop, &file->timer);
}

static int post(const struct umad_send *s)
{
	return ur_engine_gsi_send(s->agent->file->dev->engine, &s->path,
				  ntohl(s->hdr.qpn), s->mad);
}

/* Returns whether the file has a send with the same response. */
static bool is_duplicate(const struct umad_file *file,
			 const struct umad_send *new)
{
	struct ur_mad_header h = ur_mad_parse(new->mad);

	ur_list_each(const struct umad_send, s, &file->sends, node) {
		struct ur_mad_header old = ur_mad_parse(s->mad);
		bool response = ur_mad_is_response(&h);

		if (s->given_up || old.tid != h.tid ||
		    old.mgmt_class != h.mgmt_class ||
		    ur_mad_is_response(&old) != response)
			continue;
		if (!response || !memcmp(s->path.dgid, new->path.dgid, 16))
			return true;
	}
	return false;
}

/* Puts the agent into the high half of the transaction id; the low half is the program's. */
static void complete_tid(const struct umad_agent *agent, u8 *mad)
{
	struct ur_mad_header h = ur_mad_parse(mad);

	if (!ur_mad_is_response(&h))
		ur_put_be32(mad + 8, agent->hi_tid);
}

int umad_send(struct umad_agent *agent, const struct ib_user_mad_hdr *hdr,
	      u8 *mad)
{
	struct umad_file *file = agent->file;
	struct umad_send *s;
	int err;

	ur_assert(ur_loop_mine(agent->file->dev->daemon->loop));
	/* Ethernet has no QP0 and a single P_Key. */
	if (!ntohl(hdr->qpn) || ntohl(hdr->qpn) > 0xffffff || hdr->pkey_index)
		return -EINVAL;
	if (file->n_sends == UMAD_FILE_SENDS_MAX)
		return -ENOMEM;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	ur_list_init(&s->node);
	s->agent = agent;
	s->hdr = *hdr;
	complete_tid(agent, mad);
	memcpy(s->mad, mad, sizeof(s->mad));
	err = make_path(file, hdr, &s->path);
	if (!err && !umad_is_segment(mad) && is_duplicate(file, s))
		err = -EINVAL;
	if (!err)
		err = post(s);
	if (err || !hdr->timeout_ms) {
		free(s);
		return err;
	}
	s->retries_left = hdr->retries;
	s->deadline_ns = ur_loop_now() + hdr->timeout_ms * NS_PER_MS;
	ur_list_add_tail(&file->sends, &s->node);
	file->n_sends++;
	arm(file);
	return 0;
}

void umad_send_free(struct umad_send *s)
{
	struct umad_file *file = s->agent->file;

	ur_assert(s->agent && !ur_list_empty(&s->node));
	ur_list_del(&s->node);
	ur_assert(file->n_sends);
	file->n_sends--;
	free(s);
	arm(file);
}

/* As in the kernel, a response must come to the address of the request. */
static bool fits(const struct umad_send *s, const u8 *to)
{
	struct ur_mad_header h = ur_mad_parse(s->mad);

	return !ur_mad_is_response(&h) && !memcmp(s->path.sgid, to, 16);
}

struct umad_send *umad_send_find(struct umad_agent *agent,
				 const struct ur_mad_header *h, const u8 *to)
{
	ur_assert(ur_loop_mine(agent->file->dev->daemon->loop));
	ur_list_each(struct umad_send, s, &agent->file->sends, node) {
		if (s->agent == agent && !s->given_up &&
		    ur_get_be64(s->mad + 8) == h->tid &&
		    s->mad[1] == h->mgmt_class && fits(s, to))
			return s;
	}
	return NULL;
}

/* Returns whether the send is finished. */
static bool give_up(struct umad_send *s, u64 now)
{
	struct ib_user_mad_hdr hdr = s->hdr;

	hdr.id = s->agent->id;
	hdr.status = ETIMEDOUT;
	s->given_up = true;
	s->deadline_ns = now + REPORT_AGAIN_NS;
	return umad_queue(s->agent->file, &hdr, s->mad, UR_MAD_HEADER_BYTES) !=
	       -EAGAIN;
}

static bool expire_one(struct umad_send *s, u64 now)
{
	if (s->given_up || !s->retries_left)
		return give_up(s, now);
	s->retries_left--;
	s->deadline_ns = now + s->hdr.timeout_ms * NS_PER_MS;
	/* A MAD that cannot be sent now counts as lost. */
	post(s);
	return false;
}

void umad_send_expire(void *arg)
{
	struct umad_file *file = arg;
	u64 now = ur_loop_now();

	ur_list_for_each_safe(it, &file->sends) {
		struct umad_send *s = ur_list_entry(it, struct umad_send, node);

		if (s->deadline_ns <= now && expire_one(s, now))
			umad_send_free(s);
	}
	arm(file);
}
