/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine: what owns the wires, and in a program the transport port, the rings, the
 * doorbells and the application memory, too. uroced has one for each device, which has no
 * queue pair but QP1 (engine/core/switch.c).
 *
 * Threads. Every function here is called with the control lock held
 * (engine/ground/loop.h), by whichever thread has it, and from no other place;
 * it hands its work to the engine thread and waits when it must (engine/core/call.h). In a
 * program the lock of its engines takes the place of the control lock (inproc/door/process.h).
 * The engine never takes the control lock; it reports through ur_loop_post().
 *
 * Results are 0 or -errno as the kernel's verbs give them; outputs change on
 * success only. Objects belong to the engine until their destroy function,
 * which control calls children first (QPs before CQs, SRQs and MRs, all before
 * the context). -EBUSY from a destroy leaves the object as it was.
 */
#ifndef UR_ENGINE_ENGINE_H
#define UR_ENGINE_ENGINE_H

#include <sys/types.h>
#include "kernel-abi/uroce-abi.h"
#include "transport/frame.h" /* ur_gid_is_v4 and the like */
#include "transport/transport.h"
#include "engine/raw/raw.h"

struct ur_loop;
struct ur_user_mem;
struct ur_engine;
struct ur_ectx;
struct ur_echan;
struct ur_easync;
struct ur_ecq;
struct ur_esrq;
struct ur_eqp;
struct ur_eqp_ref;
struct ur_emr;
struct ur_emw;
struct ur_eah;
struct ur_efault;
struct ur_fault_rule;
struct ur_recorder;
struct ur_engine_kind;

/* A program's engine, which has queue pairs (engine/core/kind.h). */
extern const struct ur_engine_kind ur_program_kind;

/* ---- device ---- */

/* Engine to control: run on the loop thread with the control lock held. */
struct ur_engine_events {
	/* A MAD of 256 bytes for QP1. */
	void (*gsi_rx)(void *ctx, const struct ur_rx_meta *meta, u32 src_qpn,
		       const u8 *mad);
	/* The engine has woken, which ur_engine_tell_waking() asked for; may be
	 * NULL. */
	void (*woken)(void *ctx);
	/* A work request of a queue pair has failed while the recorder is on.
	 * If many fail, only some are reported. May be NULL. */
	void (*failed)(void *ctx, u32 qpn);
};

/* Packet sockets that receive and send, on the netdev and on the loopback interface; TX_HIGH: with
 * priority 7. And a socket of rtnetlink. */
enum {
	UR_V1_RX,
	UR_V1_LO_RX,
	UR_V1_TX,
	UR_V1_TX_HIGH,
	UR_V1_LO_TX,
	UR_V1_NEIGH,
	UR_V1_SOCKETS
};

/* A device lends this to an engine in a program (engine_lend.h). Descriptors stay the
 * lender's. */
struct ur_lent {
	u32 slot;   /* first bits of the numbers of its queue pairs */
	u32 device; /* that has lent it, as the file numbers them */
	int file;   /* says which ports are held: wire/udp_own.h */
	/* Sockets from which it sends to engines of this host, for IPv6 and
	 * IPv4, both bound to that port; -1: the kernel has no IPv6. */
	int out[2];
	u16 port;
	int counters; /* memory that it counts in: lend_counters.h */
	int settings; /* memory that it reads settings in: lend_settings.h */
	int record;   /* memory that it records in: lend_record.h */
	/* It gets no sockets, and finds its packets in a ring: the file, and the one of both
	 * (local/udp_relay.h); or -1. */
	int relay, relay_words;
	/* Its process is in another network namespace: it gets no sockets at all, and has a ring of what is to leave,
	 * an eventfd by which it wakes the device, and a socket by which the device wakes it (local/udp_outbox.h); or
	 * -1. */
	int outbox, door, bell;
	/* Sockets for RoCEv1, of an engine process on a device that has it; or -1 (wire/v1/v1_sockets.h). */
	int v1[UR_V1_SOCKETS];
	u32 realm; /* that its user has there; 0: none is kept apart */
	u32 off;   /* options of the device that are off: UROCE_ENGINE_NO_* */
	u32 tx_bytes; /* and that one */
};

struct ur_engine_config {
	const char *netdev;
	u32 ifindex;
	u32 mtu_bytes; /* active MTU of the transport: 256..4096 */
	u32 max_qp, max_mr;
	u64 seed;
	u64 secret[2]; /* see ur_port_config */
	u64 node_guid;
	bool isolated; /* users do not reach each other inside the device */
	bool roce_v1;  /* RoCEv1 beside v2; needs CAP_NET_RAW */
	bool one_path; /* the netdev has another of this host at its end */
	struct ur_loop *loop;
	const struct ur_engine_events *events;
	void *ctx; /* of events */
	/* Run-time options, "name=value,..." or NULL (--engine-opt); see
	 * ur_engine_options_check(). */
	const char *options;
	/* &ur_program_kind; NULL: uroced's, without queue pairs */
	const struct ur_engine_kind *kind;
	/* for an engine in a program (guest.h): what it was lent, and the bits
	 * of a slot. Then loop and events are NULL. */
	bool guest;
	/* Then: its users are other processes, whose threads never run it. */
	bool apart;
	struct ur_lent lent;
	u32 slot_bits;
	/* Then: the program's uverbs file, which ends the loan of the slot when
	 * it is closed. */
	int file;
};

/* Checks options in that form. Returns 0, or -EINVAL after a line on stderr
 * that says which name or value is wrong, and which there are. */
int ur_engine_options_check(const char *text);
/* Returns the option guests of such a text, which has been checked. */
bool ur_engine_has_guests(const char *text);

/* Notes which processes have UDP port 4791 now, for the message of a device
 * that cannot use it. To be called once, while we may still look at others'
 * descriptors. */
void ur_engine_note_owners(void);

/* Makes the engine in *engine and starts its thread. config is copied; what it
 * points to (loop, events, ctx) must outlive the engine. Returns 0 or
 * -errno. */
int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine);
/* Ends the thread. It posts nothing to the loop any more, but what it posted
 * before still names the engine. Afterwards only ur_engine_destroy() may be
 * called. */
void ur_engine_stop(struct ur_engine *engine);
/* Frees the engine, which it stops first if it runs. Nothing that the engine
 * posted to the loop may be left to run. */
void ur_engine_destroy(struct ur_engine *engine);
/* Stops the engine and closes its wire while there are objects that nobody
 * works on any more. Their memory ends with the process. */
void ur_engine_abandon(struct ur_engine *engine);

/* Runs an engine that is in a program on the caller's thread, unless another
 * thread runs it now. posted: only sends what was just posted; else runs a
 * whole turn. Leaves errno as it was. Returns false where the program has closed the
 * engine's descriptors, and it does nothing more. Any thread of the program. */
bool ur_engine_drive(struct ur_engine *engine, bool posted);
/* The same of a datagram that was just posted, which may leave with those after it
 * (post_batch.h). */
bool ur_engine_datagram(struct ur_engine *engine);
/* Returns how many whole turns that was so far. Any thread. */
u32 ur_engine_turns(const struct ur_engine *engine);
/* The process is about to end: what it has posted, and another thread was to send, leaves.
 * Waits 0.2 s at most for the thread that runs the engine. Any thread, also in a handler of a
 * signal. */
void ur_engine_finish(struct ur_engine *engine);

/* Returns when the engine has answered: it does not hang. */
void ur_engine_sync(struct ur_engine *engine);

enum ur_gid_type {
	UR_GID_ROCE_V1 = 0,
	UR_GID_ROCE_V2 = 1,
};

/* Sets entry index of the GID table, or empties it where gid is NULL. Opens and
 * closes what the wire needs to use that address. Returns 0, -EADDRINUSE
 * (somebody else has port 4791 of that address), -EOPNOTSUPP (RoCEv1, and the
 * engine was made without), or another -errno of the wire. */
int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type);
/* Gives up the sockets of addresses that have gone (engine/wire/udp_group.h): others may have their port. */
void ur_engine_forget_addrs(struct ur_engine *engine);
/* Returns whether an address that ur_engine_set_gid() refused with -EADDRINUSE
 * is free now. */
bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type);
/* The netdev was made anew and has another index. All GIDs must be gone. */
void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex);
/* Sets the active MTU, 256 to 4096 bytes. ur_port_set_mtu() says for whom. */
void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes);
/* Which queue pairs are ECT(0) where their program asks for no ECN. */
#define UR_ECN_NONE	0
#define UR_ECN_RELIABLE 1 /* RC and XRC, and UC to peers that have sent CNPs */
#define UR_ECN_ALL	2 /* and UC and UD to anybody */

/* Sets congestion control. Live queue pairs follow it, but only those that are
 * connected from now on can be limited. ecn: UR_ECN_*; an address vector keeps the
 * setting that it was made with. */
void ur_engine_set_cc(struct ur_engine *engine, const struct ur_cc_config *cc,
		      u8 ecn);
/* Returns whether the options of the engine ask for DCQCN. */
bool ur_engine_cc(const struct ur_engine *engine);
/* The netdev has another name; it is used in what is logged. */
void ur_engine_set_netdev(struct ur_engine *engine, const char *netdev);
/* Counts that the netdev's link went down (link_downed). The kernel refuses its
 * packets, and the transport's timers and retries do the rest. */
void ur_engine_link_downed(struct ur_engine *engine);
/* Returns whether packets of service level 7 were sent without its priority,
 * since the process, or a program with an engine, has no right to it; of a program,
 * a line in the log says so then. */
bool ur_engine_sl_refused(struct ur_engine *engine);
/* Fills values with the UR_CNT_COUNT counters of the port, those of engines in
 * programs among them. programs: these alone, which are what programs say; or NULL. */
void ur_engine_counters(struct ur_engine *engine, u64 *values, u64 *programs);
/* Asks for the event woken, once, when the engine wakes or is called the next
 * time. It may miss a wake that is on its way already. */
void ur_engine_tell_waking(struct ur_engine *engine);
/* Returns whether the engine sleeps. */
bool ur_engine_asleep(struct ur_engine *engine);

/*
 * A path as verbs give it, already checked against the GID table. The engine
 * makes the transport's address vector of it (UDP source port, loop, route).
 */
struct ur_epath {
	u8 sgid[16], dgid[16];
	u32 sgid_index;
	u32 flow_label;
	u8 traffic_class;
	u8 hop_limit;
	u8 sl;
	u8 static_rate; /* enum ibv_rate: of connected queue pairs; 0: none */
	bool v1;
	bool nobodys; /* ur_engine_is_nobodys(): of connected queue pairs */
};

/* Sends a MAD of 256 bytes, which is copied, from QP1 to the queue
 * pair dqpn of the path's destination. Returns 0, -ENOMEM (too many wait), or -errno where there is no way. */
int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       u32 dqpn, const u8 *mad);

/* ---- faults on request: engine/fault_rule.h ---- */

/* Puts a rule in force, which is copied, in *fault. Returns 0 or -ENOMEM. */
int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault);
/* Ends it, and frees *fault. Packets that it holds back still leave. */
void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault);
/* Fills how much the rule has matched, and on how much of that it acted. */
void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done);

/* ---- the flight recorder: engine/ground/recorder.h ---- */

/* Makes the engine write to rec; NULL: to nothing. rec stays the caller's, but
 * only the engine writes to it until the next call. */
void ur_engine_record(struct ur_engine *engine, struct ur_recorder *rec);
/* Records an event of rdma_cm that a program gets: its queue pair (0: none
 * yet), the program's user and process, enum rdma_cm_event_type, its status. */
void ur_engine_record_cm(struct ur_engine *engine, u32 qpn, uid_t uid,
			 pid_t pid, u32 event, int status);

/* ---- user context: one open uverbs file ---- */

struct ur_ectx_info {
	u64 db_map_off;
	u32 db_map_len;
	int wake_fd; /* eventfd; stays the engine's: duplicate or pass it */
};

/*
 * Makes the engine's part of an open uverbs file in *ectx. memfd is sparse,
 * sealed against changes of its size, and as large as it will ever be; the
 * engine places rings in it. It stays the caller's, open until destroy. A
 * reference of mem is taken until destroy; it says whose the context is, and so
 * which engine is for it. realm: that of its address handles, see struct
 * ur_qp_init. Returns 0 or -errno.
 */
int ur_ectx_create(struct ur_engine *engine, int memfd, struct ur_user_mem *mem,
		   u32 realm, struct ur_ectx **ectx, struct ur_ectx_info *info);
/* Makes the context's card a hostile one (UROCE_ADVERSE_*), with that seed. No
 * queue may have been made. Returns 0 or -ENOMEM. */
int ur_ectx_set_adverse(struct ur_ectx *ectx, u32 what, u32 seed);
/* Fetches what was posted to the context's queue pairs so far, and sends what
 * needs no answer: a piece of it. *run is 0 at first, and then the function's.
 * Returns whether there is more, for which the caller comes again when others
 * have had the control lock. Afterwards the client's memory may go. */
bool ur_ectx_settle(struct ur_ectx *ectx, u64 *run);

/* Makes the engine call room(arg, bytes) before it takes memory for a ring: room returns 0, or
 * -errno, which the call then returns, where there may be no more. */
void ur_ectx_set_room(struct ur_ectx *ectx, int (*room)(void *arg, u64 bytes),
		      void *arg);
/* Frees the context. All its objects must have been destroyed. */
void ur_ectx_destroy(struct ur_ectx *ectx);

/* ---- event files: a socket pair; one datagram is one event ---- */

/* Events of an object that was destroyed: some may be unread. */
struct ur_events_left {
	struct ur_evsock *sock; /* of an event file, which must stay */
	u64 element;
	u64 sent; /* 0: sock may be NULL */
};

/* The engine sends nothing to that event file until ur_events_resume(). */
void ur_events_hold(const struct ur_events_left *left);
void ur_events_resume(const struct ur_events_left *left);
/* Withdraws the events that were not read. Returns how many there were. A
 * process that shares the client's end can make this wait, so no lock may be
 * held. To be called between the two others, and for one file by one thread at
 * a time. */
u32 ur_events_withdraw(const struct ur_events_left *left);

/* Frees the channel. No completion queue may use it any more. Returns the application's end, which is the
 * caller's: where others have the sending end, the last to close it may have to wait for what they have put
 * into it. */
int ur_echan_destroy(struct ur_echan *chan);

/* Frees the file of asynchronous events, in the same way. No queue may use it any more. */
int ur_easync_destroy(struct ur_easync *async);

/* The objects of a context: the rest of this interface. */
#include "engine/engine_lend.h"
#include "engine/engine_memory.h"
#include "engine/engine_queues.h"

#endif
