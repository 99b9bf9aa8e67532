/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names of the states of a queue pair, in the order of libibverbs' enum
 * ibv_qp_state. */
#ifndef UR_UTIL_QP_STATE_H
#define UR_UTIL_QP_STATE_H

/* Returns the name, "?" for what is no state. Any thread. */
static inline const char *ur_qp_state_name(unsigned int state)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS",
					    "SQD",   "SQE",  "ERR"};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

#endif
