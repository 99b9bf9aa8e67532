/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reason for which a queue pair failed: handed to the host when it happens,
 * for later questions. Nothing of it goes to a peer. */
#ifndef UR_TRANSPORT_FAILURE_H
#define UR_TRANSPORT_FAILURE_H

#include "util/bytes.h"

enum ur_reason {
	UR_REASON_NONE, /* the status says all */
	/* for requests of its own */
	UR_REASON_NAK,	   /* the peer refused it */
	UR_REASON_SILENCE, /* retry_cnt is used up */
	UR_REASON_RNR,	   /* rnr_retry is used up */
	UR_REASON_SOURCE,  /* its own memory: denied says why */
	UR_REASON_ANSWER,  /* the peer's answer does not fit it */
	UR_REASON_FORM,	   /* opcode, number of elements or length */
	UR_REASON_RULE,	   /* the host made it fail */
	UR_REASON_RING,	   /* the program wrote nonsense into its ring */
	UR_REASON_CQ,	   /* the completion queue had no room */
	/* for requests of its peer */
	UR_REASON_MEMORY,      /* the memory that it names: denied says why */
	UR_REASON_QP_RIGHTS,   /* the queue pair's own rights: need, have */
	UR_REASON_ALIGN,       /* an atomic's address */
	UR_REASON_RESOURCES,   /* more READs and atomics than room */
	UR_REASON_ORDER,       /* a packet that does not go on where the last
			      * one stopped */
	UR_REASON_PACKET,      /* got bytes in a packet, room is the path MTU */
	UR_REASON_RECV_SHORT,  /* got bytes or more, room for less */
	UR_REASON_RECV_MEMORY, /* the receive's memory: denied says why */
	UR_REASON_INVALIDATE,  /* the key to invalidate */
	UR_REASON_NO_RECEIVES, /* there is no receive queue */
	UR_REASON_PROCESS,     /* the memory went with its process */
	UR_REASONS
};

/* The reasons for which an access to memory is denied. */
enum ur_denial {
	UR_DENIED_NOT,	  /* nothing by now, or it could not be reached */
	UR_DENIED_KEY,	  /* nobody has the key */
	UR_DENIED_DOMAIN, /* the key is of another protection domain */
	UR_DENIED_RANGE,
	UR_DENIED_RIGHTS,
	UR_DENIED_UNBOUND, /* a window that is not bound, or to another one */
};

/* The mistake that the peer may have made: without it the access would have
 * been inside a region. */
enum ur_meant {
	UR_MEANT_NOTHING,
	UR_MEANT_SWAPPED,     /* the address, with its bytes turned around */
	UR_MEANT_CUT,	      /* the address lacks its upper 32 bits */
	UR_MEANT_OFFSET,      /* the address counts from the region's begin */
	UR_MEANT_SWAPPED_KEY, /* the key, with its bytes turned around */
};

struct ur_denied {
	u8 why;	  /* enum ur_denial */
	u8 meant; /* enum ur_meant */
	u32 key;
	u32 need, have; /* UR_ACCESS_*; of a queue pair's own rights too */
	u64 addr, length;
	u64 first, size; /* of the region or window that has the key */
};

struct ur_failure {
	u64 at; /* the port's time */
	/* A request of its peer that it refused; else one of its own. */
	bool peers;
	u8 status; /* enum ur_wc_status, as whose request it is would see it */
	u8 opcode; /* enum ur_wr_opcode; 0: not known */
	u8 reason; /* enum ur_reason */
	u32 psn;
	u64 wr_id; /* of its own */
	u32 rkey;
	u64 addr, length;
	u32 room, got;
	struct ur_denied denied;
	/* for requests of its own: the oldest one that was not answered */
	u8 retries, rnr_retries, probes; /* used */
	u8 timeout, retry_cnt, rnr_retry;
	bool told;     /* the last retry was for a NAK and not for silence */
	bool answered; /* the peer has answered something before */
	bool stray;    /* meanwhile came answers to nothing that was sent: */
	u8 stray_syndrome;
	u32 stray_psn;
	u64 waited_ns;	/* since the request was sent first, about */
	int send_error; /* the host's: errno of packets that did not leave */
};

#endif
