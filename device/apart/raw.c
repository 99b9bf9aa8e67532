// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Raw packets of a context: packet sockets that its program was granted, work queues, flow rules. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>
#include "device/apart/apart.h"
#include "engine/engine.h"

_Static_assert(UROCE_APART_WQS == UR_RSS_TABLE_MAX,
	       "a message has a whole table");

/* KiB of the frames that an engine receives at once (engine/raw/wire_raw.c). */
#define KIB_OF_SOCKETS 1280u

/* ---- sockets ---- */

int ur_apart_has_raw(const struct ur_apart_call *c)
{
	return c->client->ops->has_raw(c->client->ctx);
}

int ur_apart_use_raw(const struct ur_apart_call *c)
{
	const struct uroce_engine_raw raw = {{c->fds[0], c->fds[1]}};
	struct ur_apart_client *client = c->client;
	int err;

	for (u32 i = 0; i < UR_RAW_SOCKETS; i++)
		if (!ur_apart_is_packet_socket(raw.fd[i]))
			return -EINVAL;
	if (!ur_apart_fits(client, KIB_OF_SOCKETS))
		return -EDQUOT;
	err = client->ops->use_raw(client->ctx, &raw);
	if (err)
		return err;
	client->kib += KIB_OF_SOCKETS;
	client->raw_kib += KIB_OF_SOCKETS;
	return 0;
}

/* ---- queues ---- */

static int create(const struct ur_apart_call *c,
		  const struct uroce_eqp_init *init)
{
	enum ur_apart_kind kind = init->wq ? UR_APART_WQ : UR_APART_QP;
	struct uroce_eqp *qp;
	int err = c->client->ops->create_qp(c->client->ctx, init, &qp,
					    &c->reply->msg.new_qp);

	err = ur_apart_made(c, kind, qp, err);
	if (!err)
		ur_apart_find(c->client, kind, c->reply->msg.number)->raw =
			true;
	return err;
}

static int create_spread(const struct ur_apart_call *c,
			 struct uroce_eqp_init *init)
{
	const struct uroce_apart_qp *in = &c->in->qp;
	struct uroce_eqp *wq[UROCE_APART_WQS];
	struct uroce_eqp_rss rss = {
		.fields = in->rss_fields,
		.size = in->n_wqs,
		.wq = wq,
	};

	for (u32 i = 0; i < in->n_wqs; i++) {
		wq[i] = ur_apart_given(c, UR_APART_WQ, c->asked->wq[i]);
		if (!wq[i])
			return -EINVAL;
	}
	memcpy(rss.key, in->rss_key, sizeof(rss.key));
	init->rss = &rss;
	return create(c, init);
}

int ur_apart_create_raw(const struct ur_apart_call *c)
{
	const struct uroce_apart_qp *in = &c->in->qp;
	struct uroce_eqp_init init = in->init;
	int err;

	init.send_cq = ur_apart_given(c, UR_APART_CQ, in->send_cq);
	init.recv_cq = ur_apart_given(c, UR_APART_CQ, in->recv_cq);
	init.srq = ur_apart_given(c, UR_APART_SRQ, in->srq);
	init.rss = NULL;
	if (!init.send_cq != !in->send_cq || !init.recv_cq != !in->recv_cq ||
	    !init.srq != !in->srq || in->n_wqs != c->asked->n_wqs ||
	    !ur_apart_raw_is_good(&init, in->n_wqs, c->client->slot))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	return in->n_wqs ? create_spread(c, &init) : create(c, &init);
}

int ur_apart_modify_wq(const struct ur_apart_call *c)
{
	return c->in->value <= UR_WQ_ERR
		       ? c->client->ops->modify_wq(c->it, c->in->value)
		       : -EINVAL;
}

/* ---- rules ---- */

int ur_apart_create_flow(const struct ur_apart_call *c)
{
	struct ur_apart_rule *flow;
	int err;

	if (!c->named->raw || !ur_apart_flow_is_good(&c->in->flow))
		return -EINVAL;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	err = c->client->ops->create_flow(c->it, &c->in->flow, &flow->counts,
					  &flow->it);
	if (err)
		free(flow);
	return ur_apart_made(c, UR_APART_FLOW, flow, err);
}

static struct uroce_eflow_counts read_counts(const struct ur_apart_rule *flow)
{
	return (struct uroce_eflow_counts){
		__atomic_load_n(&flow->counts.packets, __ATOMIC_RELAXED),
		__atomic_load_n(&flow->counts.bytes, __ATOMIC_RELAXED)};
}

int ur_apart_read_flow(const struct ur_apart_call *c)
{
	c->reply->msg.counts = read_counts(c->it);
	return 0;
}

int ur_apart_destroy_flow(const struct ur_apart_call *c)
{
	c->reply->msg.counts = ur_apart_end_flow(c->client, c->it);
	ur_apart_del(c->client, c->named);
	return 0;
}
