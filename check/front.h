/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions that the files in front of verbs and rdma_cm call in each other.
 * "Reports" means: reports a mistake (report.h), unless it is muted or was
 * reported at the same place. Pointers are not NULL, and functions are called
 * with the table's lock held (object.h), unless the comment says otherwise.
 * Nothing here fails: without memory an object or a request is not watched.
 */
#ifndef UR_CHECK_FRONT_H
#define UR_CHECK_FRONT_H

#include "check/object.h"

/* device.c: enters a context (or NULL) that the caller of the program opened, and replaces its functions
 * by ours. Returns it. Without the lock. */
struct ibv_context *ur_front_context(struct ibv_context *context);

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

/* cq.c: enters a queue that another function than ibv_create_cq() created at
 * made. Returns it, or NULL without memory. */
struct ur_watched_cq *ur_cq_watch(struct ibv_cq *cq,
				  const struct ur_stack *made);
/* cq.c: polls a completion, if there is one, and keeps it for the program's
 * next poll. Returns whether one is kept; false for an extended queue. Without
 * the lock. */
bool ur_cq_peek(struct ur_watched_cq *cq, struct ibv_cq *ibcq);

/* cq_ex.c: puts our functions into the extended queue cq->ex. */
void ur_cq_ex_front(struct ur_watched_cq *cq);

/* completion.c: ends the request of a completion that the program polls, and
 * reports the mistakes that it shows. @wc: opcode is valid only on success and
 * with @opcode_known; byte_len and wc_flags of a receive only with
 * @length_known. */
void ur_completed(struct ur_watched_cq *cq, const struct ibv_wc *wc,
		  bool opcode_known, bool length_known);
/* completion.c: returns whether it is an error, other than a flush, that the
 * device may explain. With the lock or without. */
bool ur_completion_failed(const struct ibv_wc *wc);

/* wr.c: puts our functions into the extended queue pair qp->ex. */
void ur_wr_front(struct ur_watched_qp *qp);

/* request.c: reports the mistakes of a request before it is posted, and fills
 * its elements and length from sge. ah, remote_qpn, remote_qkey: of a datagram;
 * ignored for other requests. */
void ur_request_judge(struct ur_watched_qp *qp, struct ur_request *request,
		      const struct ibv_sge *sge, int sges, struct ibv_ah *ah,
		      uint32_t remote_qpn, uint32_t remote_qkey);
/* request.c: does the same for a request built by ibv_wr_*(), whose elements
 * are filled. */
void ur_request_judge_built(struct ur_watched_qp *qp,
			    struct ur_request *request);
/* request.c: fills the elements of the request, the first UR_REQUEST_SGES of
 * them, and the sum of all lengths in bytes. */
void ur_request_sges(struct ur_request *request, const struct ibv_sge *sge,
		     int sges);
/* request.c: reports elements whose region is gone, too short or in another
 * domain than pd, or does not allow the device to write. */
void ur_request_regions(const struct ur_watched *queue, const void *pd,
			const struct ur_request *request, bool device_writes);
/* request.c: sets *sum to a checksum of the request's buffers. Returns false
 * where they cannot be read, or others may change them. */
bool ur_request_sum(const struct ur_watched *queue,
		    const struct ur_request *request, uint32_t *sum);
/* request.c: returns whether others may write to the region, so that a change
 * of its bytes need not be the program's. */
bool ur_mr_others_write(const struct ur_watched_mr *mr);
/* send.c: enters a copy of the request as outstanding, and reports a send queue or
 * a completion queue that is too small. */
void ur_request_enter(struct ur_watched_qp *qp,
		      const struct ur_request *request);
/* send.c: takes back the last @n requests: the provider refused them. */
void ur_request_refused(struct ur_watched_qp *qp, uint32_t n);
/* send.c: so many completions of a queue (or NULL) will not come. */
void ur_cq_expect_less(struct ur_watched_cq *cq, uint32_t n);
/* send.c: reports that more completions can come than the queue has room for. */
void ur_cq_judge_room(struct ur_watched_cq *cq);
/* send.c: reports why the queue had no room for a request, posted at place;
 * err: the errno of the post, and only ENOMEM is reported. Without the lock. */
void ur_send_full(struct ibv_qp *ibqp, int err,
		  const struct ur_code_place *place);

/* send.c: does the same where the provider had room beyond its capacity, which
 * no program may rely on. Without the lock. */
void ur_send_over(struct ibv_qp *ibqp, const struct ur_code_place *place);

/* access.c: write to text, size bytes with the NUL, a sentence on why memory
 * was refused, here or by the peer, and what would have been allowed. */
void ur_access_local(const struct ur_watched_qp *qp,
		     const struct ur_request *request, char *text, size_t size);
void ur_access_remote(const struct ur_watched_qp *qp,
		      const struct ur_request *request, char *text,
		      size_t size);

/* Stop checking what is posted to an object (or NULL) and completes: the
 * program may do both unseen. qp.c: */
void ur_qp_unseen(struct ur_watched_qp *qp);
/* cq.c: */
void ur_cq_unseen(struct ur_watched_cq *cq);
/* objects.c: */
void ur_srq_unseen(struct ur_watched_srq *srq);

/* mr.c: enters the region mr (or NULL) that a function of the library created
 * for the caller, at that address for the device, and reports wrong access
 * flags. readable: its bytes are memory of this process. Returns mr. Without
 * the lock. */
struct ibv_mr *ur_mr_made(struct ibv_mr *mr, uint64_t iova, unsigned int access,
			  bool readable);

/* qp.c: forgets the requests that are outstanding. */
void ur_qp_clear(struct ur_watched_qp *qp);
/* qp.c: reports signaled sends that are outstanding in RTS when the queue pair
 * ends. verb: "destroyed" and the like, for the report. */
void ur_qp_judge_end(struct ur_watched_qp *qp, const char *verb);

/* send.c: nonzero once a request was posted; atomic */
extern int ur_outstanding_any;

/* Nonzero while this thread is inside a function of librdmacm. */
extern __thread int ur_inside_cm;

/* end.c: ends an object (or NULL) whose destruction returned err: frees it, or puts it back
 * and, after EBUSY, reports what needs it. Without the lock. */
void ur_watch_ended(struct ur_watched *object, int err);

/* end.c: reports events of an object (or NULL) that the program got and did not acknowledge before
 * it ends. */
void ur_judge_unacked(const struct ur_watched *object);

/* end.c: reports an object that still needs this one, whose destruction was refused
 * with EBUSY. */
void ur_busy(const struct ur_watched *object);

/* mr.c: looks up libc's munmap() before any thread needs it. Without the
 * lock. */
void ur_unmap_find(void);

/* summary.c: reports the objects that are left when the program ends, and prints
 * the summary. Without the lock. */
void ur_summary(void);

/* summary.c: notes that the process has children, which may be the programs to
 * check. */
void ur_summary_forked(void);

#endif
