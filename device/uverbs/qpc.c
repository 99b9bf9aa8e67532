// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "device/uverbs/qpc.h"
#include "transport/modify_table.h"

/* A program's numbers are drawn in a fixed order, and the table may have no place for the next
 * one. It does not grow for that: the numbers of before a kill must find places in the next
 * uroced's, too. At least half of it is free, so all tries fail with a probability of 2^-64. */
#define NUMBER_TRIES 64u

static int take_number(struct ur_device *dev, struct ur_qpc *q, u32 slot)
{
	int err = -EEXIST;

	for (u32 i = 0; i < NUMBER_TRIES && err == -EEXIST; i++) {
		q->qpn = ur_engine_next_number(dev->engine, slot);
		err = ur_table_put_within(&dev->qps, q, q->qpn, 1);
	}
	return err == -EEXIST ? -ENOMEM : err;
}

/* A program may choose the number, so the table's growth is limited: with that many places, all
 * numbers of one slot have places of their own. */
static int put_number(struct ur_device *dev, struct ur_qpc *q, u32 number)
{
	q->qpn = number;
	return ur_table_put_within(&dev->qps, q, number,
				   1u << (24 - UR_PLACE_BITS));
}

static void reset(struct ur_qpc *q)
{
	q->attr = (struct ur_qp_attr){.state = UR_QP_RESET,
				      .path_mtu = q->dev->mtu_bytes};
}

int ur_qpc_create(struct ur_device *dev, const struct ur_qpc_init *init,
		  struct ur_qpc **ret)
{
	struct ur_qp_caps caps = init->caps;
	struct ur_qpc *q;
	int err = ur_qp_caps_grant(init->type, init->has_srq, &caps);

	if (err)
		return err;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->dev = dev;
	q->type = init->type;
	q->caps = caps;
	q->sq_sig_all = init->sq_sig_all;
	q->owner = init->owner;
	reset(q);
	err = init->number ? put_number(dev, q, init->number)
			   : take_number(dev, q, init->slot);
	if (err) {
		free(q);
		return err;
	}
	*ret = q;
	return 0;
}

void ur_qpc_destroy(struct ur_qpc *q)
{
	ur_table_remove(&q->dev->qps, q->qpn);
	ur_engine_forget_class(q->dev->engine, q->qpn);
	free(q);
}

static bool is_datagram(const struct ur_qpc *q)
{
	return q->type == UR_QPT_UD || q->type == UR_QPT_RAW_PACKET;
}

static void enter(struct ur_qpc *q, enum ur_qp_state next)
{
	if (next == UR_QP_RESET)
		reset(q);
	if (next == UR_QP_RTR && is_datagram(q))
		q->attr.path_mtu = q->dev->mtu_bytes;
	if (next == UR_QP_SQD && q->attr.state == UR_QP_RTS)
		q->attr.sq_draining = 1;
	if (next == UR_QP_RTS)
		q->attr.sq_draining = 0;
	q->attr.state = next;
}

int ur_qpc_modify(struct ur_qpc *q, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask)
{
	int err;

	mask = ur_qp_own_attrs(q->type, mask);
	if ((mask & UR_QP_ATTR_AV) && !path)
		return -EINVAL;
	err = mask & UR_QP_ATTR_AV ? ur_engine_check_path(q->dev->engine, path)
				   : 0;
	if (err)
		return err;
	if (!ur_qp_may(q->attr.state, q->type, attr, mask) ||
	    !ur_qp_values_valid(q->dev->mtu_bytes, attr, mask))
		return -EINVAL;
	ur_qp_attr_take(&q->attr, attr, mask);
	if (mask & UR_QP_ATTR_AV) {
		q->path = *path;
		q->have_path = true;
	}
	if (mask & UR_QP_ATTR_STATE)
		enter(q, attr->state);
	return 0;
}

void ur_qpc_look(const struct ur_qpc *q, struct ur_qp_attr *attr)
{
	u64 shown[UR_QP_SHOWN];

	*attr = q->attr;
	if (!ur_engine_shown_qp(q->dev->engine, q->qpn, shown))
		return;
	/* The program may write anything there. */
	if (shown[UR_QP_SHOWN_STATE] <= UR_QP_ERR)
		attr->state = (enum ur_qp_state)shown[UR_QP_SHOWN_STATE];
	if (shown[UR_QP_SHOWN_SQ_PSN] & UR_QP_SHOWN_SET)
		attr->sq_psn = (u32)shown[UR_QP_SHOWN_SQ_PSN] & 0xffffff;
}

void ur_qpc_describe(const struct ur_qpc *q, struct uroce_engine_qp *to)
{
	ur_qp_describe(&q->attr, q->have_path ? &q->path : NULL, to);
}

void ur_qpc_counters(const struct ur_qpc *q, u64 *values)
{
	u64 shown[UR_QP_SHOWN] = {0};

	ur_engine_shown_qp(q->dev->engine, q->qpn, shown);
	memcpy(values, shown, UR_QP_CNT_COUNT * sizeof(*values));
}

struct ur_obj_qp *ur_qpc_owner(const struct ur_device *dev, u32 qpn)
{
	const struct ur_qpc *q = ur_table_lookup(&dev->qps, qpn);

	return q ? q->owner : NULL;
}
