/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every trace point: name and what a and b are. The host gets them through
 * ur_host_ops.trace with the QP number.
 */
#ifndef UR_TRANSPORT_TRACE_H
#define UR_TRANSPORT_TRACE_H

#include "util/bytes.h"

#define UR_TRACES(X)                                                      \
	X(QP_STATE)    /* a = old, b = new enum ur_qp_state */            \
	X(TX)	       /* a = opcode, b = PSN */                          \
	X(RX)	       /* a = opcode, b = PSN */                          \
	X(VERDICT)     /* a = enum ur_verdict, b = PSN */                 \
	X(ACK_SENT)    /* a = syndrome, b = PSN */                        \
	X(ACK_RCVD)    /* a = syndrome, b = PSN */                        \
	X(REWIND)      /* a = PSN gone back to, b = PSN come from */      \
	X(TIMEOUT)     /* a = retries left, b = oldest PSN */             \
	X(PROBE)       /* a = wait in ns, b = oldest PSN */               \
	X(RNR_WAIT)    /* a = wait in ns, b = PSN */                      \
	X(IMPLIED_NAK) /* a = PSN of the response seen, b = oldest PSN */ \
	X(WC)	       /* a = status << 8 | opcode, b = wr_id */          \
	X(LOOP)	       /* a = WQE opcode, b = bytes */                    \
	X(RATE)	       /* a = bits per second, b = alpha */               \
	X(WINDOW)      /* a = packets, b = smoothed round trip in ns */   \
	X(EVENT)       /* a = enum ur_event */

enum ur_trace_id {
#define X(name) UR_TRACE_##name,
	UR_TRACES(X)
#undef X
		UR_TRACE_COUNT
};

#endif
