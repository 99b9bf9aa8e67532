/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common part of all commands that make a queue pair. Control lock held. */
#ifndef UR_DEVICE_UVERBS_OBJ_QP_H
#define UR_DEVICE_UVERBS_OBJ_QP_H

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

struct ur_qp_args {
	u32 type, flags;
	u64 user_handle;
	struct ib_uverbs_qp_cap cap;
	bool sq_sig_all;
	struct ur_obj_pd *pd;
	struct ur_obj_xrcd *xrcd;
	struct ur_obj_cq *send_cq, *recv_cq;
	struct ur_obj_srq *srq;
	struct ur_obj_rwq_table *table;
	int event_fd;
	/* ur_qp_make() fills these. slot: of its engine. number: the QPN that it already
	 * has, or 0. */
	u32 slot;
	u32 number;
};

/* Checks the arguments, makes the queue pair and its object, in *ret, and sets
 * cmd->created. Returns 0 or -errno. */
int ur_qp_make(struct ur_cmd *cmd, struct ur_qp_args *a,
	       struct ur_obj_qp **ret);

/* qp_modify.c: modifies the queue pair as *r says, which sets no Q_Key; r->qp_handle is
 * ignored. rate_limit: kbit/s. Returns 0 or -errno. */
int ur_qp_modify_by(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		    const struct ib_uverbs_modify_qp *r, u32 rate_limit);

/* program_engine.c: parses the driver's part of a command that makes a queue pair of
 * a->type, and sets slot and number of *a. Returns 0, -EINVAL, or -EOPNOTSUPP: no engine. */
int ur_program_engine_qp(const struct ur_cmd *cmd, struct ur_qp_args *a);
/* Checks the flags UROCE_QP_F_* and the number of such a part. slot: of the engine; 0: there
 * is none. Returns as above. */
int ur_program_engine_flags(const struct ur_cmd *cmd, u32 slot, u32 flags,
			    u32 number);

/* Detaches the queue pair from its i-th multicast group, which stays in the
 * list (obj_mcast.c). Returns 0 or -errno. */
int ur_qp_leave(struct ur_obj_qp *qp, u32 i);

#if UROCE_WITH_RAW_PACKET
/* raw/obj_rwq_table.c: checks the driver's part of a command that makes a queue pair with
 * a->table. Returns 0, -EINVAL or -EOPNOTSUPP. */
int ur_rss_check(const struct ur_cmd *cmd, const struct ur_qp_args *a);
#else
static inline int ur_rss_check(const struct ur_cmd *cmd,
			       const struct ur_qp_args *a)
{
	return -EOPNOTSUPP;
}
#endif

#endif
