/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counters: the names programs know (rxe's, then mlx5's). These count recovery:
 *
 * requester  packet_seq_err, rcvd_seq_err   sequence NAKs received
 *            implied_nak_seq_err            an answer was missing before another
 *            local_ack_timeout_err          the timeout of the attributes
 *            roce_adp_retrans               an early probe
 *            completer_retry_err            something was sent again, for any of
 *                                           these reasons
 *            rcvd_rnr_err, rnr_nak_retry_err  RNR NAKs; those that led to a wait
 *            ack_deferred                   answers that had to wait for a later
 *                                           turn, as Soft-RoCE counts them: none,
 *                                           each is dealt with as it comes in
 * responder  out_of_sequence                packets beyond a gap
 *            out_of_seq_request             sequence NAKs that left
 *            duplicate_request              packets that had arrived before
 *            send_rnr_err, out_of_buffer    RNR NAKs that left
 *            rx_missed_errors               lost: the ring of a program was full
 *
 * By priority, as mlx5's `ethtool -S` names them, tx_prioN_* and rx_prioN_*:
 * packets, and bytes from BTH to pad. The priority of a sent packet is its
 * service level or, where that is 0, the class of its DSCP (its upper three
 * bits). The priority of a received packet is always that class, since a socket
 * does not show the PCP. The counters of priority 0 are the totals less the
 * other priorities: ur_counters_read().
 */
#ifndef UR_TRANSPORT_COUNTERS_H
#define UR_TRANSPORT_COUNTERS_H

#include "util/bytes.h"

/* clang-format off */
#define UR_COUNTERS(X) \
	X(sent_pkts) X(rcvd_pkts) X(duplicate_request) X(out_of_seq_request) \
	X(rcvd_rnr_err) X(send_rnr_err) X(rcvd_seq_err) X(ack_deferred) \
	X(retry_exceeded_err) X(retry_rnr_exceeded_err) \
	X(completer_retry_err) X(send_err) X(link_downed) X(rdma_sends) \
	X(rdma_recvs) X(rx_write_requests) X(rx_read_requests) \
	X(rx_atomic_requests) X(out_of_buffer) X(out_of_sequence) \
	X(rnr_nak_retry_err) X(packet_seq_err) X(implied_nak_seq_err) \
	X(local_ack_timeout_err) X(roce_adp_retrans) X(rp_cnp_handled) \
	X(rp_cnp_ignored) X(np_cnp_sent) X(np_ecn_marked_roce_packets) \
	X(ecn_unanswered) \
	X(resp_local_length_error) X(resp_cqe_error) X(req_cqe_error) \
	X(req_remote_invalid_request) X(req_remote_access_errors) \
	X(resp_remote_access_errors) X(resp_cqe_flush_error) \
	X(req_cqe_flush_error) X(req_transport_retries_exceeded) \
	X(req_rnr_retries_exceeded) X(rx_icrc_encapsulated) \
	X(port_xmit_data) X(port_rcv_data) X(bad_opcode) X(bad_length) \
	X(bad_pkey) X(bad_qkey) X(bad_qpn) X(bad_gid) X(bad_state) \
	X(loop_msgs) X(loop_bytes) \
	X(tx_prio0_packets) X(tx_prio0_bytes) X(tx_prio1_packets) \
	X(tx_prio1_bytes) X(tx_prio2_packets) X(tx_prio2_bytes) \
	X(tx_prio3_packets) X(tx_prio3_bytes) X(tx_prio4_packets) \
	X(tx_prio4_bytes) X(tx_prio5_packets) X(tx_prio5_bytes) \
	X(tx_prio6_packets) X(tx_prio6_bytes) X(tx_prio7_packets) \
	X(tx_prio7_bytes) \
	X(rx_prio0_packets) X(rx_prio0_bytes) X(rx_prio1_packets) \
	X(rx_prio1_bytes) X(rx_prio2_packets) X(rx_prio2_bytes) \
	X(rx_prio3_packets) X(rx_prio3_bytes) X(rx_prio4_packets) \
	X(rx_prio4_bytes) X(rx_prio5_packets) X(rx_prio5_bytes) \
	X(rx_prio6_packets) X(rx_prio6_bytes) X(rx_prio7_packets) \
	X(rx_prio7_bytes) X(rx_missed_errors)
/* clang-format on */

enum ur_counter {
#define X(name) UR_CNT_##name,
	UR_COUNTERS(X)
#undef X
		UR_CNT_COUNT
};

/* Adds n to counter c of UR_CNT_COUNT. Other threads, and processes, may read it meanwhile. */
static inline void ur_counter_add(u64 *counters, enum ur_counter c, u64 n)
{
	u64 *at = &counters[c];

	/* One writer; readers must not see half a value. */
	__atomic_store_n(at, *at + n, __ATOMIC_RELAXED);
}

#define UR_PRIORITIES 8
/* The counters of a priority: packets, then bytes. */
#define UR_CNT_TX_PRIO(p) (UR_CNT_tx_prio0_packets + 2 * (p))
#define UR_CNT_RX_PRIO(p) (UR_CNT_rx_prio0_packets + 2 * (p))

/* Counts packets of so many bytes in total, BTH to pad, by priority: c is UR_CNT_TX_PRIO() or
 * UR_CNT_RX_PRIO() of it. Called before they are counted in the total, since priority 0 is computed
 * as the rest. */
void ur_counters_prio(u64 *counters, enum ur_counter c, u32 packets, u64 bytes);
/* Fills UR_CNT_COUNT values from live ones, which another process may write: it may write anything.
 * Only here are the counters of priority 0, computed from the others; they may lag by what is being
 * counted. Any thread. */
void ur_counters_read(const u64 *live, u64 *values);

/* The counters of one queue pair. Bytes are counted from BTH to pad, as
 * port_*_data has them. Messages between queue pairs of one device are counted
 * on both as loop_*. */
/* clang-format off */
#define UR_QP_COUNTERS(X) \
	X(sent_pkts) X(sent_bytes) X(rcvd_pkts) X(rcvd_bytes) X(loop_msgs) \
	X(loop_bytes) X(resent_pkts) X(retries) X(timeouts) X(rnr_waits) \
	X(out_of_sequence) X(duplicates)
/* clang-format on */

enum ur_qp_counter {
#define X(name) UR_QP_CNT_##name,
	UR_QP_COUNTERS(X)
#undef X
		UR_QP_CNT_COUNT
};

/* Layout of the shown words of a queue pair, which other threads and processes may read: its
 * counters; its state (enum ur_qp_state); the PSN of its first request, plus UR_QP_SHOWN_SET once
 * that is set. */
#define UR_QP_SHOWN_STATE  UR_QP_CNT_COUNT
#define UR_QP_SHOWN_SQ_PSN (UR_QP_CNT_COUNT + 1)
#define UR_QP_SHOWN	   (UR_QP_CNT_COUNT + 2)
#define UR_QP_SHOWN_SET	   (1ull << 24)

#endif
