// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of states and events, for logs and traces, made from the lists of cm.h.
 */
#include "cm/conn.h"

const char *ur_cm_state_name(enum ur_cm_state state)
{
	static const char *const names[] = {
#define STATE_NAME(name) #name,
		UR_CM_STATES(STATE_NAME)
#undef STATE_NAME
	};

	return (u32)state < UR_ARRAY_SIZE(names) ? names[state] : "?";
}

const char *ur_cm_event_name(enum ur_cm_event_type type)
{
	static const char *const names[] = {
#define EVENT_NAME(name) #name,
		UR_CM_EVENTS(EVENT_NAME)
#undef EVENT_NAME
	};

	return (u32)type < UR_ARRAY_SIZE(names) ? names[type] : "?";
}
