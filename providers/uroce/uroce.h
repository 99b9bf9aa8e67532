/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The provider's objects. Each begins with (or contains) the library's struct
 * for it; ur_to_*() goes from the library's pointer to ours. A function
 * uroce_<verb> implements ibv_<verb>: its arguments, result and errors are
 * those of the manual page.
 *
 * Return values of uroce_* functions are the verbs': 0 or positive errno, or a
 * pointer, NULL with errno set.
 */
#ifndef UR_PROVIDERS_UROCE_UROCE_H
#define UR_PROVIDERS_UROCE_UROCE_H

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "doorbell.h"
#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-engine.h"
#include "lock.h"
#include "pabi.h"
#include "ring.h"
#include "util/list.h"

struct uroce_device {
	struct verbs_device vdev;
};

#define UR_QP_TABLE 4096
_Static_assert(UR_QP_TABLE == 1 << 12, "each level takes 12 bits of a QPN");

struct uroce_context {
	/* The library's verbs_context ends with 'ibv'; where in 'front' it
	 * begins depends on the layout. */
	u64 front[UR_VCTX_FRONT / 8];
	struct ibv_context ibv;

	const struct ur_layout *layout;
	struct ur_doorbell db;
	size_t db_len;
	/* uroced's page of the uverbs file, or NULL */
	struct uroce_db_page *device_page;
	size_t device_page_len;
	u32 max_inline;
	u32 max_sge;
	u32 yield_after; /* empty polls in a row before yielding; 0: never */
	/* too few processors for polling without sleep: poller.h */
	bool few_cpus;
	u32 adverse; /* UROCE_ADVERSE_* that are in force */
	u32 adverse_seed;
	/* ectx_modify.c, from the device's last response: changes may reach
	 * uroced later (UROCE_CTX_F_LATE) */
	bool reports_late;
	u32 max_rd_atomic;
	/* ectx.h; NULL: in a child of fork that has no engine */
	const struct uroce_engine_ops *engine_ops;
	struct uroce_ectx *engine;
	int engine_fd; /* file of that engine's rings */
	u32 engine_slot;
	/* A region of the context was of GPU memory once (gpu.c). Atomic. */
	bool has_gpu;
	/* the engine is in an engine process: apart.h */
	bool engine_apart;
	/* the engine has the asynchronous event file */
	bool engine_async;
	struct ur_list engine_node; /* ectx_files.c */
	/* recoveries: how often the context moved to a next uroced; atomic */
	u32 recoveries;
	/* after a recovery: the first uverbs file, which the engine uses; else
	 * -1 */
	int first_cmd_fd;
	/* ectx_destroy_hint.c: the eventfd, or -1; and the number of hints so far, shifted behind
	 * the state of the last one; atomic. */
	int destroy_hint_fd;
	u64 destroy_hint;
	u32 hints; /* UROCE_HINTS_* that the device takes */
	/* ectx_shared.c: the shared engine, which contexts of several processes use, besides the
	 * context's own; NULL: none. The next fields are of the shared engine. regions: those that
	 * the context's own engine has. */
	struct uroce_ectx *shared;
	int shared_fd;
	u32 shared_slot;
	struct ur_doorbell shared_db;
	size_t shared_db_len;
	struct ur_list regions;
	pthread_mutex_t shares; /* guards the fields of the shared engine */
	/* ibv_import_device() opened it: its own engine is the shared one, with the file's regions of
	 * other processes, and ends with uroced's file */
	bool imported;
	/* In a child of fork whose parent has kept the engine: file and engine
	 * are the child's own, and objects may be the parent's
	 * (ur_ectx_owns()). */
	bool parted;
	pid_t owner; /* process with the engine */
	/* Serializes destruction of queues, which takes unread events back here
	 * and in the device. */
	pthread_mutex_t destroys;
	/* guards qp->owed of all queue pairs */
	pthread_mutex_t modifies;
	struct uroce_qp **qp_table[UR_QP_TABLE]; /* by QPN, for the pollers */
};

struct uroce_pd {
	struct ibv_pd ibv;
	u32 pdn;
	bool imported; /* it may end before what was made with it */
	/* Parent domains: the PD and the thread domain that it combines. */
	struct uroce_pd *contained;
	struct uroce_td *td;
	u32 refs;	/* parent domains that contain this PD; atomic */
	u32 objects;	/* made with it; atomic */
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
};

struct uroce_xrcd {
	struct verbs_xrcd vxrcd;
	/* number of the domain in the engine; 0: the context has no engine */
	u32 number;
	/* its target queue pairs and SRQs are in the shared engine */
	bool shared;
	int file; /* of a shared one, to open it in the next uroced; else -1 */
	u32 objects;	/* target queue pairs and SRQs; atomic */
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
};

struct uroce_td {
	struct ibv_td ibv;
	u32 refs; /* parent domains with this thread domain; atomic */
};

struct uroce_mr {
	struct verbs_mr vmr;
	struct uroce_pd *pd; /* ur_pd_get() */
	struct uroce_dm *dm; /* whose memory it is, or NULL */
	u64 locked;	     /* pages of ur_memlock_take() */
	/* list of regions whose memory is not at their I/O address */
	struct uroce_mr *next_moved;
	struct uroce_mr *next_gpu; /* gpu.c */
	u64 iova;
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
	/* uroced's handle, even if the program overwrites the one in ibv_mr; of
	 * a region in the engine of this process. */
	u32 handle;
	struct uroce_emr *engine, *shared;
	struct ur_list node; /* ctx->regions */
	struct uroce_emr_init engine_init;
	/* mapping of a dma-buf, for an engine in this process; with UROCE_EMR_DMABUF or _FILE in engine_init its
	 * descriptor, too, and the file that this is */
	void *map;
	size_t map_len;
	int dmabuf;
	dev_t dev;
	ino_t ino;
};

struct uroce_mw {
	struct ibv_mw ibv;
	struct uroce_pd *pd; /* ur_pd_get() */
	u32 handle;	     /* as uroce_mr.handle */
	struct uroce_emw *engine;
};

struct uroce_dm {
	struct verbs_dm vdm;
	u32 objects; /* regions of it; atomic */
	u8 *map;
	size_t map_len;
	size_t length;
	u32 recoveries; /* ctx->recoveries when uroced made it */
};

/* The client sets it in uroce_cqe.mark: the queue pair of this CQE is gone. */
#define UR_CQE_DEAD 0xd

/* Where the ring of a completion queue lies in its file. */
struct uroce_cq_layout {
	u64 map_off, map_len;
	u32 hdr_off, cqe_off, entries;
};

struct uroce_cq_ring {
	struct uroce_cq_hdr *hdr;
	struct uroce_cqe *cqes;
	u32 mask;  /* entries - 1 */
	u32 shift; /* log2(entries) */
	u32 cons;
	u32 last_qpn;
	struct uroce_qp *last_qp; /* of the last CQE, or NULL */
	void *map;
	size_t map_len;
};

struct uroce_cq {
	struct verbs_cq vcq;
	struct ur_lock lock; /* guards all rings */
	struct uroce_cq_ring ring;
	u32 arm_serial;
	u32 wc_flags;	       /* of create_cq_ex */
	struct uroce_cqe *cur; /* between start_poll and end_poll */
	struct uroce_ecq *engine;
	u32 handle;	/* as uroce_mr.handle */
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
	/* the shared engine's ring; NULL: none so far */
	struct uroce_cq_ring *shared_ring;
	struct uroce_ecq *shared;
	u32 flags, moderation; /* as given to the engine */
	/* number of queues in the shared engine; atomic */
	u32 shared_users;
	u32 turn;			/* which ring is polled first */
	struct uroce_cq_ring *cur_ring; /* cur's, if not NULL */
};

struct uroce_srq {
	struct verbs_srq vsrq;
	struct ur_rq rq;
	struct ur_doorbell db; /* copy */
	u32 db_slot;
	u32 srqn;
	bool shared;	/* as uroce_qp.shared */
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
	struct uroce_esrq *engine;
	struct ibv_pd *pd;     /* since ibv_srq.pd is NULL for XRC */
	struct uroce_pd *held; /* ur_pd_get() */
	u32 handle;	       /* as uroce_mr.handle */
	void *map;
	size_t map_len;
};

struct uroce_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
		u8 room[UR_VQP_ROOM]; /* the library's verbs_qp */
	};
	struct ur_sq sq;
	struct ur_rq rq;
	struct ur_doorbell db; /* copy: the fast path stays in this struct */
	u32 db_slot;
	u16 qpt_bit; /* UR_SENDS_* */
	bool sq_sig_all;
	bool shared; /* it is in the shared engine */
	/* enum ibv_qp_state as this process knows it; atomic, since posting
	 * reads it */
	u8 state;
	/* ectx_modify.c: enum ibv_qp_state that was not reported to uroced yet; 0: none. Guarded
	 * by ctx->modifies. */
	u8 owed;
	u32 max_send_sge;
	u32 max_inline;
	u32 ece_options;
	u32 recoveries; /* ctx->recoveries when uroced made it; atomic */
	u32 number;	/* number to request from uroced; 0: any */
	/* of an XRC target in an engine of this process */
	struct ibv_xrcd *xrcd;
	struct uroce_pd *pd; /* ur_pd_get() */
	struct uroce_eqp *engine;
	u32 handle; /* as uroce_mr.handle */
	/* multicast groups that it is attached to, if its engine is here */
	union ibv_gid *groups;
	u32 n_groups;
	struct uroce_spread *spread; /* or NULL */
	void *map;
	size_t map_len;

	/* The WQE under construction by ibv_wr_*, under sq.lock. */
	struct {
		u32 start_next; /* sq.next at ibv_wr_start */
		u32 start_head;
		u32 ds;	     /* 16-byte units so far; 0: none open */
		u32 data_ds; /* where the data segments go */
		int err;
	} wr;
};

/* Kinds of send queues, as a set: where a work request may be posted. */
#define UR_SENDS_RC  (1u << 0)
#define UR_SENDS_UC  (1u << 1)
#define UR_SENDS_UD  (1u << 2)
#define UR_SENDS_XRC (1u << 3) /* XRC_SEND */
#define UR_SENDS_RAW (1u << 4) /* RAW_PACKET */

/* ECE options this device knows: none so far. */
#define UR_ECE_OPTIONS 0u

/* A work queue: a queue pair that only receives, hidden from the program. */
struct uroce_wq {
	struct ibv_wq ibv;
	struct uroce_qp qp;
	u32 tables; /* number of tables that name it; atomic */
};

struct uroce_rwq_table {
	struct ibv_rwq_ind_table ibv;
	u32 recoveries; /* as uroce_qp.recoveries */
	u32 users;	/* number of queue pairs; atomic */
	u32 size;
	struct uroce_wq *wq[];
};

/* How a queue pair spreads its frames. */
struct uroce_spread {
	struct uroce_rwq_table *table;
	struct ibv_rx_hash_conf hash;
	u8 key[UROCE_RX_HASH_KEY_BYTES];
};

struct uroce_counters {
	struct verbs_counters vc;
	u32 recoveries; /* as uroce_qp.recoveries */
	u32 flows; /* number of flows in the engine of this process; atomic */
	u32 count; /* length of the program's array: last index + 1 */
	struct {
		bool wanted;
		u32 index;
	} at[IBV_COUNTER_BYTES + 1];
	/* counts of the engine in this process */
	struct uroce_eflow_counts here;
};

struct uroce_flow {
	struct ibv_flow ibv;
	struct uroce_eflow *engine;
	/* the counters that it counts into, or NULL */
	struct uroce_counters *counters;
};

struct uroce_ah {
	struct ibv_ah ibv;
	struct uroce_pd *pd; /* ur_pd_get() */
	u32 ah;
	struct uroce_eah *engine;
};

/* clang-format off */
#define UR_TO(name, type, lib_type, member)                                    \
	static inline struct type *name(const lib_type *p)                     \
	{                                                                      \
		return ur_container_of(p, struct type, member);                \
	}
UR_TO(ur_to_ctx, uroce_context, struct ibv_context, ibv)
UR_TO(ur_to_pd, uroce_pd, struct ibv_pd, ibv)
UR_TO(ur_to_xrcd, uroce_xrcd, struct ibv_xrcd, vxrcd.xrcd)
UR_TO(ur_to_td, uroce_td, struct ibv_td, ibv)
UR_TO(ur_to_mr, uroce_mr, struct verbs_mr, vmr)
UR_TO(ur_to_mw, uroce_mw, struct ibv_mw, ibv)
UR_TO(ur_to_dm, uroce_dm, struct ibv_dm, vdm.dm)
UR_TO(ur_to_cq, uroce_cq, struct ibv_cq, vcq.cq)
UR_TO(ur_to_cq_ex, uroce_cq, struct ibv_cq_ex, vcq.cq_ex)
UR_TO(ur_to_srq, uroce_srq, struct ibv_srq, vsrq.srq)
UR_TO(ur_to_qp, uroce_qp, struct ibv_qp, ibv)
UR_TO(ur_to_qp_ex, uroce_qp, struct ibv_qp_ex, ex)
UR_TO(ur_to_ah, uroce_ah, struct ibv_ah, ibv)
UR_TO(ur_to_wq, uroce_wq, struct ibv_wq, ibv)
UR_TO(ur_to_rwq_table, uroce_rwq_table, struct ibv_rwq_ind_table, ibv)
UR_TO(ur_to_counters, uroce_counters, struct ibv_counters, vc.counters)
UR_TO(ur_to_flow, uroce_flow, struct ibv_flow, ibv)
/* clang-format on */

/* Returns whether the object in the engine, or NULL, is not that of a parent of this process. */
static inline bool ur_ectx_owns(const struct uroce_context *ctx,
				const void *object)
{
	const struct uroce_ectx *of;

	if (__builtin_expect(!ctx->parted, 1) || !object)
		return true;
	memcpy(&of, object, sizeof(of));
	return of == ctx->engine || of == ctx->shared;
}

/* Returns whether the queue is in an engine that is not this process's: that of its parent. */
static inline bool ur_cq_is_dead(const struct uroce_context *ctx,
				 const struct uroce_cq *cq)
{
	return cq->engine && (ur_doorbell_is_dead(&ctx->db) ||
			      !ur_ectx_owns(ctx, cq->engine));
}

/* Returns the number of the address handle for work requests; one that names none
 * for a handle of this process's parent. */
static inline u32 ur_ah_number(const struct ibv_ah *ah)
{
	const struct uroce_ah *a = ur_to_ah(ah);

	return ur_ectx_owns(ur_to_ctx(ah->context), a->engine) ? a->ah
							       : UINT32_MAX;
}

/* Returns the verbs_context of a context, for the library's functions. */
static inline void *ur_vctx(struct uroce_context *ctx)
{
	return (char *)&ctx->ibv - ctx->layout->context_off;
}

/* ---- mapping.c ---- */

/* A file of mappings: that of the context's engine, the uverbs file, or that of the shared
 * engine. */
enum ur_whose { UR_OF_HERE, UR_OF_DEVICE, UR_OF_SHARED };

/* Map len bytes at off of that file; ur_map() maps UR_OF_HERE. Return NULL with errno set. */
void *ur_map(struct ibv_context *context, u64 off, u64 len);
void *ur_map_at(struct ibv_context *context, enum ur_whose whose, u64 off,
		u64 len);
/* Unmaps what ur_map() or ur_map_at() returned, or a mapping of the caller's.
 * map may be NULL. */
void ur_unmap(void *map, u64 len);
/* Ends the windows of a context that is freed. ur_unmap() still unmaps what is
 * left. */
void ur_map_end(const struct uroce_context *ctx);

/* ---- uroce.c ---- */

/* context.c: gives GET_CONTEXT on the context's file. Returns 0 or an errno. */
int ur_context_get(struct uroce_context *ctx,
		   const struct uroce_alloc_ucontext_req *asked,
		   struct uroce_alloc_ucontext_resp *got);
/* Takes its answer, after ur_ectx_open(). asked NULL: no settings were requested. Returns 0 or an errno. */
int ur_context_begin(struct uroce_context *ctx,
		     const struct uroce_alloc_ucontext_req *asked,
		     const struct uroce_alloc_ucontext_resp *got);
/* All operations by enum ur_op; NULL: not supported. */
extern void *const ur_ops[UR_OP_COUNT];
/* Offset of comp_mask in the library's verbs_qp, found by a probe. */
extern u32 ur_vqp_tail;
/* Prepares the provider for a private ABI. Returns what the glue's constructor,
 * which calls this once, registers with the library. */
const struct verbs_device_ops *ur_provider_init(enum ur_pabi pabi);
void uroce_free_context(struct ibv_context *context);

/* ---- device.c ---- */
int uroce_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
int uroce_query_port(struct ibv_context *context, uint8_t port,
		     struct ibv_port_attr *attr);
/* In units of 100 Mbit/s. */
int uroce_query_port_speed(struct ibv_context *context, uint32_t port,
			   uint64_t *speed);
int uroce_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values);

/* Frees the memory of an object that cannot be made, or NULL. Returns NULL with errno err. */
static inline void *ur_fail(void *object, int err)
{
	free(object);
	errno = err;
	return NULL;
}

/* ---- pd.c ---- */
struct ibv_pd *uroce_alloc_pd(struct ibv_context *context);
int uroce_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *
uroce_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr);
struct ibv_td *uroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr);
int uroce_dealloc_td(struct ibv_td *td);
struct ibv_pd *uroce_import_pd(struct ibv_context *context, uint32_t handle);
void uroce_unimport_pd(struct ibv_pd *pd);
/* Returns ENOENT, also in errno, for a handle that names no object of that
 * kind, as the kernel's command does. */
static inline int ur_unknown_handle(void)
{
	return errno = ENOENT;
}

/* pd.c: counts an object made with the domain. Returns the domain for ur_pd_put(); NULL: an imported
 * one, which may end first. */
struct uroce_pd *ur_pd_get(struct ibv_pd *pd);
void ur_pd_put(struct uroce_pd *pd); /* or NULL */

static inline void ur_xrcd_count(struct ibv_xrcd *xrcd, u32 n) /* or NULL */
{
	if (xrcd)
		__atomic_add_fetch(&ur_to_xrcd(xrcd)->objects, n,
				   __ATOMIC_RELAXED);
}

/* Returns whether queues made with this PD belong to one thread. */
static inline bool ur_pd_single_threaded(const struct ibv_pd *pd)
{
	return pd && ur_to_pd(pd)->td;
}

/* ---- mr.c, mw.c, dm.c ---- */
struct ibv_mr *uroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *uroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
struct ibv_mr *uroce_reg_mr_ex(struct ibv_pd *pd,
			       const struct ur_mr_init_attr *attr);
struct ibv_mr *uroce_alloc_null_mr(struct ibv_pd *pd);
/* mr_cmd.c: give the commands, also for a region that an earlier uroced made. ur_cmd_reg_mr() fills
 * *vmr, ur_cmd_rereg_mr() leaves the keys as they are. Return 0 or an errno. */
int ur_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, u64 iova,
		  int access, const struct uroce_reg_mr_req *drv,
		  struct verbs_mr *vmr);
int ur_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		    void *addr, size_t length, int access,
		    const struct uroce_reg_mr_req *drv);
int uroce_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int uroce_dereg_mr(struct verbs_mr *vmr);
/* gpu.c: add the region of GPU memory to the context, before its first request, or remove it. Any
 * thread. */
void ur_gpu_add(struct uroce_mr *mr);
void ur_gpu_del(const struct uroce_mr *mr);
/* Returns whether the range touches a region of GPU memory of the context. */
bool ur_gpu_has(const struct ibv_context *context, u64 addr, u64 length);
/* advise.c: remembers an on-demand region whose memory is not at iova. Any
 * thread. */
void ur_mr_moved(struct uroce_mr *mr, u64 iova);
/* Forgets the region, if ur_mr_moved() remembered it. Any thread. */
void ur_mr_forget(struct uroce_mr *mr);
int uroce_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge);
struct ibv_mr *uroce_import_mr(struct ibv_pd *pd, uint32_t handle);
void uroce_unimport_mr(struct ibv_mr *mr);
struct ibv_mw *uroce_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int uroce_dealloc_mw(struct ibv_mw *mw);
int uroce_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind);
struct ibv_dm *uroce_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr);
int uroce_free_dm(struct ibv_dm *dm);
struct ibv_mr *uroce_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t offset, size_t length,
			       unsigned int access);
struct ibv_dm *uroce_import_dm(struct ibv_context *context, uint32_t handle);
void uroce_unimport_dm(struct ibv_dm *dm);

/* ---- cq.c, poll.c ---- */
struct ibv_cq *uroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *uroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr);
int uroce_resize_cq(struct ibv_cq *cq, int cqe);
int uroce_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int uroce_destroy_cq(struct ibv_cq *cq);
int uroce_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int uroce_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Makes the queue deliver no more completions of that queue pair. cq may be
 * NULL. */
void ur_cq_forget_qp(struct ibv_cq *cq, u32 qpn);
/* Sets the polling methods of the queue for the fields that wc_flags asks
 * for. */
void ur_cq_set_methods(struct uroce_cq *cq, u32 wc_flags);
/* cq_map.c: map the ring with that layout in place of the present map.
 * ur_cq_move_ring() also copies what this process wrote into the old ring.
 * Return 0, EPROTO or ENOMEM. */
int ur_cq_ring_map(struct ibv_context *context, enum ur_whose whose,
		   const struct uroce_cq_layout *layout,
		   struct uroce_cq_ring *ring);
int ur_cq_move_ring(const struct uroce_cq *cq, enum ur_whose whose,
		    const struct uroce_cq_layout *layout,
		    struct uroce_cq_ring *ring);
/* Maps the ring that the shared engine made for the queue, and arms it as
 * the own one is. Lock held. Returns 0 or an errno. */
int ur_cq_add_shared_ring(struct uroce_cq *cq,
			  const struct uroce_cq_layout *layout);
/* Unmaps that ring, if there is one. */
void ur_cq_end_shared_ring(struct uroce_cq *cq);

/* ---- qp.c, qp_cmd.c, qp_map.c, send.c, wr.c, recv.c ---- */
/* qp_cmd.c: give the commands, and nothing else. Return 0 or an errno. */
int ur_qp_cmd_create(struct ibv_context *context, struct uroce_qp *qp,
		     struct ibv_qp_init_attr_ex *attr,
		     struct uroce_create_qp_resp *drv);
/* raw/wq_cmd.c: give the commands of a work queue and of a table. */
int ur_wq_cmd_create(struct ibv_context *context, struct uroce_wq *wq,
		     struct ibv_wq_init_attr *attr,
		     struct uroce_create_qp_resp *drv);
int ur_rwq_table_cmd_create(struct ibv_context *context,
			    struct uroce_rwq_table *table);
int ur_qp_cmd_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int ur_qp_cmd_open(struct ibv_context *context, struct uroce_qp *qp,
		   struct ibv_qp_open_attr *attr);
/* Maps the rings of the response. Returns 0; or EPROTO or ENOMEM, with nothing
 * mapped. */
int ur_qp_map(struct ibv_context *context, struct uroce_qp *qp,
	      const struct uroce_create_qp_resp *resp);
/* Unmaps the rings. */
void ur_qp_unmap(struct uroce_qp *qp);
/* Forgets requests that were posted and not polled, which the device has
 * dropped (RESET). */
void ur_qp_drop_posted(struct uroce_qp *qp);
/* Puts a queue pair where pollers find it, or takes it out (qp NULL). Returns 0
 * or ENOMEM. */
int ur_qp_table_set(struct uroce_context *ctx, u32 qpn, struct uroce_qp *qp);
/* Returns the queue pair with that number, or NULL. */
static inline struct uroce_qp *ur_qp_table_get(struct uroce_context *ctx,
					       u32 qpn)
{
	struct uroce_qp **page =
		__atomic_load_n(&ctx->qp_table[qpn >> 12 & (UR_QP_TABLE - 1)],
				__ATOMIC_ACQUIRE);

	return page ? __atomic_load_n(&page[qpn & (UR_QP_TABLE - 1)],
				      __ATOMIC_ACQUIRE)
		    : NULL;
}
struct ibv_qp *uroce_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *uroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *uroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr);
int uroce_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr);
int uroce_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int uroce_modify_qp_rate_limit(struct ibv_qp *qp,
			       struct ibv_qp_rate_limit_attr *rate);
int uroce_destroy_qp(struct ibv_qp *qp);
int uroce_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
				 uint32_t flags);
int uroce_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int uroce_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int uroce_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid);
int uroce_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid);
int uroce_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
int uroce_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
/* Sets the ibv_wr_* methods of the queue pair. Returns 0, or EOPNOTSUPP for an
 * operation that its transport or this library cannot have. */
int ur_qp_set_wr_methods(struct uroce_qp *qp, u64 send_ops);
/* Returns the state as far as this process knows it. */
static inline u8 ur_qp_state(const struct uroce_qp *qp)
{
	return __atomic_load_n(&qp->state, __ATOMIC_RELAXED);
}

/* Returns 0 where the state allows posting a send, else the errno of the
 * verb. */
static inline int ur_qp_send_state(const struct uroce_qp *qp)
{
	if (ur_doorbell_is_dead(&qp->db))
		return EIO;
	return ur_qp_state(qp) < IBV_QPS_RTS ? EINVAL : 0;
}

/* Posts to the receive queue without a check of the state. */
int ur_post_recv(struct uroce_qp *qp, struct ibv_recv_wr *wr,
		 struct ibv_recv_wr **bad_wr);

/* ---- raw/wq.c ---- */
struct ibv_wq *uroce_create_wq(struct ibv_context *context,
			       struct ibv_wq_init_attr *attr);
int uroce_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int uroce_destroy_wq(struct ibv_wq *wq);
struct ibv_rwq_ind_table *
uroce_create_rwq_ind_table(struct ibv_context *context,
			   struct ibv_rwq_ind_table_init_attr *attr);
int uroce_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

/* ---- srq.c, ah.c, xrcd.c, raw/counters.c, raw/flow.c ---- */
struct ibv_srq *uroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *uroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr);
int uroce_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int uroce_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int uroce_destroy_srq(struct ibv_srq *srq);
int uroce_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int uroce_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);
struct ibv_ah *uroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int uroce_destroy_ah(struct ibv_ah *ah);
struct ibv_xrcd *uroce_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr);
int uroce_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_counters *uroce_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr);
int uroce_destroy_counters(struct ibv_counters *counters);
int uroce_read_counters(struct ibv_counters *counters, uint64_t *values,
			uint32_t count, uint32_t flags);
int uroce_attach_counters_point_flow(struct ibv_counters *counters,
				     struct ibv_counter_attach_attr *attr,
				     struct ibv_flow *flow);
struct ibv_flow *uroce_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr);
int uroce_destroy_flow(struct ibv_flow *flow);

#endif
