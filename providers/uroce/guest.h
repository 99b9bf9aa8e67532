/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Contexts whose engine is in this process (kernel-abi/uroce-engine.h): where the device
 * lends one and it can be here, unless the environment asks for the device's,
 * UROCE_ENGINE=device. The device still answers all commands; what it answers is then
 * made here too. A context without one pays nothing but a look at a pointer. Functions
 * return 0 or a positive errno.
 *
 * Some queues have the device's engine all the same, and the device's rings: what is made with an
 * imported protection domain, whose regions another program may have registered; and what belongs to
 * an XRC domain of a file, which other programs may open.
 */
#ifndef UR_PROVIDERS_UROCE_GUEST_H
#define UR_PROVIDERS_UROCE_GUEST_H

#include "uroce.h"

/* Gives a new context its own engine, if the device lends one, and puts its doorbell
 * page into *resp. Where it cannot be in this process (no library beside this one, no
 * thread, no /proc, a filter of system calls), and where none is lent, the context has
 * the device's; where it is asked for (UROCE_ENGINE=process), other errors are the
 * caller's. EINVAL: the environment asks for none that there is. */
int ur_guest_open(struct uroce_context *ctx,
		  struct uroce_alloc_ucontext_resp *resp);
/* Calls a method with one attribute in, or none, and one out. */
#define UR_GUEST_NO_IN 0xffff
int ur_guest_call(struct ibv_context *context, u16 object, u16 method,
		  u16 in_id, u32 in_len, u64 in, u16 out_id, void *out,
		  u16 out_len);
/* Ends it. All its objects are gone, or will not be used any more. */
void ur_guest_close(struct uroce_context *ctx);
/* Returns the operation of a context with an engine of its own; NULL: it is not
 * supported. */
void *ur_guest_op(enum ur_op op);

/* The program has asked the device something, or makes its first object: from here on the context outlives a
 * uroced that is killed. */
void ur_guest_begin(struct uroce_context *ctx);
/* Does so, once, and returns 0 or an errno. Asynchronous events may be sent then. */
int ur_guest_set_async(struct uroce_context *ctx);

/* Make here too what the device has just made, and put the places of its rings
 * into *resp. */
int ur_guest_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		       const struct ibv_comp_channel *channel, u32 flags,
		       struct uroce_create_cq_resp *resp);
/* Resizes it to the entries in *resp, where the device has put them, and puts the place of its ring there. */
int ur_guest_resize_cq(struct uroce_cq *cq, struct uroce_resize_cq_resp *resp);
int ur_guest_modify_cq(struct uroce_cq *cq,
		       const struct ibv_modify_cq_attr *attr);
/* Say whether the device has the engine of such a queue pair, or shared receive queue:
 * in qp->in_device, srq->in_device. EOPNOTSUPP: it would need both engines. */
int ur_guest_place_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr);
int ur_guest_place_srq(struct uroce_context *ctx, struct uroce_srq *srq,
		       const struct ibv_pd *pd, const struct ibv_xrcd *xrcd);
/* guest_destroy.c, for contexts with an engine of their own: destroy what is here and
 * what the device has of it, and wait until the program has acknowledged the events
 * that it has read. EBUSY: a queue uses it. */
int ur_guest_destroy_cq(struct uroce_cq *cq);
int ur_guest_destroy_srq(struct uroce_srq *srq);
int ur_guest_destroy_qp(struct uroce_qp *qp);
int ur_guest_destroy_wq(struct uroce_wq *wq);
int ur_guest_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_init_attr_ex *attr,
		       struct uroce_create_qp_resp *resp);
/* Opens a target once more, where it is here: in qp->guest. The second one undoes that. */
int ur_guest_open_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		     const struct ibv_qp_open_attr *attr);
void ur_guest_unopen_qp(struct uroce_context *ctx, struct uroce_qp *qp);
/* max_sge: as the device has given it. EEXIST: another number is needed, as of a queue pair. */
int ur_guest_create_srq(struct uroce_context *ctx, struct uroce_srq *srq,
			const struct ibv_pd *pd, u32 max_sge,
			struct uroce_create_srq_resp *resp);
/* The device has modified it as mask (enum ibv_srq_attr_mask) says, and put its own new ring into *moved. */
int ur_guest_modify_srq(struct uroce_srq *srq, const struct ibv_srq_attr *attr,
			int mask, struct uroce_create_srq_resp *moved);
int ur_guest_create_ah(struct uroce_context *ctx, struct uroce_ah *ah,
		       const struct ibv_pd *pd);
/* Returns whether the queue pair may go from the state that it has to the one asked for: 0, EINVAL
 * where its engine is here and does not allow it. Takes out of *mask what the device
 * cannot judge then, since engines change states by themselves. */
int ur_guest_may_modify_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
			   const struct ibv_qp_attr *attr, int *mask);
/* The device has modified the queue pair: takes over what mask says. */
int ur_guest_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_attr *asked, int mask);
/* guest_groups.c: the device has attached the queue pair to a group, or detached it. */
int ur_guest_mcast(struct uroce_qp *qp, const union ibv_gid *gid, bool attach);
void ur_guest_query_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
		       struct ibv_qp_attr *attr);
int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access);
int ur_guest_reg_null_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			 const struct ibv_pd *pd);
/* On failure too, mr->map may be there to be unmapped. */
int ur_guest_reg_dmabuf_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			   const struct ibv_pd *pd, u64 offset, u64 length,
			   u64 iova, int fd, int access);
/* flags: enum ibv_rereg_mr_flags. The first returns false where the region would change
 * its engine, which it cannot. */
bool ur_guest_may_rereg(const struct uroce_mr *mr, int flags,
			const struct ibv_pd *pd);
int ur_guest_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		      u64 addr, u64 length, int access);
/* Before the device does: EBUSY where windows are bound to it. */
int ur_guest_dereg_mr(struct uroce_mr *mr);
/* Undoes that, where the device does not. */
void ur_guest_keep_mr(struct uroce_mr *mr);
int ur_guest_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw);
void ur_guest_dealloc_mw(struct uroce_mw *mw);

/* Does without a command where it returns true: the device learns of the region's end (guest_given_up.c). The engine
 * here had the region, and has none any more. */
bool ur_guest_give_up_mr(const struct uroce_mr *mr);
/* The device has taken what had been given up when ur_guest_given_up() returned that, before a command was sent that it
 * has answered. */
u64 ur_guest_given_up(const struct uroce_context *ctx);
void ur_guest_has_taken(struct uroce_context *ctx, u64 given_up);
/* The context has a window, which a queue pair of the device's may bind: only the device knows then whether
 * a region is free. */
void ur_guest_gives_no_more_up(struct uroce_context *ctx);

/* Returns the number that a domain has in the engine of this process. uroced gave it number, when the context had been
 * resumed that often: the next uroced, too, counts from 1. */
static inline u32 ur_guest_domain(u32 number, u32 resumes)
{
	return number + (resumes << UROCE_DOMAIN_BITS);
}

/* Returns whether there is an engine of this process that the caller may use. In a child
 * of fork it may become this process's now, or the context one without (ctx->guest is NULL then). */
static inline bool ur_guest_is_here(struct uroce_context *ctx)
{
	return ctx->guest && !ur_doorbell_is_dead(&ctx->db) && ctx->guest;
}
/* The same for who makes something: a child whose parent goes on with the engine makes it in
 * the device, and has nothing of its parent's engine from then on (ctx->guest is NULL, and
 * ctx->parted is set). */
bool ur_guest_makes_here(struct uroce_context *ctx);
/* Returns what a verb fails with that needs what is in the engine, which is not here: guest, an
 * object there, or NULL. 0: the device has the object. */
static inline int ur_guest_lacks(const struct uroce_context *ctx,
				 const void *guest)
{
	return ctx->guest || guest ? EIO : 0;
}
/* The same as ur_guest_is_here() for who destroys: no end of a parent is waited for, and a child that has destroyed something of
 * its parent's does not get the engine later. */
bool ur_guest_is_here_still(struct uroce_context *ctx);
/* guest_left.c: err is the device's answer when something was to be destroyed. Returns 0 where uroced was
 * killed and the engine goes on without it: what was there is gone; else err. */
int ur_guest_forgive(const struct uroce_context *ctx, int err);
/* Does so with a queue pair in the engine alone then: moves it to RESET or ERR, or changes what needs no path of an
 * old one; or fills what the query of an old one asks for. err: the device's answer, when the queue pair was made after the
 * context had been resumed made times. Return 0, err where it is another change or another case, or an errno of the
 * engine. */
int ur_guest_modify_left(struct uroce_context *ctx, struct uroce_qp *qp,
			 const struct ibv_qp_attr *attr, int mask, int err,
			 u32 made);
int ur_guest_query_left(struct uroce_context *ctx, const struct uroce_qp *qp,
			struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init,
			int err, u32 made);
/* Returns what the queue pair was made with. */
struct ibv_qp_cap ur_guest_cap(const struct uroce_qp *qp);
/* Fills all of *attr but cap. */
void ur_guest_show_qp(const struct uroce_engine_qp *now,
		      struct ibv_qp_attr *attr);
/* guest_resume.c: the next uroced has been started, or will be within 10 s, where the context has its
 * engine here. Returns whether the context goes on there, also by another thread since it had been resumed
 * seen times. */
bool ur_guest_resume(struct uroce_context *ctx, u32 seen);
/* Says to uroced that this process has the context's engine now, as a child of fork. One that does not hear it
 * believes that its parent has, and so does the next. */
void ur_guest_pass_on(struct uroce_context *ctx);
/* guest_renew.c: make there what an earlier uroced has made, where it has; a completion queue
 * without its channel: its events are this engine's. */
int ur_guest_renew_pd(struct ibv_pd *pd);
int ur_guest_renew_cq(struct ibv_cq *cq);
int ur_guest_renew_srq(struct ibv_srq *srq);
int ur_guest_renew_xrcd(struct ibv_xrcd *xrcd);
/* All that a queue pair is made with, but an XRC domain; all but pd may be NULL. */
int ur_guest_renew_parts(struct ibv_pd *pd, struct ibv_cq *send_cq,
			 struct ibv_cq *recv_cq, struct ibv_srq *srq);
/* Makes one in uroced a member of the groups that it is in. Returns 0 or an errno. */
int ur_guest_renew_groups(struct uroce_qp *qp, struct ibv_qp *made);
/* guest_renew_qp.c: a queue pair gets the state that it has in the engine. */
int ur_guest_renew_qp(struct uroce_qp *qp);
/* Opens a target in uroced, which the engine here has, as qp->guest: it may be an earlier uroced that made it. Returns 0 or an
 * errno. */
int ur_guest_renew_open(struct uroce_context *ctx, struct uroce_qp *qp,
			struct ibv_qp_open_attr *attr);
/* An object that an earlier uroced may have made: how often its context had been resumed then, and how the next one makes it
 * again. */
struct ur_guest_old {
	struct uroce_context *ctx;
	const u32 *resumes;
	int (*renew)(void *object);
	void *object; /* NULL: it is not in the engine here */
};
struct ur_guest_old ur_guest_old_cq(struct uroce_cq *cq);
struct ur_guest_old ur_guest_old_srq(struct uroce_srq *srq);
struct ur_guest_old ur_guest_old_qp(struct uroce_qp *qp);
struct ur_guest_old ur_guest_old_wq(struct uroce_wq *wq);
/* Makes it again. err: what a command failed with when the context had been resumed seen times, and the object was made
 * after made times; EIO waits for the next uroced. Returns whether that command is to be given once more. */
bool ur_guest_renew(const struct ur_guest_old *old, int err, u32 seen,
		    u32 made);
/* Commands are given again so often where uroced is killed again meanwhile. */
#define UR_GUEST_TRIES 8
/* Gives a command of an object, which returns 0 or an errno; where it failed because an earlier uroced has made the
 * object, the next one makes it again, and has the command once more. */
#define UR_GUEST_OLD(of, command)                                    \
	({                                                           \
		const struct ur_guest_old old_ = (of);               \
		u32 seen_, made_, tries_ = 0;                        \
		int err_;                                            \
		do {                                                 \
			seen_ = __atomic_load_n(&old_.ctx->resumes,  \
						__ATOMIC_ACQUIRE);   \
			made_ = __atomic_load_n(old_.resumes,        \
						__ATOMIC_ACQUIRE);   \
			err_ = (command);                            \
		} while (err_ && ++tries_ < UR_GUEST_TRIES &&        \
			 ur_guest_renew(&old_, err_, seen_, made_)); \
		err_;                                                \
	})
/* Does the command, which returns 0 or an errno, again where it was EIO because uroced was killed, once the
 * next one is there. pd: what it is made with, or NULL. */
#define UR_GUEST_TRY(context, pd, command)                           \
	({                                                           \
		struct uroce_context *ctx_ = ur_to_ctx(context);     \
		struct ibv_pd *pd_ = ctx_->guest ? (pd) : NULL;      \
		u32 seen_, tries_ = 0;                               \
		int err_;                                            \
		do {                                                 \
			seen_ = __atomic_load_n(&ctx_->resumes,      \
						__ATOMIC_ACQUIRE);   \
			err_ = pd_ ? ur_guest_renew_pd(pd_) : 0;     \
			if (!err_)                                   \
				err_ = (command);                    \
		} while (err_ == EIO && ++tries_ < UR_GUEST_TRIES && \
			 ur_guest_resume(ctx_, seen_));              \
		err_;                                                \
	})
/* guest_turn.c: a context turns to its next file under this. */
extern pthread_mutex_t ur_guest_turns;
/* The next uroced has the context: fd, which becomes the context's, is the file there. The engine looks at the
 * first one, which stays open. */
void ur_guest_files_turn(struct uroce_context *ctx, int fd);
/* guest_files.c: commands of the verbs library itself go on with the next uroced from here on,
 * until the context ends. */
void ur_guest_files_add(struct uroce_context *ctx);
void ur_guest_files_del(struct uroce_context *ctx);
/* guest_channels.c: channels that are made by that file from now on are for the engine of this process. */
void ur_guest_keep_senders(const struct uroce_context *ctx, int number);
/* The value of make, which makes an object by a command and in the engine, and leaves nothing where it
 * fails. The next uroced does not know the numbers that the last one gave, and may give one of
 * them, or one for which the engine's table has no place beside them: EEXIST, and another number is
 * asked for. */
#define UR_GUEST_NUMBERS 8
#define UR_GUEST_NUMBERED(make)                                          \
	({                                                               \
		u32 numbers_ = 0;                                        \
		int err_;                                                \
		do                                                       \
			err_ = (make);                                   \
		while (err_ == EEXIST && ++numbers_ < UR_GUEST_NUMBERS); \
		err_;                                                    \
	})
/* This doorbell is rung for datagrams, which may leave together. */
void ur_guest_batches(struct ur_doorbell *db);
/* Returns the driver's part of a command that makes a work queue, whose rings are in qp, or a queue pair that
 * spreads frames. */
static inline struct uroce_create_qp_req
ur_guest_wants(const struct uroce_context *ctx, const struct uroce_qp *qp)
{
	struct uroce_create_qp_req req = {0};

	if (qp->in_device || ctx->elsewhere)
		req.flags = UROCE_QP_F_DEVICE;
	else if (qp->number)
		req.flags = UROCE_QP_F_AGAIN;
	else if (ctx->guest)
		req.flags = UROCE_QP_F_PROGRAM;
	req.number = qp->number;
	return req;
}
/* Adopt of the doorbells of a context, which is arg. */
bool ur_guest_adopt(void *arg);

#endif
