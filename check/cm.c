// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* rdma_cm: ids, their queue pairs and events. */

#include "check/front.h"
#include "check/real.h"
#include "check/report.h"
#include "check/why.h"
#include "util/verbs_words.h"

#define CM_EVENT(number, name)                                \
	_Static_assert((int)RDMA_CM_EVENT_##name == (number), \
		       "of librdmacm: " #name);
/* clang-format off */
UR_RDMA_CM_EVENT_LIST(CM_EVENT)
/* clang-format on */

/* Calls librdmacm, whose own calls are not the program's. */
#define INSIDE(call)                      \
	({                                \
		ur_inside_cm++;           \
		__auto_type ret = (call); \
		ur_inside_cm--;           \
		ret;                      \
	})

/* Returns whether the caller is librdmacm itself (rsockets, synchronous ids),
 * whose own ids are not checked. */
#define THEIRS (ur_inside_cm || ur_of_rdmacm(__builtin_return_address(0)))

static struct ur_watched_cm *watch(struct rdma_cm_id *id)
{
	struct ur_watched_cm *cm = ur_watched(UR_KIND_CM_ID, id);
	struct ur_stack here;

	if (cm)
		return cm;
	ur_stack_take(&here);
	cm = ur_watch(UR_KIND_CM_ID, sizeof(*cm), id, NULL, 0, &here);
	if (cm)
		ur_watch_needs(&cm->o,
			       ur_watched(UR_KIND_CM_CHANNEL, id->channel));
	return cm;
}

/* Enters the id in *id that a function of librdmacm has made, unless it returned an error, which is returned, or
 * was called by librdmacm itself. */
static int made(int err, bool theirs, struct rdma_cm_id **id)
{
	if (err || theirs)
		return err;
	ur_table_lock();
	watch(*id);
	ur_table_unlock();
	return 0;
}

UR_FRONT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel =
		INSIDE(ur_real(UR_RDMACM, rdma_create_event_channel)());
	struct ur_stack here;

	/* A synchronous id's channel is the library's. */
	if (!channel || THEIRS)
		return channel;
	ur_stack_take(&here);
	ur_table_lock();
	ur_watch(UR_KIND_CM_CHANNEL, sizeof(struct ur_watched), channel, NULL,
		 0, &here);
	ur_table_unlock();
	return channel;
}

UR_FRONT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct ur_watched *object;

	ur_table_lock();
	object = ur_watched(UR_KIND_CM_CHANNEL, channel);
	if (object) {
		if (object->users)
			ur_busy(object);
		ur_watch_out(object);
		ur_watch_gone(object);
	}
	ur_table_unlock();
	ur_inside_cm++;
	ur_real(UR_RDMACM, rdma_destroy_event_channel)(channel);
	ur_inside_cm--;
}

UR_FRONT int rdma_create_id(struct rdma_event_channel *channel,
			    struct rdma_cm_id **id, void *context,
			    enum rdma_port_space ps)
{
	int err = INSIDE(
		ur_real(UR_RDMACM, rdma_create_id)(channel, id, context, ps));

	return made(err, THEIRS, id);
}

UR_FRONT int rdma_migrate_id(struct rdma_cm_id *id,
			     struct rdma_event_channel *channel)
{
	int err = INSIDE(ur_real(UR_RDMACM, rdma_migrate_id)(id, channel));
	struct ur_watched_cm *cm;

	if (err || THEIRS)
		return err;
	ur_table_lock();
	cm = ur_watched(UR_KIND_CM_ID, id);
	if (cm) {
		ur_watch_needs_no(&cm->o, UR_KIND_CM_CHANNEL);
		ur_watch_needs(&cm->o, ur_watched(UR_KIND_CM_CHANNEL, channel));
	}
	ur_table_unlock();
	return 0;
}

UR_FRONT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
			    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	int err = INSIDE(ur_real(UR_RDMACM, rdma_create_ep)(id, res, pd, attr));

	return made(err, THEIRS, id);
}

UR_FRONT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	int err = INSIDE(ur_real(UR_RDMACM, rdma_get_request)(listen, id));

	return made(err, THEIRS, id);
}

/* Checks what is left when an id ends: events, and a queue pair unless the call
 * destroys it (@whole). */
static void ending(struct rdma_cm_id *id, bool whole)
{
	struct ur_watched_cm *cm;

	ur_table_lock();
	cm = ur_watched(UR_KIND_CM_ID, id);
	if (cm) {
		if (cm->events_unacked)
			ur_report(UR_CHECK_CM_UNACKED, &cm->o,
				  "%u events of it were got by "
				  "rdma_get_cm_event() and not acknowledged",
				  cm->events_unacked);
		if (!whole && id->qp && ur_watched(UR_KIND_QP, id->qp))
			ur_report(UR_CHECK_CM_QP_LEFT, &cm->o,
				  "it has queue pair 0x%06x", id->qp->qp_num);
		ur_watch_out(&cm->o);
		ur_watch_gone(&cm->o);
	}
	ur_table_unlock();
}

UR_FRONT int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (!THEIRS)
		ending(id, false);
	return INSIDE(ur_real(UR_RDMACM, rdma_destroy_id)(id));
}

UR_FRONT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (!THEIRS)
		ending(id, true);
	ur_inside_cm++;
	ur_real(UR_RDMACM, rdma_destroy_ep)(id);
	ur_inside_cm--;
}

UR_FRONT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			    struct ibv_qp_init_attr *attr)
{
	return INSIDE(ur_real(UR_RDMACM, rdma_create_qp)(id, pd, attr));
}

UR_FRONT int rdma_create_qp_ex(struct rdma_cm_id *id,
			       struct ibv_qp_init_attr_ex *attr)
{
	return INSIDE(ur_real(UR_RDMACM, rdma_create_qp_ex)(id, attr));
}

UR_FRONT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ur_inside_cm++;
	ur_real(UR_RDMACM, rdma_destroy_qp)(id);
	ur_inside_cm--;
}

/* Returns the id whose destruction waits for the event; for a connect request
 * the listener. */
static struct rdma_cm_id *waits(const struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->listen_id
							     : event->id;
}

UR_FRONT int rdma_get_cm_event(struct rdma_event_channel *channel,
			       struct rdma_cm_event **event)
{
	int err = INSIDE(ur_real(UR_RDMACM, rdma_get_cm_event)(channel, event));
	struct ur_watched_cm *cm;

	if (err || THEIRS)
		return err;
	ur_table_lock();
	cm = ur_watched(UR_KIND_CM_ID, waits(*event));
	if (cm)
		cm->events_unacked++;
	/* Another thread may have destroyed the id by now. */
	cm = (*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST
		     ? watch((*event)->id)
		     : ur_watched(UR_KIND_CM_ID, (*event)->id);
	if (cm) {
		if ((*event)->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			cm->removed = true;
		/* Datagrams' events have other parameters in this place. */
		if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
		    (*event)->id->ps == RDMA_PS_TCP) {
			cm->seen_param = true;
			cm->initiator_depth =
				(*event)->param.conn.initiator_depth;
		}
	}
	ur_table_unlock();
	if ((*event)->event == RDMA_CM_EVENT_REJECTED ||
	    (*event)->event == RDMA_CM_EVENT_UNREACHABLE)
		ur_check_why((*event)->id->verbs, 0);
	return 0;
}

UR_FRONT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct ur_watched_cm *cm;

	if (event && !THEIRS) {
		ur_table_lock();
		cm = ur_watched(UR_KIND_CM_ID, waits(event));
		if (cm && cm->events_unacked)
			cm->events_unacked--;
		ur_table_unlock();
	}
	return INSIDE(ur_real(UR_RDMACM, rdma_ack_cm_event)(event));
}

UR_FRONT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct ur_watched_cm *cm;

	ur_table_lock();
	cm = THEIRS ? NULL : ur_watched(UR_KIND_CM_ID, id);
	if (cm && cm->seen_param && param &&
	    param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	    param->initiator_depth > cm->initiator_depth)
		ur_report(UR_CHECK_RD_ATOMIC, &cm->o,
			  "initiator_depth is %u; the peer takes %u "
			  "(initiator_depth of the event)",
			  param->initiator_depth, cm->initiator_depth);
	ur_table_unlock();
	return INSIDE(ur_real(UR_RDMACM, rdma_accept)(id, param));
}

UR_FRONT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return INSIDE(ur_real(UR_RDMACM, rdma_connect)(id, param));
}

UR_FRONT int rdma_disconnect(struct rdma_cm_id *id)
{
	return INSIDE(ur_real(UR_RDMACM, rdma_disconnect)(id));
}
