// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibv_wr_*(): requests are built between ibv_wr_start() and ibv_wr_complete().
 * The provider may hold a lock of the queue pair meanwhile, so only the
 * building thread comes here; its requests are entered at the end.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/report.h"

static struct ur_watched_qp *of(struct ibv_qp_ex *ex)
{
	struct ur_watched_qp *qp;

	ur_table_lock();
	qp = ur_watched(UR_KIND_QP, &ex->qp_base);
	ur_table_unlock();
	return qp;
}

static void start(struct ibv_qp_ex *ex)
{
	uint64_t me = (uint64_t)syscall(SYS_gettid);
	struct ur_watched_qp *qp = of(ex);
	struct ur_code_place place;
	struct ur_stack_frame frame;

	ur_place_take(&place);
	ur_table_lock();
	if (qp->builder == me) {
		ur_place_frame(&qp->build_place, &frame);
		ur_report(UR_CHECK_WR_OPEN, &qp->o,
			  "the ibv_wr_start() before it, at %s (%s:%d), was "
			  "not ended",
			  frame.function,
			  frame.file[0] ? frame.file : frame.module,
			  frame.line);
	}
	ur_table_unlock();
	qp->real.wr_start(ex);
	ur_table_lock();
	qp->builder = me;
	qp->build_place = place;
	qp->built = 0;
	ur_table_unlock();
}

static struct ur_request *last(struct ur_watched_qp *qp)
{
	return qp->built ? &qp->build[qp->built - 1] : NULL;
}

static void build_request(struct ur_watched_qp *qp, struct ibv_qp_ex *ex,
			  enum ibv_wr_opcode opcode, uint32_t rkey,
			  uint64_t addr)
{
	struct ur_request *more;
	struct ur_code_place place;

	ur_place_take(&place);
	if (qp->built == qp->build_room) {
		uint32_t room = qp->build_room ? 2 * qp->build_room : 16;

		more = realloc(qp->build, room * sizeof(*more));
		if (!more)
			return;
		qp->build = more;
		qp->build_room = room;
	}
	qp->build[qp->built++] = (struct ur_request){
		.wr_id = ex->wr_id,
		.place = place,
		.opcode = opcode,
		.signaled = qp->sq_sig_all || ex->wr_flags & IBV_SEND_SIGNALED,
		.fenced = ex->wr_flags & IBV_SEND_FENCE,
		.remote_addr = addr,
		.rkey = rkey,
	};
}

/* Defines the function that builds requests of one kind: its parameters, then the same as arguments. */
#define BUILDER(entry, opcode, rkey, addr, parameters, ...)         \
	static void entry parameters                                \
	{                                                           \
		struct ur_watched_qp *qp = of(ex);                  \
                                                                    \
		qp->real.entry(__VA_ARGS__);                        \
		build_request(qp, ex, IBV_WR_##opcode, rkey, addr); \
	}

/* clang-format off */
BUILDER(wr_send, SEND, 0, 0, (struct ibv_qp_ex *ex), ex)
BUILDER(wr_send_imm, SEND_WITH_IMM, 0, 0, (struct ibv_qp_ex *ex, __be32 imm_data), ex, imm_data)
BUILDER(wr_send_inv, SEND_WITH_INV, 0, 0, (struct ibv_qp_ex *ex, uint32_t rkey), ex, rkey)
BUILDER(wr_rdma_write, RDMA_WRITE, rkey, addr,
	(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr),
	ex, rkey, addr)
BUILDER(wr_rdma_write_imm, RDMA_WRITE_WITH_IMM, rkey, addr,
	(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm_data),
	ex, rkey, addr, imm_data)
BUILDER(wr_rdma_read, RDMA_READ, rkey, addr,
	(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr),
	ex, rkey, addr)
BUILDER(wr_atomic_cmp_swp, ATOMIC_CMP_AND_SWP, rkey, addr,
	(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap),
	ex, rkey, addr, compare, swap)
BUILDER(wr_atomic_fetch_add, ATOMIC_FETCH_AND_ADD, rkey, addr,
	(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t value),
	ex, rkey, addr, value)
BUILDER(wr_local_inv, LOCAL_INV, rkey, 0, (struct ibv_qp_ex *ex, uint32_t rkey), ex, rkey)
BUILDER(wr_bind_mw, BIND_MW, rkey, 0,
	(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info),
	ex, mw, rkey, info)
/* clang-format on */

static void set_sge_list(struct ibv_qp_ex *ex, size_t n,
			 const struct ibv_sge *list)
{
	struct ur_watched_qp *qp = of(ex);
	struct ur_request *request = last(qp);

	if (request)
		ur_request_sges(request, list, (int)n);
	qp->real.wr_set_sge_list(ex, n, list);
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		    uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
	struct ur_watched_qp *qp = of(ex);
	struct ur_request *request = last(qp);

	if (request)
		ur_request_sges(request, &sge, 1);
	qp->real.wr_set_sge(ex, lkey, addr, length);
}

static void is_inline(struct ur_request *request, size_t length)
{
	if (!request)
		return;
	request->inlined = true;
	request->sges = 0;
	request->length = (uint32_t)length;
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ur_watched_qp *qp = of(ex);

	is_inline(last(qp), length);
	qp->real.wr_set_inline_data(ex, addr, length);
}

static void set_inline_data_list(struct ibv_qp_ex *ex, size_t n,
				 const struct ibv_data_buf *list)
{
	struct ur_watched_qp *qp = of(ex);
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		length += list[i].length;
	is_inline(last(qp), length);
	qp->real.wr_set_inline_data_list(ex, n, list);
}

static int complete(struct ibv_qp_ex *ex)
{
	struct ur_watched_qp *qp = of(ex);
	struct ur_code_place place;
	uint32_t built;
	int err;

	ur_place_take(&place);
	ur_table_lock();
	built = qp->built;
	for (uint32_t i = 0; i < built; i++) {
		ur_request_judge_built(qp, &qp->build[i]);
		ur_request_enter(qp, &qp->build[i]);
	}
	qp->built = 0;
	qp->builder = 0;
	ur_table_unlock();
	err = qp->real.wr_complete(ex);
	if (!err) {
		ur_send_over(&ex->qp_base, &place);
		return 0;
	}
	ur_table_lock();
	ur_request_refused(qp, built);
	ur_table_unlock();
	ur_send_full(&ex->qp_base, err, &place);
	return err;
}

static void stop(struct ibv_qp_ex *ex)
{
	struct ur_watched_qp *qp = of(ex);

	ur_table_lock();
	qp->built = 0;
	qp->builder = 0;
	ur_table_unlock();
	qp->real.wr_abort(ex);
}

#define FRONT(entry, ours)                \
	do {                              \
		if (ex->entry)            \
			ex->entry = ours; \
	} while (0)

void ur_wr_front(struct ur_watched_qp *qp)
{
	struct ibv_qp_ex *ex = qp->ex;

	qp->real = *ex;
	FRONT(wr_start, start);
	FRONT(wr_complete, complete);
	FRONT(wr_abort, stop);
	FRONT(wr_send, wr_send);
	FRONT(wr_send_imm, wr_send_imm);
	FRONT(wr_send_inv, wr_send_inv);
	FRONT(wr_rdma_write, wr_rdma_write);
	FRONT(wr_rdma_write_imm, wr_rdma_write_imm);
	FRONT(wr_rdma_read, wr_rdma_read);
	FRONT(wr_atomic_cmp_swp, wr_atomic_cmp_swp);
	FRONT(wr_atomic_fetch_add, wr_atomic_fetch_add);
	FRONT(wr_local_inv, wr_local_inv);
	FRONT(wr_bind_mw, wr_bind_mw);
	FRONT(wr_set_sge, set_sge);
	FRONT(wr_set_sge_list, set_sge_list);
	FRONT(wr_set_inline_data, set_inline_data);
	FRONT(wr_set_inline_data_list, set_inline_data_list);
}
