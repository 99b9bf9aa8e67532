/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of the 256 opcodes: the operation of each and the headers it
 * carries. */
#ifndef UR_TRANSPORT_OPCODE_H
#define UR_TRANSPORT_OPCODE_H

#include "util/bytes.h"
#include "transport/wire_format.h"

/* the packet's operation */
#define UR_OPF_SEND	    (1u << 0)
#define UR_OPF_WRITE	    (1u << 1) /* RDMA WRITE, not ATOMIC WRITE */
#define UR_OPF_READ_REQ	    (1u << 2)
#define UR_OPF_READ_RESP    (1u << 3)
#define UR_OPF_ATOMIC	    (1u << 4) /* CMP_SWAP or FETCH_ADD */
#define UR_OPF_ACK	    (1u << 5) /* ACK or NAK without data */
#define UR_OPF_ATOMIC_ACK   (1u << 6)
#define UR_OPF_FLUSH	    (1u << 7)
#define UR_OPF_ATOMIC_WRITE (1u << 8)
#define UR_OPF_CNP	    (1u << 9)

/* The packet's place in its message. START is set for first and only, END for
 * last and only; exactly one of the other four is set for every request and
 * response, none for CNP. */
#define UR_OPF_START  (1u << 10)
#define UR_OPF_END    (1u << 11)
#define UR_OPF_FIRST  (1u << 12)
#define UR_OPF_MIDDLE (1u << 13)
#define UR_OPF_LAST   (1u << 14)
#define UR_OPF_ONLY   (1u << 15)

/* Headers behind the BTH, in wire order, and whether payload may follow. */
#define UR_OPF_DETH	    (1u << 16)
#define UR_OPF_XRCETH	    (1u << 17)
#define UR_OPF_FETH	    (1u << 18)
#define UR_OPF_RETH	    (1u << 19)
#define UR_OPF_ATOMICETH    (1u << 20)
#define UR_OPF_AETH	    (1u << 21)
#define UR_OPF_ATOMICACKETH (1u << 22)
#define UR_OPF_IMM	    (1u << 23)
#define UR_OPF_INV	    (1u << 24) /* IETH: invalidate an R_Key */
#define UR_OPF_PAYLOAD	    (1u << 25)

#define UR_OPF_REQUEST	(1u << 26) /* goes to the responder */
#define UR_OPF_RESPONSE (1u << 27) /* goes to the requester */
/* This packet takes a receive WQE: first or only of SEND, and the packet
 * with immediate of a WRITE. */
#define UR_OPF_RECV_WQE (1u << 28)

/* Requests that get their own answer packet, not an acknowledgement. */
#define UR_OPF_OWN_ANSWER \
	(UR_OPF_READ_REQ | UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE | UR_OPF_FLUSH)

/* One opcode. An opcode that does not exist has no flags and no name. */
struct ur_opcode {
	const char *name; /* such as "RC SEND_FIRST"; NULL: no such opcode */
	u32 flags;	  /* UR_OPF_* */
	u8 header_bytes;  /* BTH and all headers behind it */
};

extern const struct ur_opcode ur_opcode_table[256];

/* Returns the entry of an opcode byte, never NULL. An unknown one has flags
 * 0. */
static inline const struct ur_opcode *ur_opcode_lookup(u8 opcode)
{
	return &ur_opcode_table[opcode];
}

/* Returns the name of an opcode for people, or "?". Static storage. */
const char *ur_opcode_name(u8 opcode);

#endif
