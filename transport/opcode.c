// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The opcode table. IBTA volume 1, 9.2.1 (operation codes) and 9.4 (headers
 * of each). RD is not implemented, so its opcodes do not exist here.
 */
#include "transport/opcode.h"

#define FIRST  (UR_OPF_FIRST | UR_OPF_START)
#define MIDDLE UR_OPF_MIDDLE
#define LAST   (UR_OPF_LAST | UR_OPF_END)
#define ONLY   (UR_OPF_ONLY | UR_OPF_START | UR_OPF_END)
#define REQ    UR_OPF_REQUEST
#define DATA   UR_OPF_PAYLOAD
#define TAKES  UR_OPF_RECV_WQE
#define SEND   (UR_OPF_SEND | REQ | DATA)
#define WRITE  (UR_OPF_WRITE | REQ | DATA)
#define RESP   (UR_OPF_READ_RESP | UR_OPF_RESPONSE | DATA)

/* Size of the headers that a set of flags asks for. */
#define SIZE(f)                                                  \
	(UR_BTH_BYTES + ((f)&UR_OPF_DETH ? UR_DETH_BYTES : 0) +  \
	 ((f)&UR_OPF_XRCETH ? UR_XRCETH_BYTES : 0) +             \
	 ((f)&UR_OPF_FETH ? UR_FETH_BYTES : 0) +                 \
	 ((f)&UR_OPF_RETH ? UR_RETH_BYTES : 0) +                 \
	 ((f)&UR_OPF_ATOMICETH ? UR_ATOMICETH_BYTES : 0) +       \
	 ((f)&UR_OPF_AETH ? UR_AETH_BYTES : 0) +                 \
	 ((f)&UR_OPF_ATOMICACKETH ? UR_ATOMICACKETH_BYTES : 0) + \
	 ((f)&UR_OPF_IMM ? UR_IMMDT_BYTES : 0) +                 \
	 ((f)&UR_OPF_INV ? UR_IETH_BYTES : 0) +                  \
	 ((f)&UR_OPF_CNP ? UR_CNP_RSVD_BYTES : 0))

/* svc: RC, UC, ...; more: flags that every request of the service has. */
#define OP(svc, op, more, f)      \
	[UR_SVC_##svc | UR_OPC_## \
		op] = {#svc " " #op, (f) | (more), SIZE((f) | (more))}

/* clang-format off */
#define SEND_WRITE(svc, more)						       \
	OP(svc, SEND_FIRST, more, SEND | FIRST | TAKES),		       \
	OP(svc, SEND_MIDDLE, more, SEND | MIDDLE),			       \
	OP(svc, SEND_LAST, more, SEND | LAST),				       \
	OP(svc, SEND_LAST_IMM, more, SEND | LAST | UR_OPF_IMM),		       \
	OP(svc, SEND_ONLY, more, SEND | ONLY | TAKES),			       \
	OP(svc, SEND_ONLY_IMM, more, SEND | ONLY | UR_OPF_IMM | TAKES),	       \
	OP(svc, WRITE_FIRST, more, WRITE | FIRST | UR_OPF_RETH),	       \
	OP(svc, WRITE_MIDDLE, more, WRITE | MIDDLE),			       \
	OP(svc, WRITE_LAST, more, WRITE | LAST),			       \
	OP(svc, WRITE_LAST_IMM, more, WRITE | LAST | UR_OPF_IMM | TAKES),      \
	OP(svc, WRITE_ONLY, more, WRITE | ONLY | UR_OPF_RETH),		       \
	OP(svc, WRITE_ONLY_IMM, more,					       \
	   WRITE | ONLY | UR_OPF_RETH | UR_OPF_IMM | TAKES)

#define RELIABLE(svc, more)						       \
	OP(svc, READ_REQ, more, UR_OPF_READ_REQ | REQ | ONLY | UR_OPF_RETH),   \
	OP(svc, READ_RESP_FIRST, 0, RESP | FIRST | UR_OPF_AETH),	       \
	OP(svc, READ_RESP_MIDDLE, 0, RESP | MIDDLE),			       \
	OP(svc, READ_RESP_LAST, 0, RESP | LAST | UR_OPF_AETH),		       \
	OP(svc, READ_RESP_ONLY, 0, RESP | ONLY | UR_OPF_AETH),		       \
	OP(svc, ACK, 0, UR_OPF_ACK | UR_OPF_RESPONSE | ONLY | UR_OPF_AETH),    \
	OP(svc, ATOMIC_ACK, 0, UR_OPF_ATOMIC_ACK | UR_OPF_RESPONSE | ONLY |    \
	   UR_OPF_AETH | UR_OPF_ATOMICACKETH),				       \
	OP(svc, CMP_SWAP, more,						       \
	   UR_OPF_ATOMIC | REQ | ONLY | UR_OPF_ATOMICETH),		       \
	OP(svc, FETCH_ADD, more,					       \
	   UR_OPF_ATOMIC | REQ | ONLY | UR_OPF_ATOMICETH),		       \
	OP(svc, SEND_LAST_INV, more, SEND | LAST | UR_OPF_INV),		       \
	OP(svc, SEND_ONLY_INV, more, SEND | ONLY | UR_OPF_INV | TAKES),	       \
	OP(svc, FLUSH, more,						       \
	   UR_OPF_FLUSH | REQ | ONLY | UR_OPF_FETH | UR_OPF_RETH),	       \
	OP(svc, ATOMIC_WRITE, more,					       \
	   UR_OPF_ATOMIC_WRITE | REQ | ONLY | UR_OPF_RETH | DATA)

const struct ur_opcode ur_opcode_table[256] = {
	SEND_WRITE(RC, 0),
	RELIABLE(RC, 0),
	SEND_WRITE(UC, 0),
	OP(UD, SEND_ONLY, UR_OPF_DETH, SEND | ONLY | TAKES),
	OP(UD, SEND_ONLY_IMM, UR_OPF_DETH, SEND | ONLY | UR_OPF_IMM | TAKES),
	[UR_OP_CNP] = {"CNP", UR_OPF_CNP, SIZE(UR_OPF_CNP)},
	SEND_WRITE(XRC, UR_OPF_XRCETH),
	RELIABLE(XRC, UR_OPF_XRCETH),
};
/* clang-format on */

const char *ur_opcode_name(u8 opcode)
{
	const char *name = ur_opcode_table[opcode].name;

	return name ? name : "?";
}
