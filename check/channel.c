// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion channels and events: received, acknowledged, waited for in
 * vain. */
#include <fcntl.h>
#include <poll.h>

#include "check/front.h"
#include "check/real.h"
#include "check/report.h"

/*
 * How long an event may come after its completion, and how long another thread
 * may take from arming to polling, before a sleep is reported as endless. The
 * program sleeps for this time anyway.
 */
#define FIRST_MS 200
#define THEN_MS	 300

UR_FRONT struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel =
		ur_real(UR_VERBS, ibv_create_comp_channel)(context);

	if (channel)
		ur_watch_made(UR_KIND_CHANNEL, sizeof(struct ur_watched),
			      channel, context, UR_KIND_CONTEXT, context);
	return channel;
}

UR_FRONT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct ur_watched *object = ur_watch_ending(UR_KIND_CHANNEL, channel);
	int err = ur_real(UR_VERBS, ibv_destroy_comp_channel)(channel);

	ur_watch_ended(object, err);
	return err;
}

/* Returns whether the program would sleep for ever if this queue holds a
 * completion. */
static bool in_doubt(const struct ur_watched_cq *cq, const void *channel)
{
	return cq->channel == channel && !cq->ex && !cq->unseen &&
	       !(cq->armed && (cq->armed_solicited || cq->polled_since));
}

static struct ur_watched_cq *next_in_doubt(const void *channel)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_CQ);

	while (o && !in_doubt((struct ur_watched_cq *)o, channel))
		o = o->older;
	return (struct ur_watched_cq *)o;
}

/* Waits for an event. Returns whether there is one, or the wait was
 * interrupted. */
static bool comes(const struct ibv_comp_channel *channel, int ms)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};

	return poll(&p, 1, ms) != 0;
}

/* Checks a sleep of the program for an event that may never come. */
static void judge_sleep(const struct ibv_comp_channel *channel)
{
	struct ibv_cq *ibcq = NULL;
	struct ur_watched_cq *cq;
	int flags = fcntl(channel->fd, F_GETFL);

	if (flags < 0 || flags & O_NONBLOCK || comes(channel, 0))
		return;
	ur_table_lock();
	cq = next_in_doubt(channel);
	ur_table_unlock();
	if (!cq || comes(channel, FIRST_MS))
		return;
	ur_table_lock();
	cq = next_in_doubt(channel);
	if (cq)
		ibcq = (struct ibv_cq *)cq->o.handle;
	ur_table_unlock();
	if (!cq || !ur_cq_peek(cq, ibcq) || comes(channel, THEN_MS))
		return;
	ur_table_lock();
	if (cq == ur_watched(UR_KIND_CQ, ibcq) && in_doubt(cq, channel) &&
	    cq->has_kept) {
		if (cq->armed)
			ur_report(UR_CHECK_CQ_ARMED, &cq->o,
				  "it was armed with a completion in it (wr_id "
				  "0x%llx) and not polled since; no event will "
				  "come for that",
				  (unsigned long long)cq->kept.wr_id);
		else
			ur_report(
				UR_CHECK_CQ_NOT_ARMED, &cq->o,
				"it holds a completion (wr_id 0x%llx) and was "
				"not armed since its last event",
				(unsigned long long)cq->kept.wr_id);
	}
	ur_table_unlock();
}

UR_FRONT int ibv_get_cq_event(struct ibv_comp_channel *channel,
			      struct ibv_cq **ibcq, void **cq_context)
{
	struct ur_watched_cq *cq;
	int err;

	judge_sleep(channel);
	err = ur_real(UR_VERBS, ibv_get_cq_event)(channel, ibcq, cq_context);
	if (err)
		return err;
	ur_table_lock();
	cq = ur_watched(UR_KIND_CQ, *ibcq);
	if (cq) {
		cq->events_unacked++;
		cq->armed = false;
	}
	ur_table_unlock();
	return 0;
}

UR_FRONT void ibv_ack_cq_events(struct ibv_cq *ibcq, unsigned int nevents)
{
	struct ur_watched_cq *cq;

	ur_table_lock();
	cq = ur_watched(UR_KIND_CQ, ibcq);
	if (cq)
		cq->events_unacked -= nevents < cq->events_unacked
					      ? nevents
					      : cq->events_unacked;
	ur_table_unlock();
	ur_real(UR_VERBS, ibv_ack_cq_events)(ibcq, nevents);
}

/* Returns the object of an event, or NULL. */
static struct ur_watched *subject(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return ur_watched(UR_KIND_CQ, event->element.cq);
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return ur_watched(UR_KIND_QP, event->element.qp);
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return ur_watched(UR_KIND_SRQ, event->element.srq);
	default:
		return NULL;
	}
}

UR_FRONT int ibv_get_async_event(struct ibv_context *context,
				 struct ibv_async_event *event)
{
	int err = ur_real(UR_VERBS, ibv_get_async_event)(context, event);
	struct ur_watched *object;

	if (err)
		return err;
	ur_table_lock();
	object = subject(event);
	if (object) {
		object->async_unacked++;
		if (event->event_type == IBV_EVENT_CQ_ERR)
			ur_report(UR_CHECK_CQ_OVERRUN, object,
				  "it has room for %d completions, and %u were "
				  "to come of what is posted",
				  ((struct ur_watched_cq *)object)->cqe,
				  ((struct ur_watched_cq *)object)->expected);
	}
	ur_table_unlock();
	return 0;
}

UR_FRONT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ur_watched *object;

	ur_table_lock();
	object = subject(event);
	if (object && object->async_unacked)
		object->async_unacked--;
	ur_table_unlock();
	ur_real(UR_VERBS, ibv_ack_async_event)(event);
}
