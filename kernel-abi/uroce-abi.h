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
/* RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID: "roce", a number outside the kernel's enum
 * rdma_driver_id, so libibverbs matches no other driver, whatever the device's name. */
#define UROCE_DRIVER_ID 0x726f6365
/* Vendor id of the device: no IEEE OUI is claimed. */
#define UROCE_VENDOR_ID	     0x75726f /* "uro" */
#define UROCE_VENDOR_PART_ID 1

/* Features of a context. */
#define UROCE_CTX_F_ADVERSE (1ull << 0) /* the fields adverse, adverse_seed */
#define UROCE_CTX_F_APART   (1ull << 1) /* its engine is in an engine process */
/* The device supports UROCE_ATTR_ENGINE_QP_MODIFY and max_rd_atomic. A provider need not
 * request it. Not on a device whose RoCE is off. */
#define UROCE_CTX_F_LATE (1ull << 2)

/* Behaviours of a legal but hostile card (doc/adverse.md), for the objects of a context
 * that requests them. The provider implements POISON and LIMITS. */
#define UROCE_ADVERSE_POISON  (1u << 0) /* undefined fields of completions */
#define UROCE_ADVERSE_LIMITS  (1u << 1) /* small, but legal */
#define UROCE_ADVERSE_BATCH   (1u << 2) /* late completions, several at once */
#define UROCE_ADVERSE_SOURCES (1u << 3) /* send buffers are read late */
#define UROCE_ADVERSE_ORDER   (1u << 4) /* writes the end of a message first */
#define UROCE_ADVERSE_RNR     (1u << 5) /* now and then not ready */
#define UROCE_ADVERSE_NUMBERS (1u << 6) /* never the same twice */
#define UROCE_ADVERSE_EVENTS  (1u << 7) /* late, and where none was needed */
/* writes receive buffers behind the message */
#define UROCE_ADVERSE_REST (1u << 8)
#define UROCE_ADVERSE_ALL  0x1ffu

/* GET_CONTEXT. QUERY_CONTEXT (an imported context) returns the same response
 * in its UHW_OUT attribute. */
struct uroce_alloc_ucontext_req {
	__u64 features; /* UROCE_CTX_F_* of the provider */
	__u32 adverse;	/* UROCE_ADVERSE_* requested */
	__u32 adverse_seed;
};

struct uroce_alloc_ucontext_resp {
	__u64 features;	  /* UROCE_CTX_F_* of the device, requested or not */
	__u64 db_map_off; /* the doorbell page */
	__u32 db_map_len;
	__s32 wake_fd;	/* -1: the engine has its own */
	__u32 sq_bb;	/* UROCE_SQ_BB */
	__u32 cqe_size; /* sizeof(struct uroce_cqe) */
	__u32 max_inline;
	__u32 max_sge;
	__u32 adverse; /* UROCE_ADVERSE_* in effect */
	__u32 adverse_seed;
	__u32 max_rd_atomic; /* limit of MODIFY_QP's max_rd_atomic */
	__u32 rsv;
};

/* QUERY_DEVICE, extended */
struct uroce_query_device_resp {
	/* Range of MODIFY_QP's RATE_LIMIT, in kbit/s, and the queue pair types that support
	 * it: a bit 1 << enum ibv_qp_type each. */
	__u32 rate_limit_min;
	__u32 rate_limit_max;
	__u32 rate_limit_qpts;
	/* Not 0: the device imitates another vendor's card. */
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

/* RESIZE_CQ: the device has copied unpolled CQEs to the new ring, and indices continue; the
 * client unmaps the old ring. */
struct uroce_resize_cq_resp {
	__u64 map_off;
	__u64 map_len;
	__u32 hdr_off;
	__u32 cqe_off;
	__u32 entries;
	__u32 rsv;
};

/*
 * CREATE_QP, OPEN_QP, and CREATE_WQ, which has a receive ring only. Indices continue after
 * MODIFY_QP to RESET: before its reply the device drops the contents of both rings by
 * setting cons = prod, and after the reply it writes no CQE of the queue pair. The latter
 * holds for DESTROY_QP, too.
 */
struct uroce_create_qp_req {
	__u32 flags; /* UROCE_QP_F_* */
	__u32 number;
};

/* CREATE_QP: the queue pair uses the engine of ENGINE_IMPORT. */
#define UROCE_QP_F_SHARED (1u << 3)
/* After ENGINE_RESUME: the queue pair exists in the program's engine with this number, from
 * its slot and unused in this device. Without this flag number is 0. */
#define UROCE_QP_F_AGAIN (1u << 1)

#define UROCE_RX_HASH_KEY_BYTES 40 /* enough for IPv6 addresses and ports */

/* CREATE_QP with an indirection table: the hash that selects the entry. */
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
	__u32 sq_max_wqes; /* outstanding WQEs, rounded up from the request */
	__u32 rq_hdr_off;
	__u32 rq_off;
	__u32 rq_entries; /* power of two; 0: none (SRQ, XRC) */
	__u32 rq_stride;  /* bytes, power of two */
	__u32 rq_max_wqes;
	__u32 db_slot; /* for SQ and RQ */
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

/* MODIFY_SRQ with MAX_WR: pending receives have moved to a new ring. */
struct uroce_modify_srq_req {
	__u64 resp_addr; /* user address of a uroce_create_srq_resp to fill when
			  * the ring moves; 0 with no MAX_WR in the mask */
};

/* CREATE_AH */
struct uroce_create_ah_resp {
	__u32 ah; /* number for uroce_wqe_av */
	__u32 rsv;
};

/* ALLOC_PD. A PD number has at most UROCE_DOMAIN_BITS bits. */
#define UROCE_DOMAIN_BITS 20

struct uroce_alloc_pd_resp {
	__u32 pdn;
	__u32 rsv;
};

/* OPEN_XRCD. number: of the domain in the context's engine, or, with UROCE_XRCD_F_SHARED, in that
 * of ENGINE_SHARE. 0: no engine has it, and it can have no target queue pairs and SRQs. */
struct uroce_open_xrcd_resp {
	__u32 number;
	__u32 flags; /* UROCE_XRCD_F_* */
};

#define UROCE_XRCD_F_SHARED (1u << 0)

/* REG_MR, REREG_MR: a region without memory: reads return zeros, writes are dropped; every
 * address is valid. */
#define UROCE_MR_F_NULL (1u << 1)
/* The provider has checked that the pages exist, and only its engine accesses them: the
 * device checks only their protection. */
#define UROCE_MR_F_SEEN (1u << 2)
/* Only the provider's engine accesses the memory, which need not be accessible to the
 * processor. The device checks nothing, and its own accesses fail. Not with
 * UROCE_MR_F_NULL. */
#define UROCE_MR_F_ELSEWHERE (1u << 3)

struct uroce_reg_mr_req {
	__u32 flags;  /* UROCE_MR_F_* */
	__u32 unused; /* older providers: -1 and an offset; ignored */
	__u64 unused64;
	__u64 rsv;
};

/* DM_ALLOC, in its UHW_OUT attribute: mmap of the device memory for
 * memcpy_to/from; byte 0 of the allocation is byte 0 of the mapping. */
struct uroce_alloc_dm_resp {
	__u64 map_off;
	__u64 map_len;
};

/* Driver method of UVERBS_OBJECT_DM: the same response for a handle that another process of
 * the same file has allocated (import_dm). */
#define UROCE_METHOD_DM_QUERY	   0x1000
#define UROCE_ATTR_DM_QUERY_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_DM_QUERY_RESP   0x1001 /* out: uroce_query_dm_resp */

struct uroce_query_dm_resp {
	struct uroce_alloc_dm_resp map;
	__u64 length;
};

/*
 * Driver methods of a context whose engine is in its program (UROCE_ENGINE in the
 * environment; uroce-engine.h). Objects are still made by the kernel's own commands,
 * which also assign the numbers of queue pairs and XRC SRQs and the keys of regions.
 *
 * ENGINE_OPEN, of UVERBS_OBJECT_DEVICE, comes before any object is made, and returns the
 * engine's parameters.
 *
 * ENGINE_SOCKET returns the engine's receiving socket for an entry of the GID table.
 *
 * ENGINE_QP, of UVERBS_OBJECT_QP, returns the attributes that MODIFY_QP has checked and
 * set.
 *
 * ENGINE_AH, of UVERBS_OBJECT_AH, returns the path of an address handle.
 *
 * ENGINE_CQ, of UVERBS_OBJECT_CQ, returns the sending end of its completion channel.
 *
 * ENGINE_ASYNC, once, returns the sending end of the asynchronous event file, and a socket
 * that hangs up when the device has gone.
 *
 * ENGINE_RING returns, once, the files of the rings to the engine in another slot of this
 * device. Both engines have them; packets between the two go there.
 *
 * ENGINE_RESUME, in place of ENGINE_OPEN, reattaches an engine that has its slot from a
 * killed uroced. The slot must belong to this process and user, and nobody must have taken
 * it since. With resumes 0, on the file that has the slot, it reports that the calling
 * process, a child of fork, now runs the engine.
 *
 * ENGINE_RAW, of UVERBS_OBJECT_DEVICE, returns packet sockets to a process with
 * CAP_NET_RAW.
 *
 * ENGINE_FLOW, of UVERBS_OBJECT_FLOW, returns a rule as CREATE_FLOW has parsed it.
 *
 * Descriptors and imports are EPERM for another user than the one who has opened the file.
 */
#define UROCE_METHOD_ENGINE_OPEN    0x1001
#define UROCE_ATTR_ENGINE_OPEN_RESP 0x1000 /* out: uroce_engine_open */

#define UROCE_METHOD_ENGINE_SOCKET     0x1002
#define UROCE_ATTR_ENGINE_SOCKET_INDEX 0x1000 /* in: __u32 */
#define UROCE_ATTR_ENGINE_SOCKET_RESP  0x1001 /* out: uroce_engine_socket */

#define UROCE_METHOD_ENGINE_QP	    0x1001
#define UROCE_ATTR_ENGINE_QP_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_QP_RESP   0x1001 /* out: uroce_engine_qp */
/* in, optional: at most UROCE_ENGINE_QP_MODIFIES of struct ib_uverbs_modify_qp, without
 * Q_Keys. They are carried out first, in order, like MODIFY_QP; qp_handle is ignored. With
 * UROCE_CTX_F_LATE. */
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
/* optional: the asynchronous event file of an imported context; then only tx is returned */
#define UROCE_ATTR_ENGINE_ASYNC_FILE 0x1001

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

/* In place of ENGINE_OPEN: the context's engine runs in an engine process of the user
 * (uroce-apart.h). The program talks to it over the socket fd, which becomes the program's. */
#define UROCE_METHOD_ENGINE_APART    0x1007
#define UROCE_ATTR_ENGINE_APART_RESP 0x1000 /* out: uroce_engine_apart */

struct uroce_engine_apart {
	__u32 slot;
	__s32 fd;
};

/*
 * Once, after ENGINE_ASYNC and in addition to ENGINE_OPEN or ENGINE_APART: adds the context
 * to an engine shared by several processes of the user, in an engine process. That engine
 * has the objects of the XRC domains with a file that are opened afterwards. It has a slot
 * of its own, from which target queue pairs get their numbers; ENGINE_SOCKET and
 * ENGINE_RING refer to it with UROCE_ENGINE_SHARED. In: 0, or, after ENGINE_RESUME, the
 * slot that an earlier uroced gave; then the reply has no descriptor.
 */
#define UROCE_METHOD_ENGINE_SHARE    0x1008
#define UROCE_ATTR_ENGINE_SHARE_SLOT 0x1000 /* in: __u32 */
#define UROCE_ATTR_ENGINE_SHARE_RESP 0x1001 /* out: uroce_engine_apart */
#define UROCE_ENGINE_SHARED	     (1u << 31)

/*
 * In place of ENGINE_OPEN, for an imported context: adds it to the shared engine. The context gets
 * its queue pairs with UROCE_QP_F_SHARED, and domains have the same numbers in all contexts of the
 * file. The engine has the regions that the file's opener registered. From then on the doorbell
 * page says so, and the opener must use ENGINE_SHARE, to tell the engine what it deregisters.
 * EPERM: the file is another user's. EOPNOTSUPP: its opener has ended, or has no such engine.
 */
#define UROCE_METHOD_ENGINE_IMPORT    0x100a
#define UROCE_ATTR_ENGINE_IMPORT_RESP 0x1000 /* out: uroce_engine_apart */

/* Of UVERBS_OBJECT_PD: the number of a domain (import_pd). */
#define UROCE_METHOD_ENGINE_PD	    0x1001
#define UROCE_ATTR_ENGINE_PD_HANDLE 0x1000 /* in: object handle */
#define UROCE_ATTR_ENGINE_PD_RESP   0x1001 /* out: uroce_alloc_pd_resp */

/* After ENGINE_APART: charges the user for more memory of rings and of objects, as much again as the
 * context may have already, and lets its engine use it. ENOMEM: the user has no more. */
#define UROCE_METHOD_ENGINE_ROOM 0x1009
#define UROCE_ATTR_ENGINE_ROOM_RESP \
	0x1000 /* out: __u32, KiB of each that were added so far */

/* slot: the slot that the context had on its former file. resumes: how often the context has moved to
 * a new file, from 1 on; handles on the new file then differ from all earlier ones. A child of fork gives
 * UROCE_ENGINE_NO_SLOT: it only needs such handles, and then gets an engine by ENGINE_OPEN or
 * ENGINE_APART. */
struct uroce_engine_resume {
	__u32 slot;
	__u32 resumes;
};
#define UROCE_ENGINE_NO_SLOT (~0u)

/* the netdev is an end of a virtual pair (veth, netkit) */
#define UROCE_ENGINE_ONE_PATH (1u << 0)
/* Engine options (--engine-opt of uroced(8)) that are off in the device, and so in
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
	__u32 slot; /* first bits of its QPNs */
	__u32 slot_bits;
	__u32 ifindex;
	__u32 mtu_bytes;
	__u32 max_qp;
	__u32 max_mr;
	__u32 flags;  /* UROCE_ENGINE_* */
	__u32 device; /* index of the device in local_fd */
	__u64 node_guid;
	char netdev[16];
	/* Descriptors that become the process's and are closed by the provider. local_fd: a
	 * file of the ports in use. out_fd: sockets (IPv6, IPv4; -1: none) bound to one
	 * port, from which the engine sends to engines of this host. */
	__s32 local_fd;
	__s32 out_fd[2];
	__u32 port;
	/* Likewise: memory for its counters, memory with the device's settings, and memory
	 * for its recording. */
	__s32 count_fd;
	__s32 settings_fd;
	__s32 record_fd;
	__u32 tx_bytes; /* size of its burst buffer; 0: its choice */
	/* Likewise. -1: ENGINE_SOCKET gives the engine sockets. Otherwise it gets none, and
	 * the device puts packets for the engine's addresses into a ring: relay_fd is the
	 * file that the device writes and the engine reads, relay_words_fd the file that
	 * both write. */
	__s32 relay_fd;
	__s32 relay_words_fd;
	/* Likewise. -1: the process is in the device's network namespace. Otherwise it gets
	 * no sockets at all, not even out_fd. It puts packets to send into outbox_fd, a
	 * ring like relay_fd that the engine alone writes. It wakes the device by the
	 * eventfd wake_fd, and reads the device's wake-ups from the socket bell_fd. A
	 * caller whose struct ends before these fields gets no engine in that case. */
	__s32 outbox_fd;
	__s32 wake_fd;
	__s32 bell_fd;
	__u32 rsv;
};

/*
 * The descriptors become the process's. destroy_hint is an eventfd or -1; a caller whose struct
 * ends before it gets none. The program writes to it the handle of a memory region that it
 * has deregistered in its engine, or, with UROCE_HINTS_QP in hints, that of a queue pair that it has
 * destroyed there, plus UROCE_HINT_QP. Before the next command of the file the device reads it
 * and destroys the object as the command would; until then the object is not listed. So only
 * one object can be pending.
 */
#define UROCE_HINT_QP  (1ull << 32)
#define UROCE_HINTS_QP (1u << 0)
struct uroce_engine_async {
	__s32 tx;
	__s32 liveness;
	__s32 destroy_hint;
	__u32 hints; /* UROCE_HINTS_* that the device takes */
};

struct uroce_engine_socket {
	__u8 gid[16];
	/* closed by the provider; -1: packets come through the relay ring */
	__s32 fd;
	__u32 rsv;
};

/* The descriptors become the process's and are closed by the provider. words_fd: the file
 * that both engines write; out_fd: written by this one; in_fd: written by the other one,
 * read-only. */
struct uroce_engine_ring {
	__u32 slot;	/* of the other engine */
	__u32 grant_id; /* how often that slot was granted */
	__s32 words_fd;
	__s32 out_fd;
	__s32 in_fd;
	/* the other engine has no sockets: wake it at its port */
	__u32 relayed;
	__u32 same_user; /* the other engine belongs to the same user */
	__u32 rsv;
};

/* Attributes as in MODIFY_QP, and the resolved path. */
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
	__u8 peer_slot; /* slot of the peer's engine on this device; 0: none */
	/* when set, dest_qpn was in a slot whose owner never used it */
	__u8 nobodys;
	/* In a modification: the current state that the program assumes. In a query:
	 * UROCE_ENGINE_QP_SHOWN if uroced can read its state and sq_psn from the engine's
	 * counters, else 0. */
	__u8 cur_state;
	__u8 sq_draining; /* in the engine */
	__u64 static_bps;
};

/* Two packet sockets on the device's netdev: one to receive, with no protocol set yet, and
 * one to send. They become the process's and are closed by the provider. A file gets them a
 * limited number of times. */
struct uroce_engine_raw {
	__s32 fd[2];
};

/* A flow rule: key and mask have the layout of struct ur_flow_key of uroce's engine. */
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
	__u8 v1;	  /* RoCEv1 */
	__u32 peer_slots; /* bit mask of slots, if it leads to this device */
};

/* The kernel's UVERBS_METHOD_QUERY_PORT_SPEED, which older headers lack. The speed is in
 * units of 100 Mbit/s. */
#define UROCE_METHOD_QUERY_PORT_SPEED	     7
#define UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM 0 /* in */
#define UROCE_ATTR_QUERY_PORT_SPEED_RESP     1 /* out: __u64 */

#ifdef __cplusplus
}
#endif
#endif
