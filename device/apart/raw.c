// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Raw packets of a context: packet sockets that its program was lent, work queues, flow rules. */
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

struct raw_call {
	struct ur_apart_client *client;
	const struct ur_apart_asked *asked;
	int *fds;
	struct ur_apart_reply *reply;
};

static struct ur_apart_object *object(const struct raw_call *c,
				      enum ur_apart_kind kind, u32 number)
{
	return ur_apart_find(c->client, kind, number);
}

static void *find(const struct raw_call *c, enum ur_apart_kind kind, u32 number)
{
	struct ur_apart_object *o = object(c, kind, number);

	return o ? o->it : NULL;
}

/* ---- sockets ---- */

static int has_raw(const struct raw_call *c)
{
	return c->client->door->has_raw(c->client->guest);
}

static int borrow_raw(const struct raw_call *c)
{
	const struct uroce_engine_raw raw = {{c->fds[0], c->fds[1]}};
	struct ur_apart_client *client = c->client;
	int err;

	for (u32 i = 0; i < UR_RAW_SOCKETS; i++)
		if (!ur_apart_is_packet_socket(raw.fd[i]))
			return -EINVAL;
	if (!ur_apart_fits(client, KIB_OF_SOCKETS))
		return -EDQUOT;
	err = client->door->borrow_raw(client->guest, &raw);
	if (err)
		return err;
	client->kib += KIB_OF_SOCKETS;
	client->raw_kib += KIB_OF_SOCKETS;
	return 0;
}

/* ---- queues ---- */

static int create(const struct raw_call *c,
		  const struct uroce_guest_qp_init *init)
{
	enum ur_apart_kind kind = init->wq ? UR_APART_WQ : UR_APART_QP;
	struct uroce_guest_qp *qp;
	int err = c->client->door->create_qp(c->client->guest, init, &qp,
					     &c->reply->msg.new_qp);

	if (err)
		return err;
	c->reply->msg.number = ur_apart_add(c->client, kind, qp);
	object(c, kind, c->reply->msg.number)->raw = true;
	return 0;
}

static int create_spread(const struct raw_call *c,
			 struct uroce_guest_qp_init *init)
{
	const struct uroce_apart_qp *in = &c->asked->msg.qp;
	struct uroce_guest_qp *wq[UROCE_APART_WQS];
	struct uroce_guest_rss rss = {
		.fields = in->rss_fields,
		.size = in->n_wqs,
		.wq = wq,
	};

	for (u32 i = 0; i < in->n_wqs; i++) {
		wq[i] = find(c, UR_APART_WQ, c->asked->wq[i]);
		if (!wq[i])
			return -EINVAL;
	}
	memcpy(rss.key, in->rss_key, sizeof(rss.key));
	init->rss = &rss;
	return create(c, init);
}

static int create_raw(const struct raw_call *c)
{
	const struct uroce_apart_qp *in = &c->asked->msg.qp;
	struct uroce_guest_qp_init init = in->init;
	int err;

	init.send_cq = find(c, UR_APART_CQ, in->send_cq);
	init.recv_cq = find(c, UR_APART_CQ, in->recv_cq);
	init.srq = find(c, UR_APART_SRQ, in->srq);
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

static int modify_wq(const struct raw_call *c)
{
	const struct uroce_apart_msg *in = &c->asked->msg;
	struct uroce_guest_qp *wq = find(c, UR_APART_WQ, in->number);

	return wq && in->value <= UR_WQ_ERR
		       ? c->client->door->modify_wq(wq, in->value)
		       : -EINVAL;
}

/* ---- rules ---- */

static int make_flow(const struct raw_call *c, struct uroce_guest_qp *qp,
		     struct ur_apart_rule *flow)
{
	int err = c->client->door->create_flow(qp, &c->asked->msg.flow,
					       &flow->counts, &flow->it);

	if (!err)
		c->reply->msg.number =
			ur_apart_add(c->client, UR_APART_FLOW, flow);
	return err;
}

static int create_flow(const struct raw_call *c)
{
	const struct ur_apart_object *qp =
		object(c, UR_APART_QP, c->asked->msg.number);
	struct ur_apart_rule *flow;
	int err;

	if (!qp || !qp->raw || !ur_apart_flow_is_good(&c->asked->msg.flow))
		return -EINVAL;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	err = make_flow(c, qp->it, flow);
	if (err)
		free(flow);
	return err;
}

static struct uroce_guest_counts read_counts(const struct ur_apart_rule *flow)
{
	return (struct uroce_guest_counts){
		__atomic_load_n(&flow->counts.packets, __ATOMIC_RELAXED),
		__atomic_load_n(&flow->counts.bytes, __ATOMIC_RELAXED)};
}

static int read_flow(const struct raw_call *c)
{
	const struct ur_apart_rule *flow =
		find(c, UR_APART_FLOW, c->asked->msg.number);

	if (!flow)
		return -EINVAL;
	c->reply->msg.counts = read_counts(flow);
	return 0;
}

static int destroy_flow(const struct raw_call *c)
{
	struct ur_apart_object *o =
		object(c, UR_APART_FLOW, c->asked->msg.number);

	if (!o)
		return -EINVAL;
	c->reply->msg.counts = ur_apart_end_flow(c->client, o->it);
	ur_apart_del(c->client, o);
	return 0;
}

int ur_apart_call_raw(struct ur_apart_client *client,
		      const struct ur_apart_asked *asked, int *fds,
		      struct ur_apart_reply *reply)
{
	const struct raw_call c = {client, asked, fds, reply};

	if (!client->door->borrow_raw)
		return -EOPNOTSUPP;
	switch (asked->msg.op) {
	case UROCE_APART_HAS_RAW:
		return has_raw(&c);
	case UROCE_APART_BORROW_RAW:
		return borrow_raw(&c);
	case UROCE_APART_MODIFY_WQ:
		return modify_wq(&c);
	case UROCE_APART_CREATE_FLOW:
		return create_flow(&c);
	case UROCE_APART_READ_FLOW:
		return read_flow(&c);
	case UROCE_APART_DESTROY_FLOW:
		return destroy_flow(&c);
	default:
		return create_raw(&c);
	}
}
