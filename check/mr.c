// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions: registration, deregistration, unmapping. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/real.h"
#include "check/report.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static void judge_flags(unsigned int access)
{
	if (!(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) ||
	    access & IBV_ACCESS_LOCAL_WRITE)
		return;
	ur_table_lock();
	ur_report(UR_CHECK_ACCESS_FLAGS, NULL,
		  "the access flags are 0x%x: IBV_ACCESS_LOCAL_WRITE (0x1) is "
		  "missing",
		  access);
	ur_table_unlock();
}

/* @readable: its bytes are memory of this process. */
static struct ibv_mr *made(struct ibv_mr *ibmr, uint64_t iova,
			   unsigned int access, bool readable)
{
	struct ur_stack here;
	struct ur_watched_mr *mr;

	if (!ibmr)
		return NULL;
	ur_stack_take(&here);
	ur_table_lock();
	mr = ur_watched(UR_KIND_MR, ibmr);
	if (!mr)
		mr = ur_watch(UR_KIND_MR, sizeof(*mr), ibmr, ibmr->context,
			      ibmr->lkey, &here);
	if (mr) {
		mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
		mr->addr = ibmr->addr;
		mr->length = ibmr->length;
		mr->rkey = ibmr->rkey;
		mr->access = access;
		mr->readable = readable && !(access & IBV_ACCESS_ON_DEMAND) &&
			       mr->iova == (uintptr_t)mr->addr;
		if (!mr->o.needs[0])
			ur_watch_needs(&mr->o,
				       ur_watched(UR_KIND_PD, ibmr->pd));
	}
	ur_table_unlock();
	return ibmr;
}

UR_FRONT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				   int access)
{
	judge_flags((unsigned int)access);
	return made(ur_real(UR_VERBS, ibv_reg_mr)(pd, addr, length, access),
		    (uintptr_t)addr, (unsigned int)access, true);
}

UR_FRONT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr,
					size_t length, uint64_t iova,
					int access)
{
	judge_flags((unsigned int)access);
	return made(ur_real(UR_VERBS, ibv_reg_mr_iova)(pd, addr, length, iova,
						       access),
		    iova, (unsigned int)access, true);
}

UR_FRONT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr,
					 size_t length, uint64_t iova,
					 unsigned int access)
{
	judge_flags(access);
	return made(ur_real(UR_VERBS, ibv_reg_mr_iova2)(pd, addr, length, iova,
							access),
		    iova, access, true);
}

UR_FRONT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
					  size_t length, uint64_t iova, int fd,
					  int access)
{
	judge_flags((unsigned int)access);
	return made(ur_real(UR_VERBS, ibv_reg_dmabuf_mr)(pd, offset, length,
							 iova, fd, access),
		    iova, (unsigned int)access, false);
}

UR_FRONT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct ibv_mr *mr = ur_real(UR_VERBS, ibv_import_mr)(pd, handle);

	/* Only the creating process knows the region's rights. */
	return mr ? made(mr, (uintptr_t)mr->addr, ~0u & ~IBV_ACCESS_ZERO_BASED,
			 false)
		  : NULL;
}

struct ibv_mr *ur_mr_made(struct ibv_mr *mr, uint64_t iova, unsigned int access,
			  bool readable)
{
	judge_flags(access);
	return made(mr, iova, access, readable);
}

struct ibv_mr *ur_front_alloc_null_mr(struct ibv_pd *pd)
{
	struct ibv_mr *mr = ur_front_real(pd->context)->verbs.alloc_null_mr(pd);

	made(mr, 0, IBV_ACCESS_LOCAL_WRITE, false);
	if (mr) {
		struct ur_watched_mr *watched;

		ur_table_lock();
		watched = ur_watched(UR_KIND_MR, mr);
		if (watched)
			watched->length = SIZE_MAX;
		ur_table_unlock();
	}
	return mr;
}

struct ibv_mr *ur_front_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
				  uint64_t offset, size_t length,
				  unsigned int access)
{
	judge_flags(access);
	return made(ur_front_real(pd->context)
			    ->verbs.reg_dm_mr(pd, dm, offset, length, access),
		    0, access, false);
}

UR_FRONT int ibv_rereg_mr(struct ibv_mr *ibmr, int flags, struct ibv_pd *pd,
			  void *addr, size_t length, int access)
{
	int err = ur_real(UR_VERBS, ibv_rereg_mr)(ibmr, flags, pd, addr, length,
						  access);
	struct ur_watched_mr *mr;

	if (err)
		return err;
	ur_table_lock();
	mr = ur_watched(UR_KIND_MR, ibmr);
	if (mr) {
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			mr->addr = addr;
			mr->iova = (uintptr_t)addr;
			mr->length = length;
		}
		if (flags & IBV_REREG_MR_CHANGE_ACCESS)
			mr->access = (unsigned int)access;
		if (flags & IBV_REREG_MR_CHANGE_PD) {
			if (mr->o.needs[0])
				mr->o.needs[0]->users--;
			mr->o.needs[0] = NULL;
			ur_watch_needs(&mr->o, ur_watched(UR_KIND_PD, pd));
		}
		mr->rkey = ibmr->rkey;
		ur_watch_number(&mr->o, ibmr->lkey);
	}
	ur_table_unlock();
	return 0;
}

typedef bool (*uses_fn)(const struct ur_request *request, const void *what);

static struct ur_request *user_in(struct ur_queue *queue, uses_fn uses,
				  const void *what)
{
	struct ur_request *request;

	for (uint32_t i = 0; (request = ur_queue_at(queue, i)); i++)
		if (!request->done && uses(request, what))
			return request;
	return NULL;
}

/* Returns an outstanding request of a live queue for which @uses is true, and
 * its queue in @owner. Requests posted to a queue pair in error are only
 * flushed. */
static struct ur_request *user(const void *context, uses_fn uses,
			       const void *what, struct ur_watched **owner)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_QP);
	struct ur_request *request = NULL;

	for (; o && !request; o = o->older) {
		struct ur_watched_qp *qp = (struct ur_watched_qp *)o;

		if ((context && o->context != context) || o->inherited ||
		    qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_RESET)
			continue;
		request = user_in(&qp->send, uses, what);
		/* Without a completion to wait for, no program can know. */
		if (request && !qp->send.signaled)
			request = NULL;
		if (!request)
			request = user_in(&qp->recv, uses, what);
		*owner = o;
	}
	return request;
}

static bool uses_region(const struct ur_request *request, const void *what)
{
	const struct ur_watched_mr *mr = what;

	for (int i = 0; i < request->sges && i < UR_REQUEST_SGES; i++)
		if (!request->inlined && request->sge[i].length &&
		    request->sge[i].lkey == mr->o.number)
			return true;
	return false;
}

struct byte_range {
	uint64_t begin, end;
};

static bool uses_range(const struct ur_request *request, const void *what)
{
	const struct byte_range *range = what;

	for (int i = 0; i < request->sges && i < UR_REQUEST_SGES; i++) {
		const struct ibv_sge *sge = &request->sge[i];
		const struct ur_watched_mr *mr =
			ur_watched_number(UR_KIND_MR, NULL, sge->lkey);

		if (!request->inlined && mr && mr->readable &&
		    sge->addr < range->end &&
		    sge->addr + sge->length > range->begin)
			return true;
	}
	return false;
}

static void name_user(enum ur_check_id id, const struct ur_watched *object,
		      const char *verb, const struct ur_request *request,
		      const struct ur_watched *queue)
{
	struct ur_stack_frame frame;

	ur_place_frame(&request->place, &frame);
	ur_report(id, object,
		  "%s wr_id 0x%llx of queue pair 0x%06x, posted at %s "
		  "(%s:%d), %s",
		  request->receive ? "receive" : "request",
		  (unsigned long long)request->wr_id, queue->number,
		  frame.function, frame.file[0] ? frame.file : frame.module,
		  frame.line, verb);
}

UR_FRONT int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct ur_request *request;
	struct ur_watched *owner;
	struct ur_watched_mr *mr;
	int err;

	ur_table_lock();
	mr = ur_watched(UR_KIND_MR, ibmr);
	if (mr) {
		request = user(mr->o.context, uses_region, mr, &owner);
		if (request)
			name_user(UR_CHECK_MR_IN_USE, &mr->o, "uses it",
				  request, owner);
		ur_watch_out(&mr->o);
	}
	ur_table_unlock();
	err = ur_real(UR_VERBS, ibv_dereg_mr)(ibmr);
	ur_watch_ended(mr ? &mr->o : NULL, err);
	return err;
}

static int (*real_munmap)(void *addr, size_t length);

void ur_unmap_find(void)
{
	real_munmap = ur_real("libc.so.6", munmap);
}

UR_FRONT int munmap(void *addr, size_t length)
{
	struct byte_range range = {(uintptr_t)addr, (uintptr_t)addr + length};
	struct ur_request *request;
	struct ur_watched *owner;

	/* Most programs have no queue pair; libraries unmap under locks. */
	if (__atomic_load_n(&ur_outstanding_any, __ATOMIC_RELAXED) &&
	    ur_table_trylock()) {
		request = user(NULL, uses_range, &range, &owner);
		if (request)
			name_user(UR_CHECK_MR_UNMAPPED, owner,
				  "uses memory that munmap() takes away",
				  request, owner);
		ur_table_unlock();
	}
	return real_munmap ? real_munmap(addr, length)
			   : (int)syscall(SYS_munmap, addr, length);
}
