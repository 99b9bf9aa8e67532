/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The context of a queue pair: its number, sizes and attributes, as control knows them. The engine
 * that carries its packets is in a program or in an engine process, which shows its present state,
 * counters and failures in memory (engine/engine_grant.h). A work queue has one, too.
 *
 * Control lock held.
 */
#ifndef UR_DEVICE_UVERBS_QPC_H
#define UR_DEVICE_UVERBS_QPC_H

#include "engine/engine.h"

struct ur_device;
struct ur_obj_qp;

struct ur_qpc {
	struct ur_device *dev;
	u32 qpn;
	enum ur_qp_type type;
	struct ur_qp_caps caps; /* as granted */
	bool sq_sig_all;
	/* As set by commands; av is NULL. */
	struct ur_qp_attr attr;
	bool have_path;
	struct ur_epath path;
	struct ur_obj_qp *
		owner; /* NULL: a work queue, or a target that nobody has open */
};

struct ur_qpc_init {
	enum ur_qp_type type;
	u32 slot;   /* of its engine, not 0 */
	u32 number; /* that the program has for it; 0: a new one */
	bool has_srq;
	struct ur_qp_caps caps;
	bool sq_sig_all;
	struct ur_obj_qp *owner; /* or NULL */
};

/* Makes the context, in RESET, in *qpc. Returns 0, -EINVAL (more than the device gives), -EEXIST
 * (the number is in use) or -ENOMEM. */
int ur_qpc_create(struct ur_device *dev, const struct ur_qpc_init *init,
		  struct ur_qpc **qpc);
void ur_qpc_destroy(struct ur_qpc *qpc);
/* Modifies it as MODIFY_QP does; mask: UR_QP_ATTR_*. attr->av is ignored; path must not be NULL
 * where mask has UR_QP_ATTR_AV. Returns 0, -EINVAL, or -errno where the path leads nowhere. */
int ur_qpc_modify(struct ur_qpc *qpc, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask);
/* Fills *attr with the attributes, and with the state as its program shows it. */
void ur_qpc_look(const struct ur_qpc *qpc, struct ur_qp_attr *attr);
/* Fills *to for its engine. peer_slot is 0. */
void ur_qpc_describe(const struct ur_qpc *qpc, struct uroce_engine_qp *to);
/* Fills values with UR_QP_CNT_COUNT counters. */
void ur_qpc_counters(const struct ur_qpc *qpc, u64 *values);

/* Returns the owner of the queue pair with that number, or NULL. */
struct ur_obj_qp *ur_qpc_owner(const struct ur_device *dev, u32 qpn);

#endif
