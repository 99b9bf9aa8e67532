/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queues of the engine; a part of engine.h, which has the rules for threads and
 * results. */
#ifndef UR_ENGINE_ENGINE_QUEUES_H
#define UR_ENGINE_ENGINE_QUEUES_H

#include "engine/engine.h"

/* ---- completion queues ---- */

struct ur_ecq_init {
	u32 entries; /* at least this many; >= 1, checked by the caller */
	u64 user_handle;
	struct ur_echan *chan;	 /* or NULL */
	struct ur_easync *async; /* or NULL */
	u32 flags;		 /* enum ib_uverbs_ex_create_cq_flags */
};

/* Makes a completion queue in *cq. *resp: the place of its ring, likewise for the other queues.
 * Returns 0, -EINVAL (more entries than the device supports) or -ENOMEM. */
int ur_ecq_create(struct ur_ectx *ectx, const struct ur_ecq_init *init,
		  struct ur_ecq **cq, struct uroce_create_cq_resp *resp);
/* Gives the queue a new ring of at least so many entries; *resp as above.
 * Returns 0, -EINVAL (fewer than there are CQEs to read) or -ENOMEM. */
int ur_ecq_resize(struct ur_ecq *cq, u32 entries,
		  struct uroce_resize_cq_resp *resp);
/* Sets the moderation: an event comes after count CQEs or period_us
 * microseconds. */
int ur_ecq_modify(struct ur_ecq *cq, u16 count, u16 period_us);
/* Destroys the queue. *comp and *async: its events that may be unread. Returns 0, or -EBUSY while
 * queue pairs or SRQs use it. */
int ur_ecq_destroy(struct ur_ecq *cq, struct ur_events_left *comp,
		   struct ur_events_left *async);

/* ---- shared receive queues ---- */

struct ur_esrq_init {
	u32 pd;
	u32 max_wr, max_sge;
	bool xrc;
	u32 xrcd;	   /* when xrc */
	u32 srqn;	   /* as of struct ur_srq_attr */
	struct ur_ecq *cq; /* when xrc */
	u64 user_handle;
	struct ur_easync *async; /* or NULL */
};

/* Makes a shared receive queue in *srq. Returns 0, -EINVAL (more than the device supports), or as
 * ur_srq_create(). */
int ur_esrq_create(struct ur_ectx *ectx, const struct ur_esrq_init *init,
		   struct ur_esrq **srq, struct uroce_create_srq_resp *resp);
/* Gives it a new ring of at least max_wr receives, and moves the posted receives there. Returns 0,
 * -EINVAL or -ENOMEM. */
int ur_esrq_resize(struct ur_esrq *srq, u32 max_wr,
		   struct uroce_create_srq_resp *resp);
/* Sets the limit: one event comes when fewer receives are left. 0: none.
 * Returns 0 or -EINVAL. */
int ur_esrq_set_limit(struct ur_esrq *srq, u32 limit);
/* Returns the limit; 0: none. */
u32 ur_esrq_limit(const struct ur_esrq *srq);
/* Destroys it. *async: its events that may be unread. Returns 0, or -EBUSY while queue pairs use it. */
int ur_esrq_destroy(struct ur_esrq *srq, struct ur_events_left *async);

/* ---- queue pairs ---- */

struct ur_qp_caps {
	u32 max_send_wr, max_recv_wr;
	u32 max_send_sge, max_recv_sge;
	u32 max_inline;
};

/* Raises *caps to what a queue pair gets: at least one element in a work request, and the inline
 * data that fits in its WQEs. Pure; any thread. Returns 0, or -EINVAL beyond the device's limits. */
int ur_qp_caps_grant(enum ur_qp_type type, bool has_srq,
		     struct ur_qp_caps *caps);

struct ur_eqp_init {
	enum ur_qp_type type;
	u32 pd;
	struct ur_qp_caps caps; /* raised to what it gets */
	bool sq_sig_all;
	struct ur_ecq *send_cq, *recv_cq; /* NULL: XRC_TGT has none */
	struct ur_esrq *srq;		  /* or NULL */
	u32 xrcd;			  /* XRC_TGT */
	u64 user_handle;
	struct ur_easync *async; /* or NULL */
	u32 realm;		 /* as of struct ur_qp_init */
	void *owner;		 /* for ur_engine_qp_owner(); or NULL */
	bool block_self_mcast;
	u32 qpn; /* assigned by control; 0: one of the engine's */
	bool wq; /* RAW_PACKET, and its only event is UR_EVENT_WQ_FATAL */
};

/* Makes a queue pair in *qp, with its rings in ectx. *resp: their places; zero for an XRC_TGT, which
 * has no rings. Raises init->caps. An XRC_TGT may outlive ectx, since it refers to nothing there.
 * Returns 0, -EINVAL or -ENOMEM. */
int ur_eqp_create(struct ur_ectx *ectx, struct ur_eqp_init *init,
		  struct ur_eqp **qp, struct uroce_create_qp_resp *resp);
/* Returns as ur_qp_may_modify(). This and ur_eqp_modify() ignore attributes that an XRC_INI or an XRC_TGT
 * does not have, as the kernel does: programs set the attributes of RC on both. */
int ur_eqp_may_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		      u32 mask);
/* Modifies the queue pair as ur_qp_modify() does. mask: UR_QP_ATTR_*. attr->av
 * is ignored; path must not be NULL where mask has UR_QP_ATTR_AV. Returns 0,
 * -EINVAL, or -errno if the path leads nowhere. */
int ur_eqp_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask);
/* Describes a queue pair by its attributes and its path (or NULL) in *to; other fields are 0. Pure; any thread. */
void ur_qp_describe(const struct ur_qp_attr *attr, const struct ur_epath *path,
		    struct uroce_engine_qp *to);
/* Describes the queue pair in *to. peer_slot is 0: only the device knows it. */
void ur_eqp_describe(struct ur_eqp *qp, struct uroce_engine_qp *to);
/* Returns the owner of the queue pair with that number, or NULL. */
void *ur_engine_qp_owner(struct ur_engine *engine, u32 qpn);
/* Destroys the queue pair. *async: its events that may be unread. Returns 0, or -EBUSY while it is
 * attached to multicast groups. */
int ur_eqp_destroy(struct ur_eqp *qp, struct ur_events_left *async);
/* Attaches the queue pair to a group, or detaches it. Returns as
 * ur_mcast_attach() and ur_mcast_detach(), or -errno of the wire. */
int ur_eqp_mcast(struct ur_eqp *qp, const u8 *gid, bool attach);

/* Adds another opener of an XRC_TGT queue pair, in *ref, whose async gets its
 * events too. Returns 0 or -ENOMEM. */
int ur_eqp_open(struct ur_eqp *qp, struct ur_easync *async, u64 user_handle,
		struct ur_eqp_ref **ref);
/* Removes an opener; the queue pair stays. *async: the opener's events that may be unread. */
void ur_eqp_close(struct ur_eqp_ref *ref, struct ur_events_left *async);

#endif
