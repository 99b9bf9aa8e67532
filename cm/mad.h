/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The 256-byte communication management MADs (class 0x07, version 2) as plain
 * structs, and the codec between the two. Every field of the messages has a
 * member; reserved bits are ignored on parsing and zero on building. Values
 * are in host order, GIDs and private data are bytes in wire order.
 *
 * The layouts are those of IBA volume 1, chapter 12.6 to 12.11.
 */
#ifndef UR_CM_MAD_H
#define UR_CM_MAD_H

#include "util/bytes.h"

#define UR_CM_MAD_BYTES	   256
#define UR_CM_HEADER_BYTES 24
/* The queue key every GSI (QP1) datagram carries, IBA 3.5.4. */
#define UR_CM_GSI_QKEY 0x80010000u

#define UR_CM_REQ_PRIVATE      92
#define UR_CM_MRA_PRIVATE      222
#define UR_CM_REJ_PRIVATE      148
#define UR_CM_REP_PRIVATE      196
#define UR_CM_RTU_PRIVATE      224
#define UR_CM_DREQ_PRIVATE     220
#define UR_CM_DREP_PRIVATE     224
#define UR_CM_LAP_PRIVATE      168
#define UR_CM_APR_PRIVATE      148
#define UR_CM_SIDR_REQ_PRIVATE 216
#define UR_CM_SIDR_REP_PRIVATE 136
#define UR_CM_ARI_BYTES	       72

enum ur_cm_attr {
	UR_CM_REQ = 0x10,
	UR_CM_MRA = 0x11,
	UR_CM_REJ = 0x12,
	UR_CM_REP = 0x13,
	UR_CM_RTU = 0x14,
	UR_CM_DREQ = 0x15,
	UR_CM_DREP = 0x16,
	UR_CM_SIDR_REQ = 0x17,
	UR_CM_SIDR_REP = 0x18,
	UR_CM_LAP = 0x19,
	UR_CM_APR = 0x1a,
	UR_CM_ATTR_END,
};

/* The kind of message that an MRA or REJ refers to. */
enum ur_cm_answered {
	UR_CM_ANSWERS_REQ = 0,
	UR_CM_ANSWERS_REP = 1,
	UR_CM_ANSWERS_OTHER = 2,
};

/* REJ reasons, IBA 12.6.7.2, that uroce sends or handles. */
enum ur_cm_rej_reason {
	UR_CM_REJ_NO_QP = 1,
	UR_CM_REJ_NO_RESOURCES = 3,
	UR_CM_REJ_TIMEOUT = 4,
	UR_CM_REJ_UNSUPPORTED = 5,
	UR_CM_REJ_INVALID_COMM_ID = 6,
	UR_CM_REJ_INVALID_SERVICE_ID = 8,
	UR_CM_REJ_INVALID_TRANSPORT_TYPE = 9,
	UR_CM_REJ_STALE_CONN = 10,
	UR_CM_REJ_INVALID_GID = 12,
	UR_CM_REJ_INVALID_MTU = 26,
	UR_CM_REJ_INSUFFICIENT_RESP_RESOURCES = 27,
	UR_CM_REJ_CONSUMER_DEFINED = 28,
	UR_CM_REJ_INVALID_RNR_RETRY = 29,
	UR_CM_REJ_DUPLICATE_LOCAL_COMM_ID = 30,
	UR_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

enum ur_cm_sidr_status {
	UR_CM_SIDR_SUCCESS = 0,
	UR_CM_SIDR_UNSUPPORTED = 1,
	UR_CM_SIDR_REJECT = 2,
	UR_CM_SIDR_NO_QP = 3,
	UR_CM_SIDR_REDIRECT = 4,
	UR_CM_SIDR_UNSUPPORTED_VERSION = 5,
};

enum ur_cm_apr_status {
	UR_CM_APR_SUCCESS = 0,
	UR_CM_APR_INVALID_COMM_ID = 1,
	UR_CM_APR_UNSUPPORTED = 2,
};

/* Bits of ur_cm_req.transport_type, IBA 12.6.5. */
enum ur_cm_transport {
	UR_CM_TRANSPORT_RC = 0,
	UR_CM_TRANSPORT_UC = 1,
	UR_CM_TRANSPORT_RD = 2,
	UR_CM_TRANSPORT_EXTENDED = 3, /* ext_transport_type says which */
};

/* One path of a REQ. Times are exponents: 4.096 us * 2^t. */
struct ur_cm_req_path {
	u16 local_lid;
	u16 remote_lid;
	u8 local_gid[16];
	u8 remote_gid[16];
	u32 flow_label; /* 20 bits */
	u8 rate;	/* 6 bits */
	u8 traffic_class;
	u8 hop_limit;
	u8 sl;		 /* 4 bits */
	u8 subnet_local; /* 1 bit */
	u8 ack_timeout;	 /* 5 bits */
};

struct ur_cm_req {
	u32 local_comm_id;
	u32 vendor_id; /* 24 bits, enhanced connection establishment */
	u64 service_id;
	u64 local_ca_guid;
	u32 local_qkey;
	u32 local_qpn; /* 24 bits */
	u8 responder_resources;
	u32 local_eecn; /* 24 bits */
	u8 initiator_depth;
	u32 remote_eecn;	    /* 24 bits */
	u8 remote_response_timeout; /* 5 bits */
	u8 transport_type;	    /* 2 bits, enum ur_cm_transport */
	u8 flow_control;	    /* 1 bit */
	u32 starting_psn;	    /* 24 bits */
	u8 local_response_timeout;  /* 5 bits */
	u8 retry_count;		    /* 3 bits */
	u16 pkey;
	u8 path_mtu;	       /* 4 bits, 1: 256 ... 5: 4096 */
	u8 rdc_exists;	       /* 1 bit */
	u8 rnr_retry_count;    /* 3 bits */
	u8 max_cm_retries;     /* 4 bits */
	u8 srq;		       /* 1 bit */
	u8 ext_transport_type; /* 3 bits, 1: XRC */
	struct ur_cm_req_path primary;
	struct ur_cm_req_path alternate;
	u8 private_data[UR_CM_REQ_PRIVATE];
};

struct ur_cm_mra {
	u32 local_comm_id;
	u32 remote_comm_id;
	u8 answers;	    /* 2 bits, enum ur_cm_answered */
	u8 service_timeout; /* 5 bits */
	u8 private_data[UR_CM_MRA_PRIVATE];
};

struct ur_cm_rej {
	u32 local_comm_id;
	u32 remote_comm_id;
	u8 answers;   /* 2 bits, enum ur_cm_answered */
	u8 ari_bytes; /* 7 bits; may be above UR_CM_ARI_BYTES on the wire */
	u16 reason;
	u8 ari[UR_CM_ARI_BYTES];
	u8 private_data[UR_CM_REJ_PRIVATE];
};

struct ur_cm_rep {
	u32 local_comm_id;
	u32 remote_comm_id;
	u32 local_qkey;
	u32 local_qpn;	  /* 24 bits */
	u32 vendor_id;	  /* 24 bits, in three pieces on the wire */
	u32 local_eecn;	  /* 24 bits; an XRC target puts its QPN here */
	u32 starting_psn; /* 24 bits */
	u8 responder_resources;
	u8 initiator_depth;
	u8 target_ack_delay;  /* 5 bits */
	u8 failover_accepted; /* 2 bits */
	u8 flow_control;      /* 1 bit */
	u8 rnr_retry_count;   /* 3 bits */
	u8 srq;		      /* 1 bit */
	u64 local_ca_guid;
	u8 private_data[UR_CM_REP_PRIVATE];
};

struct ur_cm_rtu {
	u32 local_comm_id;
	u32 remote_comm_id;
	u8 private_data[UR_CM_RTU_PRIVATE];
};

struct ur_cm_dreq {
	u32 local_comm_id;
	u32 remote_comm_id;
	u32 remote_qpn; /* 24 bits: the receiver's queue pair */
	u8 private_data[UR_CM_DREQ_PRIVATE];
};

struct ur_cm_drep {
	u32 local_comm_id;
	u32 remote_comm_id;
	u8 private_data[UR_CM_DREP_PRIVATE];
};

struct ur_cm_lap {
	u32 local_comm_id;
	u32 remote_comm_id;
	u32 remote_qpn;		    /* 24 bits */
	u8 remote_response_timeout; /* 5 bits */
	struct ur_cm_req_path alternate;
	u8 private_data[UR_CM_LAP_PRIVATE];
};

struct ur_cm_apr {
	u32 local_comm_id;
	u32 remote_comm_id;
	u8 ari_bytes;
	u8 status; /* enum ur_cm_apr_status */
	u8 ari[UR_CM_ARI_BYTES];
	u8 private_data[UR_CM_APR_PRIVATE];
};

struct ur_cm_sidr_req {
	u32 request_id;
	u16 pkey;
	u64 service_id;
	u8 private_data[UR_CM_SIDR_REQ_PRIVATE];
};

struct ur_cm_sidr_rep {
	u32 request_id;
	u8 status; /* enum ur_cm_sidr_status */
	u8 ari_bytes;
	u32 vendor_id; /* 24 bits, in two pieces on the wire */
	u32 qpn;       /* 24 bits */
	u64 service_id;
	u32 qkey;
	u8 ari[UR_CM_ARI_BYTES];
	u8 private_data[UR_CM_SIDR_REP_PRIVATE];
};

struct ur_cm_mad {
	u16 status;
	u16 class_specific;
	u64 tid;
	u16 attr; /* enum ur_cm_attr */
	u32 attr_mod;
	union {
		struct ur_cm_req req;
		struct ur_cm_mra mra;
		struct ur_cm_rej rej;
		struct ur_cm_rep rep;
		struct ur_cm_rtu rtu;
		struct ur_cm_dreq dreq;
		struct ur_cm_drep drep;
		struct ur_cm_lap lap;
		struct ur_cm_apr apr;
		struct ur_cm_sidr_req sidr_req;
		struct ur_cm_sidr_rep sidr_rep;
	} u;
};

/*
 * Parses a MAD of len bytes at buf into *mad; ignores bytes after the 256th.
 * Returns 0, -EINVAL (too short, another class, version or method) or
 * -EOPNOTSUPP (an attribute that is not in enum ur_cm_attr). *mad is all zero
 * on error.
 */
int ur_cm_mad_parse(const u8 *buf, size_t len, struct ur_cm_mad *mad);

/*
 * Writes one MAD of UR_CM_MAD_BYTES to buf. Values wider than their field are
 * cut to it. Returns 0, or -EOPNOTSUPP for an unknown mad->attr.
 */
int ur_cm_mad_build(const struct ur_cm_mad *mad, u8 *buf);

/* Returns the private data of a message, with its size in *bytes, or NULL for
 * an unknown mad->attr. */
const u8 *ur_cm_mad_private(const struct ur_cm_mad *mad, u32 *bytes);

/* Returns "REQ" and so on, or "?" for an unknown attribute. Static storage. */
const char *ur_cm_attr_name(u16 attr);

#endif
