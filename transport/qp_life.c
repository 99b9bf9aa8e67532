// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Creates and destroys a queue pair, with all that it allocates. */
#include "transport/internal.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

/* Items for acknowledgements that are not merged, besides two for each resource
 * (its answer, and the rest of a withdrawn one). */
#define EXTRA_ITEMS 32

static u8 service_of(enum ur_qp_type type)
{
	switch (type) {
	case UR_QPT_RC:
		return UR_SVC_RC;
	case UR_QPT_UC:
		return UR_SVC_UC;
	case UR_QPT_UD:
		return UR_SVC_UD;
	case UR_QPT_RAW_PACKET:
		return UR_SVC_RAW;
	default:
		return UR_SVC_XRC;
	}
}

static int check_init(const struct ur_qp_init *init)
{
	switch (init->type) {
	case UR_QPT_RC:
	case UR_QPT_UC:
	case UR_QPT_UD:
	case UR_QPT_XRC_TGT:
		break;
	case UR_QPT_RAW_PACKET:
		if (!UROCE_WITH_RAW_PACKET)
			return -EOPNOTSUPP;
		if (!init->raw_av)
			return -EINVAL;
		break;
	case UR_QPT_XRC_INI:
		if (init->srq)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (init->max_send_sge > UR_MAX_SGE || init->max_recv_sge > UR_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int alloc_queues(struct ur_qp *qp)
{
	const struct ur_qp_init *init = &qp->init;
	u32 depth;

	if (qp->has_sq) {
		depth = ur_roundup_pow2(
			ur_min_u32(init->max_send_wr ? init->max_send_wr : 1,
				   UR_SQ_WINDOW));
		qp->req.mask = depth - 1;
		qp->req.stride = (u32)ur_align_up(
			sizeof(struct ur_swqe) +
				init->max_send_sge * sizeof(struct ur_sge),
			16);
		qp->req.entries = calloc(depth, qp->req.stride);
		if (!qp->req.entries)
			return -ENOMEM;
	}
	if (qp->init.type != UR_QPT_XRC_INI) {
		/* An SRQ has its own limit of elements. */
		qp->resp.rqe_max_sge = qp->has_rq && !init->srq
					       ? init->max_recv_sge
					       : UR_MAX_SGE;
		qp->resp.rqe_sge =
			calloc(qp->resp.rqe_max_sge + 1, sizeof(struct ur_sge));
		if (!qp->resp.rqe_sge)
			return -ENOMEM;
	}
	if (qp->port->cfg.ooo && ur_qp_is_reliable(qp) &&
	    init->type != UR_QPT_XRC_INI)
		return ur_ooo_create(qp);
	return 0;
}

static void free_qp(struct ur_qp *qp)
{
	ur_cc_fini(qp);
	ur_ooo_destroy(qp);
	free(qp->req.entries);
	free(qp->resp.rqe_sge);
	free(qp->resp.res);
	free(qp->resp.items);
	free(qp);
}

/* Allocates places for the deadlines of all queue pairs, so that ur_port_arm()
 * cannot fail. Returns 0 or -ENOMEM. */
static int reserve_heap(struct ur_port *port)
{
	struct ur_heap *heap = &port->deadlines;
	u32 cap = port->deadlines_cap ? port->deadlines_cap * 2 : 64;
	struct ur_heap_place *place;

	if (port->qps.count <= port->deadlines_cap)
		return 0;
	place = calloc(cap, sizeof(*place));
	if (!place)
		return -ENOMEM;
	if (heap->count)
		memcpy(place, heap->place, heap->count * sizeof(*place));
	free(heap->place);
	heap->place = place;
	port->deadlines_cap = cap;
	return 0;
}

static int give_number(struct ur_port *port, struct ur_qp *qp)
{
	if (!qp->init.qpn)
		return ur_table_add(&port->qps, qp, &qp->qpn);
	qp->qpn = qp->init.qpn;
	return ur_table_put(&port->qps, qp, qp->qpn);
}

int ur_qp_create(struct ur_port *port, const struct ur_qp_init *init,
		 struct ur_qp **ret)
{
	struct ur_qp *qp;
	int err = check_init(init);

	if (err)
		return err;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->port = port;
	qp->init = *init;
	qp->shown = init->shown ? init->shown : qp->own_shown;
	qp->svc = service_of(init->type);
	qp->has_sq = init->type != UR_QPT_XRC_TGT;
	qp->has_rq = qp->svc != UR_SVC_XRC;
	qp->attr.path_mtu = port->cfg.mtu_bytes;
	qp->ack_ns = ur_ack_timeout_ns(0);
	ur_list_init(&qp->active);
	ur_list_init(&qp->share.link);
	ur_list_init(&qp->share.wait);
	err = alloc_queues(qp);
	if (err)
		goto err_free;
	err = give_number(port, qp);
	if (err)
		goto err_free;
	err = reserve_heap(port);
	if (err)
		goto err_remove;
	if (init->srq)
		init->srq->users++;
	if (init->raw_av)
		ur_av_get(init->raw_av);
	ur_qp_drop_work(qp);
	*ret = qp;
	return 0;

err_remove:
	ur_table_remove(&port->qps, qp->qpn);
err_free:
	free_qp(qp);
	return err;
}

void ur_qp_destroy(struct ur_qp *qp)
{
	struct ur_port *port = qp->port;

	ur_qp_take_back(qp);
	ur_path_leave(qp);
	ur_qp_drop_work(qp);
	if (port->rx_qp == qp)
		port->rx_qp = NULL;
	ur_list_del(&qp->active);
	ur_port_disarm(port, qp);
	ur_assert(!qp->attached && !qp->share.path);
	ur_assert(ur_table_lookup(&port->qps, qp->qpn) == qp);
	ur_table_remove(&port->qps, qp->qpn);
	if (qp->init.srq) {
		ur_assert(qp->init.srq->users);
		qp->init.srq->users--;
	}
	ur_assert(ur_list_empty(&qp->active));
	ur_av_put(qp->attr.av);
	ur_av_put(qp->init.raw_av);
	free_qp(qp);
}

int ur_replay_resize(struct ur_qp *qp, u32 count)
{
	struct ur_responder *resp = &qp->resp;
	u32 slots = ur_roundup_pow2(2 * count + EXTRA_ITEMS);
	struct ur_resource *res = NULL;
	struct ur_resp_item *items;

	if (resp->items && count == resp->res_count)
		return 0;
	if (count) {
		res = calloc(count, sizeof(*res));
		if (!res)
			return -ENOMEM;
	}
	items = calloc(slots, sizeof(*items));
	if (!items) {
		free(res);
		return -ENOMEM;
	}
	free(resp->res);
	free(resp->items);
	resp->res = res;
	resp->res_count = count;
	resp->res_next = 0;
	resp->items = items;
	resp->item_mask = slots - 1;
	resp->item_head = resp->item_tail = 0;
	return 0;
}
