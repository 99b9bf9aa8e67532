// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Raw packets of a context: packet sockets that its program was granted, work queues, flow rules. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>
#include "device/apart/apart.h"
#include "engine/engine.h"

_Static_assert(UROCE_CALL_WQS == UR_RSS_TABLE_MAX,
	       "a message has a whole table");

/* KiB of the frames that an engine receives at once (engine/raw/wire_raw.c). */
#define KIB_OF_SOCKETS 1280u

int ur_apart_use_raw(struct ur_apart_call *c)
{
	struct ur_apart_client *client = c->client;
	int err;

	for (u32 i = 0; i < UR_RAW_SOCKETS; i++)
		if (!ur_apart_is_packet_socket(c->call.fds[i]))
			return -EINVAL;
	if (!ur_apart_fits(client, KIB_OF_SOCKETS))
		return -EDQUOT;
	err = ur_apart_pass(c);
	if (err)
		return err;
	client->kib += KIB_OF_SOCKETS;
	client->raw_kib += KIB_OF_SOCKETS;
	return 0;
}

/* ---- queues ---- */

static int create_spread(struct ur_apart_call *c)
{
	struct uroce_call_qp *in = &c->call.msg.qp;
	struct uroce_eqp *wq[UROCE_CALL_WQS];
	struct uroce_eqp_rss rss = {
		.fields = in->rss_fields,
		.size = in->n_wqs,
		.wq = wq,
	};

	for (u32 i = 0; i < in->n_wqs; i++) {
		wq[i] = ur_apart_given(c, UR_APART_WQ, c->wq[i]);
		if (!wq[i])
			return -EINVAL;
	}
	memcpy(rss.key, in->rss_key, sizeof(rss.key));
	in->init.rss = &rss;
	return ur_apart_pass(c);
}

int ur_apart_create_raw(struct ur_apart_call *c)
{
	struct uroce_call_qp *in = &c->call.msg.qp;
	struct uroce_eqp_init *init = &in->init;
	int err;

	init->rss = NULL;
	if (!init->send_cq != !in->send_cq || !init->recv_cq != !in->recv_cq ||
	    !init->srq != !in->srq || in->n_wqs != c->n_wqs ||
	    !ur_apart_raw_is_good(init, in->n_wqs, c->client->slot))
		return -EINVAL;
	c->makes = init->wq ? UR_APART_WQ : UR_APART_QP;
	err = ur_apart_find_domain(c->client, &init->pdn);
	if (err)
		return err;
	return in->n_wqs ? create_spread(c) : ur_apart_pass(c);
}

int ur_apart_modify_wq(struct ur_apart_call *c)
{
	return c->call.msg.value <= UR_WQ_ERR ? ur_apart_pass(c) : -EINVAL;
}

/* ---- rules ---- */

int ur_apart_create_flow(struct ur_apart_call *c)
{
	struct ur_apart_rule *flow;
	int err;

	if (!c->named->raw || !ur_apart_flow_is_good(&c->call.msg.flow))
		return -EINVAL;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	c->call.counts = &flow->counts;
	err = ur_apart_pass(c);
	if (err) {
		free(flow);
		return err;
	}
	flow->it = c->call.it;
	c->call.it = flow;
	return 0;
}

int ur_apart_read_flow(struct ur_apart_call *c)
{
	const struct ur_apart_rule *flow = c->call.it;

	c->call.reply.counts = (struct uroce_eflow_counts){
		__atomic_load_n(&flow->counts.packets, __ATOMIC_RELAXED),
		__atomic_load_n(&flow->counts.bytes, __ATOMIC_RELAXED)};
	return 0;
}
