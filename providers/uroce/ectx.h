/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Contexts whose engine is in this process, or in an engine process (kernel-abi/uroce-engine.h):
 * ctx->engine, which is NULL only while a child of fork changes to an engine of its own (ectx_part.c). uroced executes
 * all commands first; then the provider creates the same object in the engine.
 *
 * Some objects use another engine in any context. What receives in the XRC domain of a file, which other programs may
 * open, and all of an imported context, uses the shared engine in the user's engine process (ectx_shared.c). A child of
 * fork beside its parent gets a file and an engine of its own (ectx_part.c).
 *
 * Functions return 0 or a positive errno. Any thread may call them; the verbs' rules for objects
 * hold.
 */
#ifndef UR_PROVIDERS_UROCE_ECTX_H
#define UR_PROVIDERS_UROCE_ECTX_H

#include "apart.h"
#include "uroce.h"

/* Gives a new context an engine, and puts the offset of its doorbell page into *resp. It is in an
 * engine process if the device or UROCE_ENGINE=apart wants it there, or this process cannot run one (no
 * library or thread, few descriptors, a limit of file sizes, or a system call filter). With
 * UROCE_ENGINE=process, errors but these are returned. EBUSY: no slot is left. EINVAL: UROCE_ENGINE has
 * an unknown value. */
int ur_ectx_open(struct uroce_context *ctx,
		 struct uroce_alloc_ucontext_resp *resp);
/* Gives an imported context a place in the shared engine. EPERM: the file is another user's. EINVAL: its
 * opener has ended, and it had no import so far. EOPNOTSUPP: it is a file of a child of fork, or of the next
 * uroced, or has no engine, or nobody may read the memory of this process. */
int ur_ectx_open_import(struct uroce_context *ctx,
			struct uroce_alloc_ucontext_resp *resp);
/* Calls an ioctl method with at most one input attribute and one output attribute. */
#define UR_ECTX_NO_IN 0xffff
int ur_ectx_call(struct ibv_context *context, u16 object, u16 method, u16 in_id,
		 u32 in_len, u64 in, u16 out_id, void *out, u16 out_len);
/* Ends the engine of the context. No object of it is used any more. */
void ur_ectx_close(struct uroce_context *ctx);

/* Called before the context gives a command or creates its first object: from now on it must
 * survive a restart of uroced. */
void ur_ectx_begin(struct uroce_context *ctx);
/* Calls ur_ectx_begin() and gives the engine the asynchronous event file, once. */
int ur_ectx_set_async(struct uroce_context *ctx);

/* Create in the engine the object that uroced has just created, and put the offsets of its rings
 * into *resp. */
int ur_ectx_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		      const struct ibv_comp_channel *channel, u32 flags,
		      struct uroce_create_cq_resp *resp);
/* Resizes the engine's ring to the entries that uroced put into *resp, and puts the ring's offset
 * there. */
int ur_ectx_resize_cq(struct uroce_cq *cq, struct uroce_resize_cq_resp *resp);
int ur_ectx_modify_cq(struct uroce_cq *cq,
		      const struct ibv_modify_cq_attr *attr);
/* Decide whether the shared engine has the queue pair or shared receive queue. EOPNOTSUPP: no engine
 * of the context can have it. */
int ur_ectx_place_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		     const struct ibv_qp_init_attr_ex *attr);
int ur_ectx_place_srq(struct uroce_context *ctx, struct uroce_srq *srq,
		      const struct ibv_pd *pd, const struct ibv_xrcd *xrcd);
/* ectx_shared.c: connects the context to the shared engine, which contexts of several processes of
 * one user use, unless it is connected. */
int ur_shared_open(struct uroce_context *ctx);
void ur_shared_close(struct uroce_context *ctx);
/* Creates the completion queue in the shared engine too, and counts a user; ur_cq_unuse_shared()
 * drops it. EOPNOTSUPP: an earlier uroced created its channel. */
int ur_cq_use_shared(struct ibv_cq *cq);
void ur_cq_unuse_shared(struct ibv_cq *cq);
/* Do the same to the shared engine's part of the completion queue, if it has one. The caller of
 * ur_shared_resize_cq() holds cq->lock. */
int ur_shared_resize_cq(struct uroce_cq *cq, u32 entries);
int ur_shared_modify_cq(struct uroce_cq *cq, u32 moderation);
int ur_shared_destroy_cq(struct uroce_cq *cq, u32 events[2]);
/* Register, reregister or deregister in the shared engine, after the context's own engine did
 * so. */
int ur_shared_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr);
int ur_shared_rereg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		       u32 flags);
void ur_shared_dereg_mr(struct uroce_context *ctx, struct uroce_mr *mr);
/* Names the context's regions to the shared engine, once, if another process has
 * imported the context's file. Called after a change of its regions was sent to uroced. */
void ur_shared_claim(struct uroce_context *ctx);

/* Carries a call out (struct uroce_call) in that engine. */
static inline int ur_engine_call(struct uroce_ectx *engine,
				 struct uroce_call *call)
{
	const struct uroce_engine_ops *ops;

	memcpy(&ops, engine, sizeof(ops));
	return -ops->call(engine, call);
}
/* Does the same with one of HAS_*. Returns whether the engine has it. */
static inline bool ur_engine_has(struct uroce_ectx *engine,
				 struct uroce_call *call)
{
	return ur_engine_call(engine, call) < 0;
}
/* Carries a call about an object out, in the object's engine. */
static inline int ur_engine_about(void *object, struct uroce_call *call)
{
	struct uroce_ectx *engine;

	memcpy(&engine, object, sizeof(engine));
	call->it = object;
	return ur_engine_call(engine, call);
}
/* Carries out a call about an object whose only argument is value. */
static inline int ur_engine_tell(void *object, u32 op, u32 value)
{
	struct uroce_call call = {.msg = {.op = op, .value = value}};

	return ur_engine_about(object, &call);
}
static inline int ur_engine_resize_cq(struct uroce_ecq *cq, u32 entries,
				      struct uroce_resize_cq_resp *resp)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_RESIZE_CQ, .value = entries}};
	int err = ur_engine_about(cq, &call);

	if (!err)
		*resp = call.reply.new_ring;
	return err;
}
static inline int ur_engine_modify_qp(const struct uroce_qp *qp,
				      const struct uroce_engine_qp *to,
				      int mask)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_MODIFY_QP,
			.modify = {.attr = *to, .mask = (u32)mask}}};

	return ur_engine_about(qp->engine, &call);
}
static inline int ur_engine_reg_mr(struct uroce_ectx *engine,
				   const struct uroce_emr_init *init,
				   struct uroce_emr **mr)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_REG_MR, .mr.init = *init}};
	int err = ur_engine_call(engine, &call);

	if (!err)
		*mr = call.it;
	return err;
}
static inline int ur_engine_rereg_mr(struct uroce_emr *mr, u32 flags,
				     const struct uroce_emr_init *init)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_REREG_MR,
			.mr = {.init = *init, .flags = flags}}};

	return ur_engine_about(mr, &call);
}
/* Destroys a queue. Adds to events what struct uroce_call_msg says in read. */
static inline int ur_engine_destroy(void *queue, u32 op, u32 events[2])
{
	struct uroce_call call = {.msg.op = op};
	int err = ur_engine_about(queue, &call);

	if (err)
		return err;
	events[0] += call.reply.read[0];
	events[1] += call.reply.read[1];
	return 0;
}
/* Asks the engine for what it knows of a queue pair. */
static inline struct uroce_engine_qp ur_engine_qp(const struct uroce_qp *qp)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_QUERY_QP};

	return ur_engine_about(qp->engine, &call)
		       ? (struct uroce_engine_qp){.state = IBV_QPS_ERR}
		       : call.reply.now;
}

/* ectx_destroy.c: destroy the object in the engine and in uroced, and wait until the program has
 * acknowledged the events that it got. EBUSY: a queue uses the object. */
int ur_ectx_destroy_cq(struct uroce_cq *cq);
int ur_ectx_destroy_srq(struct uroce_srq *srq);
int ur_ectx_destroy_qp(struct uroce_qp *qp);
int ur_ectx_destroy_wq(struct uroce_wq *wq);
int ur_ectx_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr,
		      struct uroce_create_qp_resp *resp);
/* Open once more an XRC target that the engine has, as qp->engine; and undo
 * that. */
int ur_ectx_open_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		    const struct ibv_qp_open_attr *attr);
void ur_ectx_unopen_qp(struct uroce_context *ctx, struct uroce_qp *qp);
/* max_sge: as uroced granted it. EEXIST: the engine has no place for the number
 * (UR_ECTX_NUMBERED). */
int ur_ectx_create_srq(struct uroce_context *ctx, struct uroce_srq *srq,
		       const struct ibv_pd *pd, u32 max_sge,
		       struct uroce_create_srq_resp *resp);
/* Does in the engine what uroced has just done for mask (enum ibv_srq_attr_mask). *moved: uroced's
 * new ring on entry. */
int ur_ectx_modify_srq(struct uroce_srq *srq, const struct ibv_srq_attr *attr,
		       int mask, struct uroce_create_srq_resp *moved);
int ur_ectx_create_ah(struct uroce_context *ctx, struct uroce_ah *ah,
		      const struct ibv_pd *pd);
/* Checks the change of state against the engine's state, which the engine may have changed itself.
 * Removes from *mask what uroced cannot judge for that reason. Returns 0 or EINVAL. */
int ur_ectx_may_modify_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
			  const struct ibv_qp_attr *attr, int *mask);
/* ectx_modify.c: modifies the queue pair in uroced and in the engine. A change that uroced need
 * not check reaches uroced with the next command about the queue pair. */
int ur_ectx_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		      struct ibv_qp_attr *attr, int mask);
/* Sends uroced the changes of the queue pair that it does not know yet. */
int ur_ectx_flush_qp(struct uroce_context *ctx, struct uroce_qp *qp);
/* Takes from the device's response what ur_ectx_modify_qp() needs. */
static inline void
ur_ectx_take_answer(struct uroce_context *ctx,
		    const struct uroce_alloc_ucontext_resp *resp)
{
	ctx->max_rd_atomic = resp->max_rd_atomic;
	__atomic_store_n(&ctx->reports_late, resp->features & UROCE_CTX_F_LATE,
			 __ATOMIC_RELAXED);
}
/* ectx_renew_qp.c: returns the attributes (enum ibv_qp_attr_mask) for moving
 * the queue pair to that state. */
int ur_ectx_mask_to(const struct uroce_qp *qp, enum ibv_qp_state state);
/* ectx_objects.c: modifies the engine's queue pair as uroced did, whose answer is *to. */
int ur_ectx_modified_qp(struct uroce_context *ctx, struct uroce_qp *qp,
			const struct ibv_qp_attr *asked, int mask,
			struct uroce_engine_qp *to);
/* ectx_groups.c: attaches or detaches in the engine, after uroced did so. */
int ur_ectx_mcast(struct uroce_qp *qp, const union ibv_gid *gid, bool attach);
void ur_ectx_query_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
		      struct ibv_qp_attr *attr);
/* flags: UROCE_EMR_*, beyond what access says. With UROCE_EMR_DMABUF addr is in mr->map. */
int ur_ectx_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		   const struct ibv_pd *pd, u32 flags, u64 addr, u64 length,
		   u64 iova, int access);
/* mr_cmd.c: registers the range in the device and in the engine; neither has it after an error. drv_flags: UROCE_MR_F_*. */
int ur_mr_try(struct ibv_pd *pd, u64 addr, u64 length, u64 iova, int access,
	      u32 drv_flags, u32 flags, struct uroce_mr *mr);
/* Returns whether the whole range is GPU memory that the engine reaches. length 0: whether there
 * may be such memory. Calls the program's GPU runtime. */
bool ur_ectx_has_gpu(struct uroce_context *ctx, u64 addr, u64 length);
/* In a child of fork that has got an engine: registers there the regions that the context had in the parent, which are
 * the parent's memory. mem: /proc/PID/mem of owner, or -1. */
void ur_ectx_inherit_regions(struct uroce_context *ctx, int mem, pid_t owner);
/* The caller ends mr by ur_dmabuf_end(), also on failure. With an engine process mr has its copy of fd. */
int ur_ectx_reg_dmabuf_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			  const struct ibv_pd *pd, u64 offset, u64 length,
			  u64 iova, int fd, int access);
/* flags: enum ibv_rereg_mr_flags. gpu: the new memory is a GPU's. */
int ur_ectx_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		     u64 addr, u64 length, int access, bool gpu);
/* Call it before uroced deregisters the region. EBUSY: windows are bound to it. */
int ur_ectx_dereg_mr(struct uroce_mr *mr);
/* Undoes ur_ectx_dereg_mr() if uroced refuses. */
void ur_ectx_keep_mr(struct uroce_mr *mr);
int ur_ectx_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw);
void ur_ectx_dealloc_mw(struct uroce_mw *mw);

/* ectx_destroy_hint.c: writes to uroced, without a command, that the engine has deregistered the
 * region. Returns false if a command has to do it. */
bool ur_ectx_hint_dereg_mr(const struct uroce_mr *mr);
/* Does the same for a queue pair that the engine has destroyed. */
bool ur_ectx_hint_destroy_qp(const struct uroce_qp *qp);
/* ur_ectx_hint_mark() returns a mark, to be taken before a command is sent. After the reply
 * ur_ectx_hint_taken() gets it: uroced has read all hints up to the mark. */
u64 ur_ectx_hint_mark(const struct uroce_context *ctx);
void ur_ectx_hint_taken(struct uroce_context *ctx, u64 mark);
/* Gives a command between these two. Returns as execute_ioctl(). */
int ur_ectx_execute(struct ibv_context *context,
		    struct ibv_command_buffer *cmd);
/* From now on each destruction is a command: the context allocates a window. */
void ur_ectx_end_hints(struct uroce_context *ctx);

/* Returns the number in the engine of a domain that uroced numbered. Each uroced counts from 1, so
 * the context's recoveries before that make it unique. */
static inline u32 ur_ectx_domain(u32 number, u32 recoveries)
{
	return number + (recoveries << UROCE_DOMAIN_BITS);
}

/* Returns whether the caller may use the context's engine. In a child of fork this may take the
 * engine over, or leave the context without an engine (ctx->engine is NULL). */
static inline bool ur_ectx_is_here(struct uroce_context *ctx)
{
	return ctx->engine && !ur_doorbell_is_dead(&ctx->db) && ctx->engine;
}
/* Does the same before objects are created. A child whose parent keeps the engine gets another one
 * (ctx->parted is set). */
bool ur_ectx_makes_here(struct uroce_context *ctx);
/* Gives a child of fork an engine of its own, for a context whose engine the parent keeps. Points to
 * ur_ectx_begin_anew(), so that a test can link ectx_fork.c without it. Returns 0 or -errno. */
extern int (*ur_ectx_part)(struct uroce_context *ctx);
int ur_ectx_begin_anew(struct uroce_context *ctx);
/* Returns whether the caller may use the object in the engine; NULL: as ur_ectx_is_here(). */
static inline bool ur_ectx_has(struct uroce_context *ctx, const void *object)
{
	return ur_ectx_is_here(ctx) && ur_ectx_owns(ctx, object);
}
/* Does the same as ur_ectx_is_here() before an object is destroyed: it does not wait for the
 * parent's end. A child that has destroyed an object of its parent never takes the engine over. */
bool ur_ectx_is_here_still(struct uroce_context *ctx);
static inline bool ur_ectx_has_still(struct uroce_context *ctx,
				     const void *object)
{
	return ur_ectx_is_here_still(ctx) && ur_ectx_owns(ctx, object);
}
/* ectx_left.c: takes uroced's reply to a destruction, err. Returns 0 if the object belonged to an
 * earlier uroced and went with it; else err. */
int ur_ectx_forgive(const struct uroce_context *ctx, int err);
/* Does the same for an object that so many others use, which uroced may not know. EBUSY if there is
 * one. */
int ur_ectx_forgive_unused(const struct uroce_context *ctx, int err, u32 users);
/* Modify or query, in the engine alone, a queue pair that an earlier uroced created. Modifying
 * covers moves to RESET or ERR and attributes that need no path. err: uroced's reply; made: the
 * context's recoveries when the queue pair was created. Return 0, err where this is not possible,
 * or an errno of the engine. */
int ur_ectx_modify_left(struct uroce_context *ctx, struct uroce_qp *qp,
			const struct ibv_qp_attr *attr, int mask, int err,
			u32 made);
int ur_ectx_query_left(struct uroce_context *ctx, const struct uroce_qp *qp,
		       struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init,
		       int err, u32 made);
/* Returns the capabilities that the queue pair was made with. */
struct ibv_qp_cap ur_ectx_cap(const struct uroce_qp *qp);
/* Fills all of *attr but cap. */
void ur_ectx_show_qp(const struct uroce_engine_qp *now,
		     struct ibv_qp_attr *attr);
/* ectx_reattach.c: waits up to 10 s for the next uroced and attaches the context to it. Returns whether the context is attached,
 * perhaps by another thread. seen: the context's recoveries before the failed command. */
bool ur_ectx_reattach(struct uroce_context *ctx, u32 seen);
/* Opens a uverbs file with a context like ctx, whose handles differ from those of ctx's file, and an
 * asynchronous event file in *async. Returns the descriptor or -errno. */
int ur_ectx_new_file(const struct uroce_context *ctx, int *async,
		     struct uroce_alloc_ucontext_req *asked,
		     struct uroce_alloc_ucontext_resp *got);
/* In a child of fork: reports to uroced that this process has the context's engine now. Otherwise
 * this uroced and the next would take the parent for its owner. */
void ur_ectx_pass_on(struct uroce_context *ctx);
/* ectx_renew.c: make an object of an earlier uroced again in this one, if needed. A completion queue is made without its channel: the
 * engine sends its events. */
int ur_ectx_renew_pd(struct ibv_pd *pd);
/* Returns whether the context may have objects of an earlier uroced, or of its parent. */
static inline bool ur_may_renew(const struct ibv_context *context)
{
	return ur_to_ctx(context)->engine || ur_to_ctx(context)->recoveries;
}
/* Calls make(object) under the lock, unless the present uroced has the object already. *made: the
 * context's recoveries when the object was last made. Returns 0 or the errno of make(). */
int ur_ectx_renew_once(struct ibv_context *context, u32 *made,
		       pthread_mutex_t *lock, int (*make)(void *object),
		       void *object);
int ur_ectx_renew_cq(struct ibv_cq *cq);
int ur_ectx_renew_srq(struct ibv_srq *srq);
int ur_ectx_renew_xrcd(struct ibv_xrcd *xrcd);
/* Do so for all objects that a queue pair refers to, except an XRC domain. All but pd may be
 * NULL. */
int ur_ectx_renew_parts(struct ibv_pd *pd, struct ibv_cq *send_cq,
			struct ibv_cq *recv_cq, struct ibv_srq *srq);
/* Attaches the renewed queue pair "made" to the groups of qp. */
int ur_ectx_renew_groups(struct uroce_qp *qp, struct ibv_qp *made);
/* ectx_renew_qp.c: makes a queue pair again, in the state that it has in the engine. */
int ur_ectx_renew_qp(struct uroce_qp *qp);
/* Opens in uroced an XRC target that the engine has; makes it again if an earlier uroced made it. */
int ur_ectx_renew_open(struct uroce_context *ctx, struct uroce_qp *qp,
		       struct ibv_qp_open_attr *attr);
/* An object that an earlier uroced may have made: the context's recoveries at that time, and how to make it again. */
struct ur_ectx_old {
	struct uroce_context *ctx;
	const u32 *recoveries;
	int (*renew)(void *object);
	void *object; /* NULL: the engine does not have it */
};
struct ur_ectx_old ur_ectx_old_cq(struct uroce_cq *cq);
struct ur_ectx_old ur_ectx_old_srq(struct uroce_srq *srq);
struct ur_ectx_old ur_ectx_old_qp(struct uroce_qp *qp);
struct ur_ectx_old ur_ectx_old_wq(struct uroce_wq *wq);
/* Decides what to do after a command failed with err: makes the object again, and on EIO first
 * waits for the next uroced. seen, made: the context's recoveries before the command, and when the
 * object was made. Returns whether to repeat the command. */
bool ur_ectx_renew(const struct ur_ectx_old *old, int err, u32 seen, u32 made);
/* Limits the repetitions of a command while uroced is killed again and
 * again. */
#define UR_ECTX_TRIES 8
/* Evaluates a command on an object, which returns 0 or an errno. If an earlier uroced made the object, makes it again and repeats the
 * command. */
#define UR_ECTX_OLD(of, command)                                       \
	({                                                             \
		const struct ur_ectx_old old_ = (of);                  \
		u32 seen_, made_, tries_ = 0;                          \
		int err_;                                              \
		do {                                                   \
			seen_ = __atomic_load_n(&old_.ctx->recoveries, \
						__ATOMIC_ACQUIRE);     \
			made_ = __atomic_load_n(old_.recoveries,       \
						__ATOMIC_ACQUIRE);     \
			err_ = (command);                              \
		} while (err_ && ++tries_ < UR_ECTX_TRIES &&           \
			 ur_ectx_renew(&old_, err_, seen_, made_));    \
		err_;                                                  \
	})
/* Evaluates a command, which returns 0 or an errno. Repeats it with the next uroced if it failed
 * with EIO because uroced was killed. pd: the domain that the command refers to, or NULL. With a domain a
 * child of fork parts from its parent first: the object would be on its parent's file. */
#define UR_ECTX_TRY(context, pd, command)                           \
	({                                                          \
		struct uroce_context *ctx_ = ur_to_ctx(context);    \
		struct ibv_pd *pd_ = (pd);                          \
		u32 seen_, tries_ = 0;                              \
		int err_;                                           \
		if (pd_)                                            \
			ur_ectx_makes_here(ctx_);                   \
		do {                                                \
			seen_ = __atomic_load_n(&ctx_->recoveries,  \
						__ATOMIC_ACQUIRE);  \
			err_ = pd_ ? ur_ectx_renew_pd(pd_) : 0;     \
			if (!err_)                                  \
				err_ = (command);                   \
		} while (err_ == EIO && ++tries_ < UR_ECTX_TRIES && \
			 ur_ectx_reattach(ctx_, seen_));            \
		err_;                                               \
	})
/* ectx_turn.c: held while a context changes to its next file. */
extern pthread_mutex_t ur_ectx_turns;
/* Changes the context to fd, its file of the next uroced. fd becomes the context's. The first file stays open for the engine. */
void ur_ectx_files_turn(struct uroce_context *ctx, int fd);
/* In a child of fork: changes the context to a uverbs file and an asynchronous event file of its own, which become the context's, in
 * place of its parent's. ur_ectx_files_add() follows. */
void ur_ectx_files_part(struct uroce_context *ctx, int fd, int async);
/* ectx_files.c: between these calls, commands that the verbs library itself gives continue with
 * the next uroced. */
void ur_ectx_files_add(struct uroce_context *ctx);
void ur_ectx_files_del(struct uroce_context *ctx);
/* ectx_channels.c: makes the preload library keep the sending ends of channels created on that
 * file from now on, for the engine. */
void ur_ectx_keep_senders(const struct uroce_context *ctx, int number);
/* In a child of fork that has parted from its parent: puts a channel of its own in the place of one that
 * uroced does not know on its file. Returns whether it could. */
bool ur_ectx_own_channel(const struct uroce_context *ctx,
			 const struct ibv_comp_channel *channel);
/* Evaluates "make", which creates an object in uroced and in the engine, or in neither. Repeats it
 * while the engine has no place for uroced's number (EEXIST): uroced does not know the numbers of
 * an earlier uroced. */
#define UR_ECTX_NUMBERS 8
#define UR_ECTX_NUMBERED(make)                                          \
	({                                                              \
		u32 numbers_ = 0;                                       \
		int err_;                                               \
		do                                                      \
			err_ = (make);                                  \
		while (err_ == EEXIST && ++numbers_ < UR_ECTX_NUMBERS); \
		err_;                                                   \
	})
/* Marks the doorbell as that of a UD queue pair, whose datagrams may leave
 * together. */
void ur_ectx_batches(struct ur_doorbell *db);
/* Doorbell callback: tries to take the engine of the context arg over after fork. */
void ur_ectx_take_over(void *arg);

#endif
