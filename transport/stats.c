// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters: read by any thread, counted for the host. */
#include "transport/qp.h"

const u64 *ur_port_counters(const struct ur_port *port)
{
	return port->counters;
}

void ur_port_count(struct ur_port *port, enum ur_counter c, u64 n)
{
	__atomic_store_n(&port->counters[c], port->counters[c] + n,
			 __ATOMIC_RELAXED);
}

const u64 *ur_qp_counters(const struct ur_qp *qp)
{
	return qp->counters;
}
