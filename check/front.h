/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The functions that the files in front of verbs and rdma_cm call in each other.
 * "Reports" means: names a mistake (report.h), unless it is muted or was named
 * at the same place. Pointers are not NULL, and a function is called with the
 * table's lock held (object.h), unless its comment says otherwise. Nothing here
 * fails: without memory an object or a request is not watched.
 */
#ifndef UR_CHECK_FRONT_H
#define UR_CHECK_FRONT_H

#include "check/object.h"

/* device.c: enters an open context, created at made, and puts our functions into
 * it. Without the lock. */
void ur_front_context(struct ibv_context *context, const struct ur_stack *made);

/* Returns the provider's own functions of a context: never NULL for a context
 * whose functions are ours. Without the lock. */
const struct ur_watched_context *
ur_front_real(const struct ibv_context *context);

/* The functions that ur_front_context() puts into a context: each calls the
 * provider's, and returns what that returns. Without the lock. */
int ur_front_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad);
int ur_front_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad);
int ur_front_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad);
int ur_front_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int ur_front_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *ur_front_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *ur_front_create_qp_ex(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *ur_front_create_srq_ex(struct ibv_context *context,
				       struct ibv_srq_init_attr_ex *attr);
struct ibv_mw *ur_front_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ur_front_dealloc_mw(struct ibv_mw *mw);
struct ibv_mr *ur_front_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mr *ur_front_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
				  uint64_t offset, size_t length,
				  unsigned int access);
struct ibv_pd *
ur_front_alloc_parent_domain(struct ibv_context *context,
			     struct ibv_parent_domain_init_attr *attr);

/* cq.c: enters a queue, created at made by another function than
 * ibv_create_cq(). Returns it, or NULL without memory. */
struct ur_watched_cq *ur_cq_watch(struct ibv_cq *cq,
				  const struct ur_stack *made);
/* cq.c: takes a completion out of the queue, if there is one, and keeps it for
 * the program's next poll. Returns whether one is kept; false for an extended
 * queue. Without the lock. */
bool ur_cq_peek(struct ur_watched_cq *cq, struct ibv_cq *ibcq);

/* cq_ex.c: puts our functions into the extended queue cq->ex. */
void ur_cq_ex_front(struct ur_watched_cq *cq);

/* completion.c: ends the request of a completion that the program gets, and
 * reports the mistakes that it shows. @wc: opcode is valid only for a success and
 * with @opcode_known, byte_len and wc_flags of a receive with @length_known. */
void ur_completed(struct ur_watched_cq *cq, const struct ibv_wc *wc,
		  bool opcode_known, bool length_known);
/* completion.c: returns whether it is an error of which the device may have the
 * story: any but a flush. With the lock or without. */
bool ur_completion_failed(const struct ibv_wc *wc);

/* wr.c: puts our functions into the extended queue pair qp->ex. */
void ur_wr_front(struct ur_watched_qp *qp);

/* request.c: reports the mistakes of a request that is about to be posted, and
 * fills its elements and length from sge. ah, remote_qpn, remote_qkey: those of a
 * datagram, of another request ignored. */
void ur_request_judge(struct ur_watched_qp *qp, struct ur_request *request,
		      const struct ibv_sge *sge, int sges, struct ibv_ah *ah,
		      uint32_t remote_qpn, uint32_t remote_qkey);
/* request.c: does the same for a request built by ibv_wr_*(), which has its
 * elements already. */
void ur_request_judge_built(struct ur_watched_qp *qp,
			    struct ur_request *request);
/* request.c: fills the elements of the request, the first UR_REQUEST_SGES of
 * them, and the sum of all lengths in bytes. */
void ur_request_sges(struct ur_request *request, const struct ibv_sge *sge,
		     int sges);
/* request.c: reports elements whose region is gone, is too short, is of another
 * domain than pd, or lacks the right for the device to write. */
void ur_request_regions(const struct ur_watched *queue, const void *pd,
			const struct ur_request *request, bool device_writes);
/* request.c: puts a sum over the bytes of the request's buffers into *sum.
 * Returns false where they cannot be read, or others may change them. */
bool ur_request_sum(const struct ur_watched *queue,
		    const struct ur_request *request, uint32_t *sum);
/* request.c: returns whether others may write to the region: then a change of
 * its bytes is not the program's. */
bool ur_mr_others_write(const struct ur_watched_mr *mr);
/* send.c: enters a copy of the request as outstanding, and reports a send queue or
 * a completion queue that is too small. */
void ur_request_enter(struct ur_watched_qp *qp,
		      const struct ur_request *request);
/* send.c: takes back the last @n requests: the provider refused them. */
void ur_request_refused(struct ur_watched_qp *qp, uint32_t n);
/* send.c: reports that more completions can come than the queue has room for. */
void ur_cq_judge_room(struct ur_watched_cq *cq);
/* send.c: reports why the queue had no room for a request, made at place; err:
 * the errno of the post, of which only ENOMEM counts. Without the lock. */
void ur_send_full(struct ibv_qp *ibqp, int err,
		  const struct ur_code_place *place);

/* send.c: reports the same where the provider has made room by itself, though none
 * is to be counted on. Without the lock. */
void ur_send_over(struct ibv_qp *ibqp, const struct ur_code_place *place);

/* access.c: write a sentence about why memory was refused, here or by the peer,
 * and what would have fitted, to text, size bytes with its NUL. */
void ur_access_local(const struct ur_watched_qp *qp,
		     const struct ur_request *request, char *text, size_t size);
void ur_access_remote(const struct ur_watched_qp *qp,
		      const struct ur_request *request, char *text,
		      size_t size);

/* Stop looking at what is posted to an object and completes (NULL: none): the
 * program may do both in ways that cannot be seen. qp.c: */
void ur_qp_unseen(struct ur_watched_qp *qp);
/* cq.c: */
void ur_cq_unseen(struct ur_watched_cq *cq);
/* objects.c: */
void ur_srq_unseen(struct ur_watched_srq *srq);

/* mr.c: enters a region that a function of the library has made, or NULL, as the
 * caller's with that address for the device, and reports wrong access flags.
 * readable: its bytes are memory of this process. Returns it. Without the lock. */
struct ibv_mr *ur_mr_made(struct ibv_mr *mr, uint64_t iova, unsigned int access,
			  bool readable);

/* qp.c: forgets the requests that are outstanding. */
void ur_qp_clear(struct ur_watched_qp *qp);
/* qp.c: reports signaled sends that are outstanding in RTS when the queue pair
 * ends. verb: "destroyed" and the like, for the sentence. */
void ur_qp_judge_end(struct ur_watched_qp *qp, const char *verb);

/* send.c: nonzero once any request was posted. Atomic. */
extern int ur_outstanding_any;

/* cm.c: nonzero while this thread is inside a function of librdmacm. */
extern __thread int ur_inside_cm;

/* Reports an object that still needs this one, whose destruction was refused
 * with EBUSY. */
void ur_busy(const struct ur_watched *object);

/* mr.c: finds libc's munmap(), before any thread needs it. Without the lock. */
void ur_unmap_find(void);

/* summary.c: reports the objects that are left when the program ends, and prints
 * the summary. Without the lock. */
void ur_summary(void);

/* summary.c: the process has children that may be what is to be checked. */
void ur_summary_forked(void);

#endif
