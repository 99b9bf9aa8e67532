/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The driver's part of the uverbs ABI: udata of the kernel's own commands.
 *
 * Every struct is a multiple of 8 bytes; reserved fields are zero both ways.
 * Offsets named *_off in a response are mmap offsets on the uverbs file when
 * called map_off, and byte offsets inside that mapping otherwise.
 */
#ifndef UROCE_ABI_H
#define UROCE_ABI_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version in sysfs uverbsN/abi_version; the provider accepts this one.
 * Version 1 had a CQE of 72 bytes. */
#define UROCE_UVERBS_ABI_VERSION 2
/* RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID: "roce", which is none of the kernel's enum
 * rdma_driver_id. libibverbs finds no other driver by it, whatever the device's
 * name. */
#define UROCE_DRIVER_ID 0x726f6365
/* Vendor id of the device: no IEEE OUI is claimed. */
#define UROCE_VENDOR_ID	     0x75726f /* "uro" */
#define UROCE_VENDOR_PART_ID 1

/* Features of a context. */
#define UROCE_CTX_F_ADVERSE (1ull << 0) /* the fields adverse, adverse_seed */
#define UROCE_CTX_F_APART   (1ull << 1) /* its engine is in an engine process */
/* UROCE_ATTR_ENGINE_QP_MODIFY, and the field max_rd_atomic. A provider need not say that it
 * knows it. Not on a device whose RoCE is switched off. */
#define UROCE_CTX_F_LATE (1ull << 2)

/* The behaviours of a legal but hostile card (doc/adverse.md), for the objects
 * of a context that asks for them. POISON and LIMITS are the provider's
 * work. */
#define UROCE_ADVERSE_POISON  (1u << 0) /* undefined fields of completions */
#define UROCE_ADVERSE_LIMITS  (1u << 1) /* small, but legal */
#define UROCE_ADVERSE_BATCH   (1u << 2) /* completions late, several at once */
#define UROCE_ADVERSE_SOURCES (1u << 3) /* send buffers are read late */
#define UROCE_ADVERSE_ORDER   (1u << 4) /* the end of a message comes first */
#define UROCE_ADVERSE_RNR     (1u << 5) /* now and then not ready */
#define UROCE_ADVERSE_NUMBERS (1u << 6) /* never the same twice */
#define UROCE_ADVERSE_EVENTS  (1u << 7) /* late, and where none was needed */
#define UROCE_ADVERSE_REST    (1u << 8) /* receive buffers behind the message */
#define UROCE_ADVERSE_ALL     0x1ffu

/* GET_CONTEXT. QUERY_CONTEXT (an imported context) returns the same response
 * in its UHW_OUT attribute, with a wake_fd of its own. */
struct uroce_alloc_ucontext_req {
	__u64 features; /* UROCE_CTX_F_* the provider understands */
	__u32 adverse;	/* UROCE_ADVERSE_* that are wanted */
	__u32 adverse_seed;
};

struct uroce_alloc_ucontext_resp {
	__u64 features;	  /* UROCE_CTX_F_* of the device, asked for or not */
	__u64 db_map_off; /* the doorbell page */
	__u32 db_map_len;
	__s32 wake_fd;	/* eventfd to write (8 bytes, 1) when asleep; the fd is
			* the process's own and closed by the provider */
	__u32 sq_bb;	/* UROCE_SQ_BB */
	__u32 cqe_size; /* sizeof(struct uroce_cqe) */
	__u32 max_inline;
	__u32 max_sge;
	__u32 adverse; /* UROCE_ADVERSE_* that the context has */
	__u32 adverse_seed;
	__u32 max_rd_atomic; /* the most that MODIFY_QP takes of max_qp_rd_atomic */
	__u32 rsv;
};

/* QUERY_DEVICE, extended */
struct uroce_query_device_resp {
	/* Rates of MODIFY_QP (RATE_LIMIT), in kbit/s, and of which types of
	 * queue pairs: a bit 1 << enum ibv_qp_type each. */
	__u32 rate_limit_min;
	__u32 rate_limit_max;
	__u32 rate_limit_qpts;
	/* Not 0: the device looks like a card that it is not. */
	__u32 synthetic;
};

/* CREATE_CQ */
struct uroce_create_cq_req {
	__u64 rsv;
};

struct uroce_create_cq_resp {
	__u64 map_off;
	__u64 map_len;
	__u32 hdr_off; /* struct uroce_cq_hdr */
	__u32 cqe_off;
	__u32 entries; /* power of two */
	__u32 rsv;
};

/* RESIZE_CQ: the device has copied the CQEs not yet taken into the new ring,
 * indices go on; the client unmaps the old one. */
struct uroce_resize_cq_resp {
	__u64 map_off;
	__u64 map_len;
	__u32 hdr_off;
	__u32 cqe_off;
	__u32 entries;
	__u32 rsv;
};

/*
 * CREATE_QP, OPEN_QP, CREATE_WQ, which has a receive ring alone. Indices run on through MODIFY_QP to RESET: the device
 * drops what is in both rings by setting cons = prod before it answers, and
 * writes no CQE of the queue pair after the answer. The same holds for the
 * answer of DESTROY_QP.
 */
struct uroce_create_qp_req {
	__u32 flags; /* UROCE_QP_F_* */
	__u32 number;
};

/* The queue pair has the device's engine, though its context has one in a program
 * (UROCE_METHOD_ENGINE_OPEN). */
#define UROCE_QP_F_DEVICE (1u << 0)
/* CREATE_WQ, and CREATE_QP with an indirection table: it has the program's engine, which older
 * providers do not ask for. */
#define UROCE_QP_F_PROGRAM (1u << 2)
/* After ENGINE_RESUME: the program's engine has the queue pair already, with that number, which is
 * one of its slot and nobody's in this device. Else number is 0. */
#define UROCE_QP_F_AGAIN (1u << 1)

#define UROCE_RX_HASH_KEY_BYTES 40 /* what IPv6 addresses and ports need */

/* CREATE_QP with an indirection table: how its entry is found. */
struct uroce_create_rss_qp_req {
	__u64 fields;  /* enum ibv_rx_hash_fields */
	__u8 function; /* enum ibv_rx_hash_function_flags */
	__u8 key_len;  /* UROCE_RX_HASH_KEY_BYTES */
	__u8 flags;    /* UROCE_QP_F_* */
	__u8 rsv;
	__u32 number;
	__u8 key[UROCE_RX_HASH_KEY_BYTES];
};

struct uroce_create_qp_resp {
	__u64 map_off; /* one mapping holds both rings; 0 length: no rings */
	__u64 map_len;
	__u32 sq_hdr_off;
	__u32 sq_off;
	__u32 sq_bbs;	   /* power of two; 0: no send queue */
	__u32 sq_max_wqes; /* WQEs outstanding at once, as asked, rounded */
	__u32 rq_hdr_off;
	__u32 rq_off;
	__u32 rq_entries; /* power of two; 0: none (SRQ, XRC) */
	__u32 rq_stride;  /* bytes, power of two */
	__u32 rq_max_wqes;
	__u32 db_slot; /* of SQ and RQ */
	__u64 rsv;
};

/* CREATE_SRQ */
struct uroce_create_srq_resp {
	__u64 map_off;
	__u64 map_len;
	__u32 hdr_off;
	__u32 wqe_off;
	__u32 entries; /* power of two */
	__u32 stride;
	__u32 max_wqes;
	__u32 db_slot;
	__u32 srqn;
	__u32 rsv;
};

/* MODIFY_SRQ with MAX_WR: the receives not yet taken moved to a new ring. */
struct uroce_modify_srq_req {
	__u64 resp_addr; /* user address of a uroce_create_srq_resp to fill when
			  * the ring moves; 0 with no MAX_WR in the mask */
};

/* CREATE_AH */
struct uroce_create_ah_resp {
	__u32 ah; /* number for uroce_wqe_av */
	__u32 rsv;
};

/* ALLOC_PD. A domain's number is at most 2^20. */
#define UROCE_DOMAIN_BITS 20

struct uroce_alloc_pd_resp {
	__u32 pdn;
	__u32 rsv;
};

/* OPEN_XRCD. 0: what is in it is the device's engine's. Else its number: its target queue pairs and SRQs may be in the
 * program's engine, or, where it is flagged so, are in the engine of ENGINE_SHARE. */
struct uroce_open_xrcd_resp {
	__u32 number;
	__u32 flags; /* UROCE_XRCD_F_* */
};

#define UROCE_XRCD_F_SHARED (1u << 0)

/* REG_MR, REREG_MR: there is no memory: reads give zeros, writes are dropped; every
 * address is inside. */
#define UROCE_MR_F_NULL (1u << 1)
/* The provider has seen that the pages are there, and its engine is what reaches them:
 * the device looks only at the rights that they are mapped with. */
#define UROCE_MR_F_SEEN (1u << 2)
/* Only the provider's engine reaches the memory, which the processor need not: the device looks at nothing, and fails
 * each access of its own. Not with UROCE_MR_F_NULL. */
#define UROCE_MR_F_ELSEWHERE (1u << 3)

struct uroce_reg_mr_req {
	__u32 flags;  /* UROCE_MR_F_* */
	__u32 unused; /* older providers: -1, and an offset; not read */
	__u64 unused64;
	__u64 rsv;
};

/* DM_ALLOC, in its UHW_OUT attribute: mmap of the device memory for
 * memcpy_to/from; byte 0 of the allocation is byte 0 of the mapping. */
struct uroce_alloc_dm_resp {
	__u64 map_off;
	__u64 map_len;
};

/* Driver method of UVERBS_OBJECT_DM: the same response for a handle that
 * another process of the same file allocated (import_dm). */
#define UROCE_METHOD_DM_QUERY	   0x1000
#define UROCE_ATTR_DM_QUERY_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_DM_QUERY_RESP   0x1001 /* out: uroce_query_dm_resp */

struct uroce_query_dm_resp {
	struct uroce_alloc_dm_resp map;
	__u64 length;
};

/*
 * Driver methods of a context whose engine is in its program
 * (UROCE_ENGINE in the environment; uroce-engine.h). ENGINE_OPEN, of
 * UVERBS_OBJECT_DEVICE, comes before any object is made, and returns the
 * numbers that the engine works with. ENGINE_SOCKET returns its receiving
 * socket for an entry of the GID table. ENGINE_QP, of UVERBS_OBJECT_QP, returns
 * the attributes that MODIFY_QP has checked and set, ENGINE_AH, of
 * UVERBS_OBJECT_AH, the path of an address handle, ENGINE_CQ, of
 * UVERBS_OBJECT_CQ, the end of its completion channel into which events are
 * sent. ENGINE_RING returns the files of the rings to the engine in another slot of
 * this device, once: both have them, and packets between them go there. ENGINE_ASYNC, once, returns that of the file of asynchronous events, and a
 * socket that hangs up when the device has gone. ENGINE_RESUME, in place of ENGINE_OPEN, says that the
 * program's engine has the slot already, from a uroced that was killed: its process and user had
 * it, and nobody has taken it since. With resumes 0, on the file that has the slot, it says that the process
 * that gives the command is who has the engine now: a child of fork. All other objects are made
 * by the kernel's own commands, and the numbers of queue pairs and the keys of
 * regions are those that these give, as those of XRC SRQs. ENGINE_RAW, of UVERBS_OBJECT_DEVICE, returns
 * packet sockets to who has CAP_NET_RAW, ENGINE_FLOW, of UVERBS_OBJECT_FLOW, a rule as CREATE_FLOW has read
 * it. Queue pairs made with UROCE_QP_F_DEVICE have the device's engine all the same, and the device's rings.
 */
#define UROCE_METHOD_ENGINE_OPEN    0x1001
#define UROCE_ATTR_ENGINE_OPEN_RESP 0x1000 /* out: uroce_engine_open */

#define UROCE_METHOD_ENGINE_SOCKET     0x1002
#define UROCE_ATTR_ENGINE_SOCKET_INDEX 0x1000 /* in: __u32 */
#define UROCE_ATTR_ENGINE_SOCKET_RESP  0x1001 /* out: uroce_engine_socket */

#define UROCE_METHOD_ENGINE_QP	    0x1001
#define UROCE_ATTR_ENGINE_QP_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_QP_RESP   0x1001 /* out: uroce_engine_qp */
/* in, or missing: at most UROCE_ENGINE_QP_MODIFIES of struct ib_uverbs_modify_qp, without Q_Keys, which
 * are carried out first, in order, as MODIFY_QP is; nobody looks at their qp_handle. With UROCE_CTX_F_LATE. */
#define UROCE_ATTR_ENGINE_QP_MODIFY 0x1002
#define UROCE_ENGINE_QP_MODIFIES    2

#define UROCE_METHOD_ENGINE_AH	    0x1001
#define UROCE_ATTR_ENGINE_AH_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_AH_RESP   0x1001 /* out: uroce_engine_path */

#define UROCE_METHOD_ENGINE_CQ	    0x1001
#define UROCE_ATTR_ENGINE_CQ_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_CQ_RESP \
	0x1001 /* out: __s32, closed by the provider */

#define UROCE_METHOD_ENGINE_ASYNC    0x1003
#define UROCE_ATTR_ENGINE_ASYNC_RESP 0x1000 /* out: uroce_engine_async */

#define UROCE_METHOD_ENGINE_RING    0x1004
#define UROCE_ATTR_ENGINE_RING_SLOT 0x1000 /* in: __u32 */
#define UROCE_ATTR_ENGINE_RING_RESP 0x1001 /* out: uroce_engine_ring */

#define UROCE_METHOD_ENGINE_RESUME    0x1005
#define UROCE_ATTR_ENGINE_RESUME      0x1000 /* in: uroce_engine_resume */
#define UROCE_ATTR_ENGINE_RESUME_RESP 0x1001 /* out: __u32, the slot */

#define UROCE_METHOD_ENGINE_RAW	   0x1006
#define UROCE_ATTR_ENGINE_RAW_RESP 0x1000 /* out: uroce_engine_raw */

#define UROCE_METHOD_ENGINE_FLOW      0x1001
#define UROCE_ATTR_ENGINE_FLOW_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_FLOW_RESP   0x1001 /* out: uroce_engine_flow */

/* In place of ENGINE_OPEN: an engine process of the user has the context's engine (uroce-apart.h). The program
 * talks to it by a socket, which is its own. */
#define UROCE_METHOD_ENGINE_APART    0x1007
#define UROCE_ATTR_ENGINE_APART_RESP 0x1000 /* out: uroce_engine_apart */

struct uroce_engine_apart {
	__u32 slot;
	__s32 fd;
};

/*
 * Besides ENGINE_OPEN or ENGINE_APART, after ENGINE_ASYNC and once: contexts of several processes of the user have one engine, in an engine process,
 * which has what is in XRC domains of files that they open afterwards. It has a slot of its own: that of the numbers of
 * target queue pairs, and of ENGINE_SOCKET and ENGINE_RING with UROCE_ENGINE_SHARED. In: 0, or, after ENGINE_RESUME, the slot that
 * an earlier uroced has given; then the answer has no descriptor.
 */
#define UROCE_METHOD_ENGINE_SHARE    0x1008
#define UROCE_ATTR_ENGINE_SHARE_SLOT 0x1000 /* in: __u32 */
#define UROCE_ATTR_ENGINE_SHARE_RESP 0x1001 /* out: uroce_engine_apart */
#define UROCE_ENGINE_SHARED	     (1u << 31)

/* How often this context has done so, from 1 on: its handles differ from those before. */
struct uroce_engine_resume {
	__u32 slot;
	__u32 resumes;
};

#define UROCE_ENGINE_ONE_PATH (1u << 0) /* another host's netdev at the end */
/* Options of the device's engines (--engine-opt of uroced(8)) that are off, and so in
 * programs. */
#define UROCE_ENGINE_NO_GSO	 (1u << 1)
#define UROCE_ENGINE_NO_GRO	 (1u << 2)
#define UROCE_ENGINE_NO_TRAINS	 (1u << 3)
#define UROCE_ENGINE_NO_FAST	 (1u << 4)
#define UROCE_ENGINE_NO_COALESCE (1u << 5)
#define UROCE_ENGINE_NO_CREDITS	 (1u << 6)
#define UROCE_ENGINE_NO_AIMD	 (1u << 7)
#define UROCE_ENGINE_NO_PATH	 (1u << 8)
#define UROCE_ENGINE_NO_OOO	 (1u << 9)
#define UROCE_ENGINE_NO_ONE_PORT (1u << 10)
#define UROCE_ENGINE_NO_LOOP	 (1u << 11)

struct uroce_engine_open {
	__u32 slot; /* first bits of the numbers of its queue pairs */
	__u32 slot_bits;
	__u32 ifindex;
	__u32 mtu_bytes;
	__u32 max_qp;
	__u32 max_mr;
	__u32 flags;  /* UROCE_ENGINE_* */
	__u32 device; /* its number in the file own_fd */
	__u64 node_guid;
	char netdev[16];
	/* The process's own, closed by the provider: which ports are held, and
	 * sockets (IPv6, IPv4; -1: none) bound to one, from which it sends to
	 * engines of this host. */
	__s32 own_fd;
	__s32 out_fd[2];
	__u32 port;
	/* Closed by the provider too: memory that its counters lie in, memory with the
	 * device's settings, and memory that it records in. */
	__s32 count_fd;
	__s32 settings_fd;
	__s32 record_fd;
	__u32 tx_bytes; /* of its burst buffer; 0: as it likes */
	/* Closed by the provider too. -1: ENGINE_SOCKET gives it sockets. Else it gives none: what
	 * comes for its addresses is in a ring that the device writes, the first file, which it has
	 * to read; the second is what both write. */
	__s32 relay_fd;
	__s32 relay_words_fd;
	/* -1, or the process is in another network namespace than the device: it gets no sockets at all, out_fd neither,
	 * and what is to leave goes into the first file, which it alone writes and which is as the one that the device
	 * writes. It wakes the device by an eventfd, and the device wakes it by a socket, from which it reads. A caller
	 * whose struct ends before these has the device's engine there. Closed by the provider. */
	__s32 outbox_fd;
	__s32 door_fd;
	__s32 bell_fd;
	__u32 rsv;
};

/*
 * All are the process's own. given_up is an eventfd, or -1; a caller whose struct ends before it gets none.
 * The program writes the handle of a memory region that it has deregistered. Before each command of
 * the file the device reads it, and destroys the region as DEREG_MR would have; until then no listing
 * has it. So there may be one at a time.
 */
struct uroce_engine_async {
	__s32 tx;
	__s32 life;
	__s32 given_up;
	__u32 rsv;
};

struct uroce_engine_socket {
	__u8 gid[16];
	__s32 fd; /* the process's own, closed by the provider; -1: there is a ring for it */
	__u32 rsv;
};

/* The process's own, closed by the provider: what both write, what this one writes, and
 * what the other one does, to be read. */
struct uroce_engine_ring {
	__u32 slot; /* the other one's */
	__u32 loan; /* how often that was lent */
	__s32 words_fd;
	__s32 out_fd;
	__s32 in_fd;
	__u32 relayed; /* the other one has no sockets: it is woken at its port */
	__u32 same_user; /* the other one is the same user's */
	__u32 rsv;
};

/* Attributes as of MODIFY_QP; the path as the device sends on it. */
#define UROCE_ENGINE_QP_SHOWN 1

struct uroce_engine_qp {
	__u32 state;
	__u32 path_mtu; /* bytes */
	__u32 qkey;
	__u32 rq_psn;
	__u32 sq_psn;
	__u32 dest_qpn;
	__u32 access;
	__u32 rate_limit; /* kbit/s */
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 min_rnr_timer;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 en_sqd_async_notify;
	__u8 have_path;
	__u8 sgid[16];
	__u8 dgid[16];
	__u32 sgid_index;
	__u32 flow_label;
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 sl;
	__u8 v1;
	__u8 peer_slot; /* where its engine is, on this device; 0: none is there */
	__u8 nobodys; /* dest_qpn, when it was set: of a slot, whose owner never had it */
	/* What the program takes it to be in, when it modifies it; or, of what the engine tells, whether uroced sees
	 * its state and sq_psn without being told: UROCE_ENGINE_QP_SHOWN or 0. */
	__u8 cur_state;
	__u8 sq_draining; /* as the engine has it */
	__u64 static_bps;
};

/* Two packet sockets on the device's netdev, one to receive, which has no type of frames yet, and
 * one to send. The process's own, closed by the provider. A file gets them a few times. */
struct uroce_engine_raw {
	__s32 fd[2];
};

/* A flow rule: the headers of a frame, each at one place, and a mask, as struct ur_flow_key of
 * uroce's engine. */
struct uroce_engine_flow {
	__u8 key[64];
	__u8 mask[64];
	__u32 type; /* enum ibv_flow_attr_type */
	__u16 priority;
	__u8 dont_trap;
	__u8 allow_loop_back;
	__u8 drop;
	__u8 rsv[7];
};

struct uroce_engine_path {
	__u8 sgid[16];
	__u8 dgid[16];
	__u32 sgid_index;
	__u32 flow_label;
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 sl;
	__u8 rsv;
	__u32 peer_slots; /* a bit each, where it leads to this device */
};

/* The kernel's own (UVERBS_METHOD_QUERY_PORT_SPEED), which came after the oldest
 * headers. The speed is in units of 100 Mbit/s. */
#define UROCE_METHOD_QUERY_PORT_SPEED	     7
#define UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM 0 /* in */
#define UROCE_ATTR_QUERY_PORT_SPEED_RESP     1 /* out: __u64 */

#ifdef __cplusplus
}
#endif
#endif
