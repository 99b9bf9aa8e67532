/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects by type; the handlers are in the files of the same names. Control lock held. */
#ifndef UR_DEVICE_UVERBS_OBJECTS_H
#define UR_DEVICE_UVERBS_OBJECTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include "device/session.h"
#include "device/uverbs/object.h"
#include "device/uverbs/qpc.h"

struct ur_obj_pd {
	struct ur_object obj;
	u32 pdn; /* of the device */
};

/* Event files, found by the identity of the descriptor that a command names. */
struct ur_obj_chan {
	struct ur_object obj;
	int tx, rx; /* ends of the socket pair; rx is the client's */
	struct ur_file_id id;
	bool closed; /* freed with its last user */
};

struct ur_obj_async {
	struct ur_object obj;
	int tx, rx; /* as of a channel */
	struct ur_file_id id;
	bool closed;
};

struct ur_obj_cq {
	struct ur_object obj;
	struct ur_obj_chan *chan;
	struct ur_obj_async *async;
	u32 entries;
};

struct ur_shared_engine;

/* An XRC domain, shared by the files that opened it with the same inode. */
struct ur_xrcd {
	struct ur_list node; /* of the daemon */
	struct ur_device *dev;
	struct ur_loop *loop; /* the device may be freed before the file */
	struct ur_file_id id;
	bool shared; /* has an inode; fd keeps the inode from being reused */
	int fd;
	uid_t uid; /* charged for fd */
	struct ur_loop_after after;
	u32 number;
	/* The shared engine that has all objects of the domain, under home_number; NULL: the
	 * engine of its only file. */
	struct ur_shared_engine *home;
	u32 home_number;
	u32 refs;
	struct ur_list targets; /* struct ur_xrc_target */
};

struct ur_obj_xrcd {
	struct ur_object obj;
	struct ur_xrcd *xrcd;
};

/* An XRC target QP. It exists as long as a queue pair object has it open. */
struct ur_xrc_target {
	struct ur_list node;
	struct ur_qpc *qpc;
	u32 openers;
	struct ur_list
		opened; /* struct ur_obj_qp; the first one is its owner */
};

struct ur_obj_srq {
	struct ur_object obj;
	struct ur_obj_pd *pd;
	struct ur_obj_cq *cq;	  /* XRC */
	struct ur_obj_xrcd *xrcd; /* XRC */
	struct ur_obj_async *async;
	u32 srqn;
	u32 max_wr, max_sge, limit;
};

#define UR_QP_MAX_MCAST 64

struct ur_obj_qp {
	struct ur_object obj;
	enum ur_qp_type type;
	struct ur_qpc *qpc;
	struct ur_obj_pd *pd;
	struct ur_obj_cq *send_cq, *recv_cq;
	struct ur_obj_srq *srq;
	struct ur_obj_rwq_table *table; /* RSS: its frames go to work queues */
	struct ur_obj_xrcd *xrcd;
	struct ur_xrc_target *target;
	struct ur_list opener; /* of target->opened */
	struct ur_obj_async *async;
	u32 create_flags;
	u32 n_mcast;
	u8 mcast[UR_QP_MAX_MCAST][16];
};

/* A work queue. Indirection tables name work queues; queue pairs name tables. */
struct ur_obj_wq {
	struct ur_object obj;
	struct ur_qpc *qpc;
	enum ur_wq_state state;
	struct ur_obj_pd *pd;
	struct ur_obj_cq *cq;
	struct ur_obj_async *async;
};

struct ur_obj_rwq_table {
	struct ur_object obj;
	u32 size; /* a power of two */
	struct ur_obj_wq *wq[UR_RSS_TABLE_MAX];
};

/* A range of a client's memory, as registered. */
struct ur_mr_place {
	u64 addr, length, iova;
	u32 access;		 /* enum ib_uverbs_access_flags */
	struct ur_user_mem *mem; /* its process's; an object has a reference */
	bool on_demand;		 /* its pages need not be there */
	bool implicit;		 /* the whole address space */
	bool null;
	bool file; /* of a file that the client named, or of device memory */
	bool elsewhere; /* only its engine reaches it */
	bool seen; /* its engine's process has seen that its pages are there */
};

struct ur_obj_mr {
	struct ur_object obj;
	u32 key;
	struct ur_obj_pd *pd;
	struct ur_obj_dm *dm;
	struct ur_mr_place range;
};

struct ur_obj_mw {
	struct ur_object obj;
	u32 rkey;
	struct ur_obj_pd *pd;
};

struct ur_obj_ah {
	struct ur_object obj;
	struct ur_epath path;
	struct ur_obj_pd *pd;
};

struct ur_obj_dm {
	struct ur_object obj;
	struct uroce_alloc_dm_resp map;
	u64 length;
};

struct ur_obj_counters {
	struct ur_object obj;
};

struct ur_obj_flow {
	struct ur_object obj;
	struct uroce_engine_flow asked; /* the rule for the program's engine */
	struct ur_obj_qp *qp;
	struct ur_obj_counters *counters;
};

/* Downcasts: ur_obj_qp_of() and its like return the object as its type, and NULL for NULL.
 * The caller has checked the type of an object from a table. */
#define UR_OBJECT_KINDS(X)                      \
	X(pd, UVERBS_OBJECT_PD)                 \
	X(chan, UVERBS_OBJECT_COMP_CHANNEL)     \
	X(async, UVERBS_OBJECT_ASYNC_EVENT)     \
	X(cq, UVERBS_OBJECT_CQ)                 \
	X(xrcd, UVERBS_OBJECT_XRCD)             \
	X(srq, UVERBS_OBJECT_SRQ)               \
	X(qp, UVERBS_OBJECT_QP)                 \
	X(wq, UVERBS_OBJECT_WQ)                 \
	X(rwq_table, UVERBS_OBJECT_RWQ_IND_TBL) \
	X(mr, UVERBS_OBJECT_MR)                 \
	X(mw, UVERBS_OBJECT_MW)                 \
	X(ah, UVERBS_OBJECT_AH)                 \
	X(dm, UVERBS_OBJECT_DM)                 \
	X(counters, UVERBS_OBJECT_COUNTERS)     \
	X(flow, UVERBS_OBJECT_FLOW)
#define X(kind, type_id)                                        \
	_Static_assert(!offsetof(struct ur_obj_##kind, obj),    \
		       "it begins with its object");            \
	static inline struct ur_obj_##kind *ur_obj_##kind##_of( \
		const struct ur_object *obj)                    \
	{                                                       \
		ur_assert(!obj || obj->type->id == (type_id));  \
		return (struct ur_obj_##kind *)(uintptr_t)obj;  \
	}
UR_OBJECT_KINDS(X)
#undef X

/* Called when the client has closed its last descriptor. Frees the object now, or with its
 * last user. */
void ur_chan_closed(struct ur_obj_chan *chan);
void ur_async_closed(struct ur_obj_async *async);
/* Drop a use of an event file. The last drop frees a closed file. */
void ur_chan_put(struct ur_obj_chan *chan);
void ur_async_put(struct ur_obj_async *async);

/* Finds the completion channel with that descriptor number in the client, by an upcall, in
 * *chan. Returns 0, or -EBADF if it is no channel of this file. */
int ur_chan_from_fd(struct ur_ufile *file, int number,
		    struct ur_obj_chan **chan);
/* Does the same for a file of asynchronous events, and adds a user. number -1: the default
 * file; *async is NULL if there is none. */
int ur_async_from_fd(struct ur_ufile *file, int number,
		     struct ur_obj_async **async);
/* Makes a file of asynchronous events, in *async. *fd gets the client's end, which stays
 * the engine's. Returns 0 or -errno. */
int ur_async_new(struct ur_ufile *file, struct ur_obj_async **async, int *fd);

/* Sends an event that belongs to no object: the port or the device. It is lost where the client has
 * let its socket run full. */
void ur_async_push(const struct ur_obj_async *async, u64 element, u32 type);

/* Returns whether the device supports raw packet queue pairs. */
static inline bool ur_has_raw(const struct ur_device *dev)
{
	return dev->daemon->raw_ethernet && dev->ethernet;
}

/* Gives a region or window its key. Its upper 24 bits are its number in dev->keys, the program may change the lowest
 * 8 of a window's. Returns 0 or -ENOMEM. */
static inline int ur_key_new(struct ur_device *dev, struct ur_object *obj,
			     u32 *key)
{
	u32 id;
	int err = ur_table_add(&dev->keys, obj, &id);

	if (!err)
		*key = id << 8 | (u8)ur_secret_u64(&dev->secret);
	return err;
}

/* addressing, obj_ah.c */
struct ib_uverbs_ah_attr;
/* Checks attr against the GID table and makes *path from it. Returns 0 or -EINVAL. */
int ur_path_from_ah(struct ur_device *dev, const struct ib_uverbs_ah_attr *attr,
		    struct ur_epath *path);

/* Returns the queue pair with that handle, or NULL. For the connection manager. */
static inline struct ur_obj_qp *ur_qp_get(struct ur_ufile *file, u32 handle)
{
	return ur_object_get(file, UVERBS_OBJECT_QP, handle);
}

#endif
