/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The format of a device's flight recording, as returned by UROCE_TUN_STATUS "record" and
 * as written to files: sections, one per device. A section is a struct uroce_record_head,
 * n_owners times a struct uroce_record_owner, and n_slots slots of 64 bytes, the oldest
 * first: each a struct uroce_record, or one half of a struct uroce_record_packet.
 *
 * A field that is not listed for a kind is zero. Times are CLOCK_MONOTONIC in nanoseconds.
 * Numbers are in the machine's byte order; on a machine of the other order the magic number
 * does not match.
 */
#ifndef UROCE_RECORD_H
#define UROCE_RECORD_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UROCE_RECORD_MAGIC 0x31636552636f7275ull /* "urocRec1" */
#define UROCE_RECORD_SLOT  64
#define UROCE_RECORD_NAME  32
/* uid of records without a queue pair */
#define UROCE_RECORD_NOBODY  0xffffffffu
#define UROCE_RECORD_HEADERS 48

struct uroce_record_head {
	__u64 magic;
	__u64 monotonic_ns; /* both clocks, read together */
	__u64 realtime_ns;
	__u64 lost;    /* slots overwritten so far */
	__u32 n_slots; /* in this section */
	__u32 n_owners;
	__u32 hidden; /* records of other users, left out */
	__u32 rsv;
	char device[UROCE_RECORD_NAME];
	char netdev[UROCE_RECORD_NAME];
};

/* A process that had queue pairs. */
struct uroce_record_owner {
	__u32 pid;
	__u32 uid;
	char comm[24]; /* as the kernel has it: any bytes; NUL terminated */
};

enum uroce_record_kind {
	/* A work request was fetched from a send queue. op: enum uroce_wqe_opcode; psn: its
	 * first PSN, with UROCE_RECORD_F_PSN; psns: number of PSNs; length, wr_id, va,
	 * rkey, imm: as posted. */
	UROCE_RECORD_SEND = 1,
	/* A receive was consumed. length: its size; psns: the SRQ number, and then qpn is
	 * 0. */
	UROCE_RECORD_RECV = 2,
	/* A packet left or came in: struct uroce_record_packet. */
	UROCE_RECORD_PACKET_OUT = 3,
	UROCE_RECORD_PACKET_IN = 4,
	/* A completion. op: enum ibv_wc_opcode; status: enum ibv_wc_status;
	 * UROCE_RECORD_F_RECV; length: byte_len; psn: vendor_err; rkey:
	 * src_qp. */
	UROCE_RECORD_COMPLETION = 5,
	/* The state changed. op: the new, status: the old enum ibv_qp_state. */
	UROCE_RECORD_STATE = 6,
	/* op: enum ibv_event_type. */
	UROCE_RECORD_EVENT = 7,
	/* A retransmission or its reason. op: enum uroce_record_retry; psn: the oldest
	 * unacknowledged one; va: see there. */
	UROCE_RECORD_RETRY = 8,
	/* A request of the peer was refused. op: enum uroce_record_verdict; psn. */
	UROCE_RECORD_VERDICT = 9,
	/* A message went to a queue pair of the same device, without packets.
	 * op: enum uroce_wqe_opcode; length. */
	UROCE_RECORD_LOOP = 10,
	/* An event of rdma_cm was queued for a program. op: enum
	 * rdma_cm_event_type; va: its status, signed; qpn: 0 if the id has none
	 * yet. */
	UROCE_RECORD_CM = 11,
};

enum uroce_record_retry {
	UROCE_RECORD_REWIND = 1,   /* va: the next new PSN before the rewind */
	UROCE_RECORD_TIMEOUT = 2,  /* va: retries left */
	UROCE_RECORD_PROBE = 3,	   /* va: ns waited */
	UROCE_RECORD_RNR_WAIT = 4, /* va: ns to wait */
	/* a response is; va: PSN of the next one received */
	UROCE_RECORD_MISSING = 5,
};

enum uroce_record_verdict {
	UROCE_RECORD_DUPLICATE = 1,
	UROCE_RECORD_DROPPED = 2,
	UROCE_RECORD_NAK_SEQUENCE = 3,
	UROCE_RECORD_NAK_INVALID = 4,
	UROCE_RECORD_NAK_ACCESS = 5,
	UROCE_RECORD_NAK_OPERATION = 6,
	UROCE_RECORD_RNR = 7,
	UROCE_RECORD_GONE = 8,	  /* the process has ended */
	UROCE_RECORD_CLASS_J = 9, /* invalid key to invalidate */
};

#define UROCE_RECORD_F_RECV	(1u << 0)
#define UROCE_RECORD_F_PSN	(1u << 1)
#define UROCE_RECORD_F_SIGNALED (1u << 2)
#define UROCE_RECORD_F_V1	(1u << 3) /* PACKET: RoCEv1 */

struct uroce_record {
	__u64 ns;
	__u8 kind; /* enum uroce_record_kind */
	__u8 op;
	__u8 status;
	__u8 flags; /* UROCE_RECORD_F_* */
	__u32 qpn;
	__u32 uid; /* of the owner */
	__u32 pid;
	__u32 psn;
	__u32 length;
	__u64 wr_id;
	__u64 va;
	__u32 rkey;
	__u32 psns;
	__u32 dest_qpn; /* SEND, LOOP: destination, if known */
	__u32 imm; /* SEND: with the operations that have one; wire bytes */
};

struct uroce_record_packet {
	/* As in struct uroce_record. op: the BTH's opcode; status: bytes of
	 * headers; qpn: ours; length: from BTH to pad. */
	__u64 ns;
	__u8 kind;
	__u8 op;
	__u8 status;
	__u8 flags;
	__u32 qpn;
	__u32 uid;
	__u32 pid;
	__u32 psn;
	__u32 length;
	/* from the IP header, or the GRH, and UDP */
	__u32 flow_label;
	__u16 sport;
	__u8 tos;
	__u8 ttl;
	/* BTH and following headers, without payload; for a datagram to QP1 with the MAD
	 * header. */
	__u8 headers[UROCE_RECORD_HEADERS];
	__u8 rsv[8];
	__u8 saddr[16]; /* as GIDs */
	__u8 daddr[16];
};

#ifdef __cplusplus
}
#endif
#endif
