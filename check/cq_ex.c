// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Extended completion queues: ibv_start_poll() and the readers of fields. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/front.h"
#include "check/report.h"
#include "check/touch.h"
#include "check/why.h"

static uint64_t self(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

/* Returns the queue, which stays while the program has it. */
static struct ur_watched_cq *of(struct ibv_cq_ex *ex)
{
	struct ur_watched_cq *cq;

	ur_table_lock();
	cq = ur_watched(UR_KIND_CQ, ex);
	ur_table_unlock();
	return cq;
}

static void got(struct ur_watched_cq *cq, struct ibv_cq_ex *ex)
{
	struct ibv_wc wc = {.wr_id = ex->wr_id, .status = ex->status};
	bool length = false;

	if (cq->real.read_qp_num)
		wc.qp_num = cq->real.read_qp_num(ex);
	if (wc.status == IBV_WC_SUCCESS && cq->real.read_opcode)
		wc.opcode = cq->real.read_opcode(ex);
	if (cq->real.read_opcode && wc.opcode == IBV_WC_RECV &&
	    cq->real.read_byte_len && cq->real.read_wc_flags) {
		wc.byte_len = cq->real.read_byte_len(ex);
		wc.wc_flags = cq->real.read_wc_flags(ex);
		length = true;
	}
	ur_table_lock();
	ur_completed(cq, &wc, cq->real.read_opcode, length);
	ur_table_unlock();
	if (wc.qp_num && ur_completion_failed(&wc))
		ur_check_why(cq->o.context, wc.qp_num);
}

/* Handles the step from one completion to the next. */
static void end_completion(struct ur_watched_cq *cq)
{
	bool unread;

	ur_touch_polls();
	ur_table_lock();
	unread = cq->empty_unread;
	cq->empty_unread = false;
	if (unread)
		ur_report(UR_CHECK_RECV_REST,
			  ur_watched_number(UR_KIND_QP, cq->o.context,
					    cq->empty_qpn),
			  "a message of 0 bytes came, behind others that were "
			  "not empty, and ibv_wc_read_byte_len() was not "
			  "called");
	ur_table_unlock();
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct ur_watched_cq *cq = of(ex);
	uint64_t me = self();
	int err;

	ur_touch_polls();
	ur_table_lock();
	if (cq->poller == me)
		ur_report(UR_CHECK_CQ_START_POLL, &cq->o,
			  "the poll before was not ended by ibv_end_poll()");
	ur_table_unlock();
	err = cq->real.start_poll(ex, attr);
	ur_table_lock();
	if (!err) {
		cq->poller = me;
		cq->failed_thread = 0;
	} else {
		cq->failed_thread = me;
		cq->polled_since |= err == ENOENT;
	}
	ur_table_unlock();
	if (!err)
		got(cq, ex);
	return err;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct ur_watched_cq *cq = of(ex);
	int err;

	end_completion(cq);
	err = cq->real.next_poll(ex);
	if (!err)
		got(cq, ex);
	return err;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	struct ur_watched_cq *cq = of(ex);
	bool wrong;

	ur_table_lock();
	wrong = cq->poller != self();
	if (wrong)
		ur_report(UR_CHECK_CQ_END_POLL, &cq->o,
			  cq->failed_thread == self()
				  ? "the ibv_start_poll() before it failed"
				  : "there was no ibv_start_poll()");
	else
		cq->poller = 0;
	ur_table_unlock();
	/* The call would release a lock that this thread does not hold. */
	if (wrong)
		return;
	end_completion(cq);
	cq->real.end_poll(ex);
}

static struct ur_watched_cq *reader(struct ibv_cq_ex *ex, const char *name)
{
	struct ur_watched_cq *cq = of(ex);

	if (ex->status == IBV_WC_SUCCESS)
		return cq;
	ur_table_lock();
	ur_report(UR_CHECK_WC_FIELD, &cq->o,
		  "%s was read of the completion of wr_id 0x%llx, whose status "
		  "is %d",
		  name, (unsigned long long)ex->wr_id, ex->status);
	ur_table_unlock();
	return cq;
}

#define READER(type, field)                                       \
	static type read_##field(struct ibv_cq_ex *ex)            \
	{                                                         \
		return reader(ex, #field)->real.read_##field(ex); \
	}

READER(enum ibv_wc_opcode, opcode)
READER(__be32, imm_data)
READER(uint32_t, src_qp)
READER(unsigned int, wc_flags)
READER(uint32_t, slid)
READER(uint8_t, sl)
READER(uint8_t, dlid_path_bits)

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	struct ur_watched_cq *cq = reader(ex, "byte_len");

	cq->empty_unread = false;
	return cq->real.read_byte_len(ex);
}

#define FRONT(field)                                     \
	do {                                             \
		if (ex->read_##field)                    \
			ex->read_##field = read_##field; \
	} while (0)

void ur_cq_ex_front(struct ur_watched_cq *cq)
{
	struct ibv_cq_ex *ex = cq->ex;

	cq->real = *ex;
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	FRONT(opcode);
	FRONT(byte_len);
	FRONT(imm_data);
	FRONT(src_qp);
	FRONT(wc_flags);
	FRONT(slid);
	FRONT(sl);
	FRONT(dlid_path_bits);
}
