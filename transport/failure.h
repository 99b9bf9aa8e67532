/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reason for which a queue pair failed. The port reports it to the host at
 * once, and nothing of it to a peer. */
#ifndef UR_TRANSPORT_FAILURE_H
#define UR_TRANSPORT_FAILURE_H

#include "util/bytes.h"

enum ur_reason {
	UR_REASON_NONE, /* the status says all */
	/* of the queue pair's own requests */
	UR_REASON_NAK,	   /* the peer refused the request */
	UR_REASON_SILENCE, /* retry_cnt is used up */
	UR_REASON_RNR,	   /* rnr_retry is used up */
	UR_REASON_SOURCE,  /* its own memory; see denied */
	UR_REASON_ANSWER,  /* the peer's answer does not fit the request */
	UR_REASON_FORM,	   /* opcode, number of elements or length */
	UR_REASON_RULE,	   /* a fault rule of the host */
	UR_REASON_RING,	   /* the program's ring is corrupt */
	UR_REASON_CQ,	   /* the completion queue had no room */
	/* of the peer's requests */
	UR_REASON_MEMORY, /* memory that the request names; see denied */
	/* the queue pair's access rights; see need, have */
	UR_REASON_QP_RIGHTS,
	UR_REASON_ALIGN, /* address of an atomic is not aligned */
	/* more READs and atomics than responder resources */
	UR_REASON_RESOURCES,
	UR_REASON_ORDER,  /* the packet does not continue the last one */
	UR_REASON_PACKET, /* payload of got bytes; room is the path MTU */
	/* message of got bytes or more for a receive of room bytes */
	UR_REASON_RECV_SHORT,
	UR_REASON_RECV_MEMORY, /* memory of the receive; see denied */
	UR_REASON_INVALIDATE,  /* the key to invalidate */
	UR_REASON_NO_RECEIVES, /* the queue pair has no receive queue */
	UR_REASON_PROCESS,     /* the memory's process has ended */
	UR_REASONS
};

/* The reasons for which an access to memory is denied. */
enum ur_denial {
	/* access is allowed by now, or the memory was unreachable */
	UR_DENIED_NOT,
	UR_DENIED_KEY,	  /* the key does not exist */
	UR_DENIED_DOMAIN, /* the key is of another protection domain */
	UR_DENIED_RANGE,
	UR_DENIED_RIGHTS,
	/* the window is unbound, or bound to another queue pair */
	UR_DENIED_UNBOUND,
};

/* A likely mistake of the peer: with it corrected, the access would fit a
 * region. */
enum ur_meant {
	UR_MEANT_NOTHING,
	UR_MEANT_SWAPPED, /* byte-swapped address */
	UR_MEANT_CUT,	  /* address without its upper 32 bits */
	/* offset from the start of the region, not an address */
	UR_MEANT_OFFSET,
	UR_MEANT_SWAPPED_KEY, /* byte-swapped key */
};

struct ur_denied {
	u8 why;	  /* enum ur_denial */
	u8 meant; /* enum ur_meant */
	u32 key;
	u32 need, have; /* UR_ACCESS_*; also for the queue pair's own rights */
	u64 addr, length;
	u64 first, size; /* range of the region or window with that key */
};

struct ur_failure {
	u64 at; /* the port's time */
	/* The peer's request failed; else one of its own. */
	bool peers;
	u8 status; /* enum ur_wc_status, as seen by the requester */
	u8 opcode; /* enum ur_wr_opcode; 0: not known */
	u8 reason; /* enum ur_reason */
	u32 psn;
	u64 wr_id; /* of an own request */
	u32 rkey;
	u64 addr, length;
	u32 room, got;
	struct ur_denied denied;
	/* for own requests: the oldest unanswered one */
	u8 retries, rnr_retries, probes; /* used so far */
	u8 timeout, retry_cnt, rnr_retry;
	bool by_nak;   /* the last retry was for a NAK, not for silence */
	bool answered; /* the peer has answered an earlier request */
	bool stray;    /* answers came meanwhile that match no request: */
	u8 stray_syndrome;
	u32 stray_psn;
	u64 waited_ns; /* since the request was first sent, approximately */
	/* errno of the last packets that the host could not send */
	int send_error;
};

#endif
