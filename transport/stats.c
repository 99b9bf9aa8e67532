// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters: read by any thread, counted for the host. */
#include "transport/qp.h"

const u64 *ur_port_counters(const struct ur_port *port)
{
	return port->counters;
}

void ur_port_count(struct ur_port *port, enum ur_counter c, u64 n)
{
	ur_count_many(port, c, n);
}

void ur_counters_prio(u64 *counters, enum ur_counter c, u32 packets, u64 bytes)
{
	ur_counter_add(counters, c, packets);
	ur_counter_add(counters, c + 1, bytes);
}

/* Returns the total less the other priorities. A packet is counted for its
 * priority before the total; the total is read first, so the priorities are
 * never too small. */
static u64 rest(const u64 *live, u64 all, u32 c)
{
	for (u32 p = 1; p < UR_PRIORITIES; p++) {
		u64 v = __atomic_load_n(&live[c + 2 * p], __ATOMIC_RELAXED);

		all -= ur_min_u64(all, v);
	}
	return all;
}

void ur_counters_read(const u64 *live, u64 *values)
{
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		values[i] = __atomic_load_n(&live[i], __ATOMIC_RELAXED);
	values[UR_CNT_tx_prio0_packets] =
		rest(live, values[UR_CNT_sent_pkts], UR_CNT_tx_prio0_packets);
	values[UR_CNT_tx_prio0_bytes] = rest(
		live, 4 * values[UR_CNT_port_xmit_data], UR_CNT_tx_prio0_bytes);
	values[UR_CNT_rx_prio0_packets] =
		rest(live, values[UR_CNT_rcvd_pkts], UR_CNT_rx_prio0_packets);
	values[UR_CNT_rx_prio0_bytes] = rest(
		live, 4 * values[UR_CNT_port_rcv_data], UR_CNT_rx_prio0_bytes);
}

const u64 *ur_qp_counters(const struct ur_qp *qp)
{
	return qp->shown;
}

bool ur_qp_is_shown(const struct ur_qp *qp)
{
	return qp->shown != qp->own_shown;
}
