/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers of asynchronous events, as libibverbs' enum ibv_event_type has
 * them. */
#ifndef UR_UTIL_VERBS_EVENT_H
#define UR_UTIL_VERBS_EVENT_H

enum ur_event {
	UR_EVENT_CQ_ERR = 0,
	UR_EVENT_QP_FATAL = 1,
	UR_EVENT_QP_REQ_ERR = 2,
	UR_EVENT_QP_ACCESS_ERR = 3,
	UR_EVENT_COMM_EST = 4,
	UR_EVENT_SQ_DRAINED = 5,
	UR_EVENT_DEVICE_FATAL = 8,
	UR_EVENT_PORT_ACTIVE = 9,
	UR_EVENT_PORT_ERR = 10,
	UR_EVENT_SRQ_ERR = 14,
	UR_EVENT_SRQ_LIMIT_REACHED = 15,
	UR_EVENT_QP_LAST_WQE_REACHED = 16,
	UR_EVENT_GID_CHANGE = 18,
	UR_EVENT_WQ_FATAL = 19,
};

#endif
