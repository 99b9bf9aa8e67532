// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast groups of queue pairs in an engine of this process: the engine joins, and the list
 * serves to attach the queue pair again in the next uroced. */
#include <string.h>

#include "ectx.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all lists */

static u32 find_group(const struct uroce_qp *qp, const union ibv_gid *gid)
{
	u32 i = 0;

	while (i < qp->n_groups &&
	       memcmp(&qp->groups[i], gid, sizeof(*gid)) != 0)
		i++;
	return i;
}

/* Adding twice is adding once. uroced limits the number of groups. */
static int add_group(struct uroce_qp *qp, const union ibv_gid *gid)
{
	union ibv_gid *more;

	if (find_group(qp, gid) < qp->n_groups)
		return 0;
	more = realloc(qp->groups, (qp->n_groups + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	qp->groups = more;
	qp->groups[qp->n_groups++] = *gid;
	return 0;
}

static void del_group(struct uroce_qp *qp, const union ibv_gid *gid)
{
	u32 i = find_group(qp, gid);

	if (i < qp->n_groups)
		qp->groups[i] = qp->groups[--qp->n_groups];
}

static int set_member(struct uroce_qp *qp, const union ibv_gid *gid,
		      bool attach)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_MCAST, .gid.index = attach}};
	int err = attach ? add_group(qp, gid) : 0;

	if (err)
		return err;
	memcpy(call.msg.gid.gid, gid->raw, sizeof(gid->raw));
	err = ur_engine_about(qp->engine, &call);
	if (attach ? err : !err)
		del_group(qp, gid);
	return err;
}

int ur_ectx_mcast(struct uroce_qp *qp, const union ibv_gid *gid, bool attach)
{
	struct uroce_context *ctx = ur_to_ctx(qp->ibv.context);
	int err;

	if (!ur_ectx_has(ctx, qp->engine))
		return EIO;
	if (!qp->engine)
		return 0;
	pthread_mutex_lock(&lock);
	err = set_member(qp, gid, attach);
	pthread_mutex_unlock(&lock);
	return err;
}

int ur_ectx_renew_groups(struct uroce_qp *qp, struct ibv_qp *made)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	for (u32 i = 0; !err && i < qp->n_groups; i++)
		err = ibv_cmd_attach_mcast(made, &qp->groups[i], 0);
	for (u32 i = 0; err && i < qp->n_groups; i++)
		ibv_cmd_detach_mcast(made, &qp->groups[i], 0);
	pthread_mutex_unlock(&lock);
	return err;
}
