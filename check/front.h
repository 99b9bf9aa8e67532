/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Between the files that stand in front of functions: what each watches is used
 * by others. Functions without a word about it are called with the table's lock
 * held.
 */
#ifndef UR_CHECK_FRONT_H
#define UR_CHECK_FRONT_H

#include "check/object.h"

/* Puts our functions into an open context (device.c). Without the lock. */
void ur_front_context(struct ibv_context *context, const struct ur_stack *made);

/* The provider's own functions of a context. Without the lock. Never NULL for a
 * context whose functions are ours. */
const struct ur_watched_context *
ur_front_real(const struct ibv_context *context);

/* The functions of a context that ours stand in front of; no lock. */
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

/* cq.c: a queue that was made otherwise than by ibv_create_cq(). */
struct ur_watched_cq *ur_cq_watch(struct ibv_cq *cq,
				  const struct ur_stack *made);
/* cq.c: takes a completion out of the queue, if there is one, and keeps it for
 * the program's next poll. Returns whether there is one. Without the lock. */
bool ur_cq_peek(struct ur_watched_cq *cq, struct ibv_cq *ibcq);

/* cq_ex.c: puts our functions into an extended queue. */
void ur_cq_ex_front(struct ur_watched_cq *cq);

/* completion.c: the program gets this completion. @wc: opcode is valid only for
 * a success, and with @opcode_known, byte_len and wc_flags of a receive with
 * @length_known. */
void ur_completed(struct ur_watched_cq *cq, const struct ibv_wc *wc,
		  bool opcode_known, bool length_known);
/* completion.c: is it an error that the device has a story of? No lock. */
bool ur_completion_failed(const struct ibv_wc *wc);

/* wr.c: puts our functions into ibv_qp_ex. */
void ur_wr_front(struct ur_watched_qp *qp);

/* request.c: looks at a request before it is posted. */
void ur_request_judge(struct ur_watched_qp *qp, struct ur_request *request,
		      const struct ibv_sge *sge, int sges, struct ibv_ah *ah,
		      uint32_t remote_qpn, uint32_t remote_qkey);
/* request.c: the same for one built by ibv_wr_*(), whose elements are known. */
void ur_request_judge_built(struct ur_watched_qp *qp,
			    struct ur_request *request);
/* request.c: elements, their sum of lengths, and the regions they lie in. */
void ur_request_sges(struct ur_request *request, const struct ibv_sge *sge,
		     int sges);
void ur_request_regions(const struct ur_watched *queue, const void *pd,
			const struct ur_request *request, bool device_writes);
/* request.c: a sum over the buffers' bytes; false where they cannot be read. */
bool ur_request_sum(const struct ur_watched *queue,
		    const struct ur_request *request, uint32_t *sum);
/* request.c: may others write there? Then a change is not the program's. */
bool ur_mr_others_write(const struct ur_watched_mr *mr);
/* send.c: enters it as outstanding. */
void ur_request_enter(struct ur_watched_qp *qp,
		      const struct ur_request *request);
/* send.c: the provider did not take the last @n. */
void ur_request_refused(struct ur_watched_qp *qp, uint32_t n);
/* send.c: can more come than there is room for? */
void ur_cq_judge_room(struct ur_watched_cq *cq);
/* send.c: says why the queue had no room for a request. Without the lock. */
void ur_send_full(struct ibv_qp *ibqp, int err,
		  const struct ur_code_place *place);

/* access.c: writes a sentence about why memory was refused: here, or by the
 * peer, and what would have hit. */
void ur_access_local(const struct ur_watched_qp *qp,
		     const struct ur_request *request, char *text, size_t size);
void ur_access_remote(const struct ur_watched_qp *qp,
		      const struct ur_request *request, char *text,
		      size_t size);

/* qp.c: forgets what is outstanding; and judges that before. */
void ur_qp_clear(struct ur_watched_qp *qp);
void ur_qp_judge_end(struct ur_watched_qp *qp, const char *verb);

/* send.c: something was ever posted. No lock. */
extern int ur_outstanding_any;

/* cm.c: this thread is inside a function of librdmacm. No lock. */
extern __thread int ur_inside_cm;

/* The object is to be destroyed: says who still uses it, where the call was
 * refused with EBUSY. */
void ur_busy(const struct ur_watched *object);

/* mr.c: finds munmap(). No lock. */
void ur_unmap_find(void);

/* The program ends: what is left (summary.c). Without the lock. */
void ur_summary(void);

#endif
