// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reports the objects that are left at the end of the program. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/report.h"
#include "check/touch.h"
#include "check/vendor.h"

/* rdma_cm's contexts, and a protection domain in each, are librdmacm's own
 * until the process ends. */
static bool of_library(const struct ur_watched *o)
{
	return (o->kind == UR_KIND_CONTEXT || o->kind == UR_KIND_PD) &&
	       ur_stack_in_rdmacm(&o->made);
}

static unsigned int objects(void)
{
	unsigned int n = 0;

	for (int kind = UR_KINDS - 1; kind >= 0; kind--) {
		struct ur_watched *o = ur_watched_newest(kind);

		for (; o; o = o->older) {
			if (o->inherited || of_library(o))
				continue;
			n++;
			if (kind == UR_KIND_CM_ID &&
			    ((struct ur_watched_cm *)o)->removed)
				ur_report_at(
					UR_CHECK_CM_REMOVAL, o, &o->made,
					"RDMA_CM_EVENT_DEVICE_REMOVAL came "
					"for it");
			ur_report_at(UR_CHECK_LEAK, o, &o->made,
				     "this %s was never destroyed",
				     ur_kind_name(o->kind));
		}
	}
	return n;
}

static unsigned int unacked(const struct ur_watched *o)
{
	unsigned int n = o->async_unacked;

	if (o->kind == UR_KIND_CQ)
		n += ((const struct ur_watched_cq *)o)->events_unacked;
	if (o->kind == UR_KIND_CM_ID)
		n += ((const struct ur_watched_cm *)o)->events_unacked;
	return n;
}

static unsigned int events(void)
{
	unsigned int all = 0;

	for (int kind = 0; kind < UR_KINDS; kind++) {
		struct ur_watched *o = ur_watched_newest(kind);

		for (; o; o = o->older) {
			unsigned int n = o->inherited ? 0 : unacked(o);

			all += n;
			if (n)
				ur_report_at(UR_CHECK_LEAK_EVENTS, o, &o->made,
					     "%u events of this %s were not "
					     "acknowledged",
					     n, ur_kind_name(o->kind));
		}
	}
	return all;
}

static unsigned int requests(void)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_QP);
	unsigned int all = 0;

	for (; o; o = o->older) {
		struct ur_watched_qp *qp = (struct ur_watched_qp *)o;
		struct ur_request *request = NULL;
		struct ur_stack place;

		if (o->inherited || qp->state != IBV_QPS_RTS)
			continue;
		for (uint32_t i = 0; (request = ur_queue_at(&qp->send, i)); i++)
			if (!request->done && request->signaled)
				break;
		if (!request)
			continue;
		all += qp->send.signaled;
		ur_stack_of(&place, &request->place);
		ur_report_at(UR_CHECK_LEAK_REQUESTS, o, &place,
			     "%u signaled sends of this queue pair were "
			     "outstanding, the oldest wr_id 0x%llx, posted "
			     "here%s",
			     qp->send.signaled,
			     (unsigned long long)request->wr_id,
			     qp->attr_mask & IBV_QP_RNR_RETRY &&
					     qp->attr.rnr_retry == 7
				     ? "; rnr_retry 7 waits for ever for a "
				       "receive of the peer"
				     : "");
	}
	return all;
}

static bool forked;

void ur_summary_forked(void)
{
	forked = true;
}

/* Reports that nothing was checked, but only in the program that was named on
 * the command line: a launcher of others opens no device itself. */
static void judge_nothing(void)
{
	const char *pid = secure_getenv("RDMA_CHECK_PID");
	struct rusage children;

	if (!pid || strtol(pid, NULL, 10) != getpid() || ur_vendor_any() ||
	    forked || getrusage(RUSAGE_CHILDREN, &children) ||
	    children.ru_maxrss)
		return;
	ur_report_note(
		"the program opened no RDMA device: there was nothing to "
		"look at");
}

void ur_summary(void)
{
	unsigned int lost, acks, left;

	judge_nothing();
	ur_vendor_note();
	/* Another thread still posts: the end does not wait for it. */
	if (!ur_table_trylock())
		return;
	ur_touch_forget(NULL);
	left = requests();
	acks = events();
	lost = objects();
	if (ur_report_count() || lost || acks || left)
		ur_report_line("%u mistakes named; at the end %u objects "
			       "alive, %u events not acknowledged, %u sends "
			       "outstanding",
			       ur_report_count(), lost, acks, left);
	ur_table_unlock();
}
