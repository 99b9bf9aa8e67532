/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine owns the wires of a device. The engine of a program also owns the transport port,
 * rings, doorbells and the reference to the application's memory. uroced has one engine for each
 * device, a switch without queue pairs (engine/core/switch.c).
 *
 * Threads: all functions are called with the control lock held (engine/ground/loop.h). They hand
 * their work to the engine's thread, and wait for it where a result is needed (engine/core/call.h).
 * In a program the lock of its engines takes the place of the control lock (inproc/ops/process.h).
 * The engine never takes the control lock: it reports through ur_loop_post().
 *
 * Results: 0 or -errno, as the kernel's verbs give them; outputs change on success only. An object
 * exists until its destroy function. Control destroys children first: queue pairs before completion
 * queues, SRQs and regions, all of them before the context. A destroy that returns -EBUSY has
 * changed nothing.
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
	/* The engine has woken, as ur_engine_report_waking() requested. May be NULL. */
	void (*woken)(void *ctx);
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

/* A grant of a device to an engine in a program (engine_grant.h). The descriptors stay the granting
 * engine's. */
struct ur_grant {
	u32 slot;   /* first bits of the numbers of its queue pairs */
	u32 device; /* number of the device, as in file */
	int file;   /* the table of ports (wire/udp_local.h) */
	/* Sockets from which it sends to engines of this host, for IPv6 and
	 * IPv4, both bound to that port; -1: the kernel has no IPv6. */
	int out[2];
	u16 port;
	int counters; /* memory for its counters: program_counters.h */
	int settings; /* settings that it reads: program_settings.h */
	int record;   /* ring for its records: program_records.h */
	/* For an engine without receiving sockets: the file of the relay's ring, and the file of
	 * words (local/udp_relay.h). Else -1. */
	int relay, relay_words;
	/* For a process in another network namespace, which gets no sockets at all: the file of the
	 * outbox, an eventfd that wakes the device, and a socket by which the device wakes the
	 * process (local/udp_outbox.h). Else -1. */
	int outbox, wake_fd, bell;
	/* Packet sockets of RoCEv1, for an engine process (wire/v1/v1_sockets.h). Else -1. */
	int v1[UR_V1_SOCKETS];
	u32 realm; /* the user's realm on that device; 0: users are not isolated */
	u32 off;      /* the device's options that are off: UROCE_ENGINE_NO_* */
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
	bool one_path; /* the netdev's peer is another interface of this host (veth) */
	struct ur_loop *loop;
	const struct ur_engine_events *events;
	void *ctx; /* of events */
	/* Run-time options, "name=value,..." or NULL (--engine-opt); see
	 * ur_engine_options_check(). */
	const char *options;
	/* &ur_program_kind; NULL: uroced's, without queue pairs */
	const struct ur_engine_kind *kind;
	/* An engine in a program or an engine process (inproc.h), with this grant; then loop and
	 * events are NULL. */
	bool inproc;
	/* With inproc: the contexts belong to other processes, whose threads never run the engine. */
	bool apart;
	struct ur_grant grant;
	u32 slot_bits;
	/* With inproc: the program's uverbs file; the grant ends when it is closed. */
	int file;
};

/* Checks the text of options. Returns 0, or -EINVAL after a line on stderr that names the wrong
 * name or value, and the valid ones. */
int ur_engine_options_check(const char *text);
/* Returns the option guests of a text that has been checked. */
bool ur_engine_has_guests(const char *text);

/* Records which processes have UDP port 4791 now, for the message of a device that cannot bind it.
 * Called once, before this process loses the right to look at others' descriptors. */
void ur_engine_note_owners(void);

/* Makes an engine in *engine and starts its thread. config is copied; loop, events and ctx must
 * outlive the engine. Returns 0 or -errno. */
int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine);
/* Ends the thread. Afterwards the engine posts nothing to the loop, but posts from before still
 * refer to it. Only ur_engine_destroy() may follow. */
void ur_engine_stop(struct ur_engine *engine);
/* Frees the engine; stops it first if it runs. No post of the engine may be left in the loop. */
void ur_engine_destroy(struct ur_engine *engine);
/* Stops the engine and closes its wires although there are objects, which nobody uses any more.
 * Their memory ends with the process. */
void ur_engine_abandon(struct ur_engine *engine);

/* Runs a program's engine on the calling thread, unless another thread runs it now. posted: only
 * sends what was just posted; else takes a whole turn. Keeps errno. Returns false if the program
 * has closed the engine's descriptors: then the engine does nothing. Any thread of the program. */
bool ur_engine_drive(struct ur_engine *engine, bool posted);
/* Does the same after a datagram was posted, which may leave later, together with following ones
 * (post_batch.h). */
bool ur_engine_datagram(struct ur_engine *engine);
/* Returns the number of whole turns taken by threads of the program. Any thread. */
u32 ur_engine_turns(const struct ur_engine *engine);
/* The process is about to end: sends what was posted, also by other threads. Waits 0.2 s at most
 * for the thread that runs the engine. Any thread, also in a signal handler. */
void ur_engine_finish(struct ur_engine *engine);

/* Returns once the engine has replied, which shows that it does not hang. */
void ur_engine_sync(struct ur_engine *engine);

enum ur_gid_type {
	UR_GID_ROCE_V1 = 0,
	UR_GID_ROCE_V2 = 1,
};

/* Sets entry index of the GID table, or empties it if gid is NULL. Opens and closes the wire's
 * sockets for that address. Returns 0, -EADDRINUSE (another program has port 4791 of that address),
 * -EOPNOTSUPP (RoCEv1, of an engine without), or another -errno of the wire. */
int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type);
/* Closes the sockets of lost addresses (engine/wire/udp_group.h), so that others can bind their
 * port. */
void ur_engine_forget_addrs(struct ur_engine *engine);
/* Returns whether an address that ur_engine_set_gid() refused with -EADDRINUSE
 * is free now. */
bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type);
/* The netdev was made anew and has another index. The GID table must be empty. */
void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex);
/* Sets the active MTU, 256 to 4096 bytes. ur_port_set_mtu() says which queue pairs follow it. */
void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes);
/* Which queue pairs are ECT(0) where their program asks for no ECN. */
#define UR_ECN_NONE	0
#define UR_ECN_RELIABLE 1 /* RC and XRC, and UC to peers that have sent CNPs */
#define UR_ECN_ALL	2 /* and UC and UD to anybody */

/* Sets congestion control. Connected queue pairs follow changed parameters, but the rate limiter is
 * only for those that connect from now on. ecn: UR_ECN_*; an address vector keeps the value of its
 * creation. */
void ur_engine_set_cc(struct ur_engine *engine, const struct ur_cc_config *cc,
		      u8 ecn);
/* Returns whether the options of the engine ask for DCQCN. */
bool ur_engine_cc(const struct ur_engine *engine);
/* The netdev has another name, which is used in the log. */
void ur_engine_set_netdev(struct ur_engine *engine, const char *netdev);
/* Counts that the netdev's link went down (link_downed). Nothing else is to be done: the kernel
 * refuses packets, and the transport's timers and retries follow. */
void ur_engine_link_downed(struct ur_engine *engine);
/* Returns whether packets of service level 7 were sent without its priority, since the process, or
 * a program with an engine, has no right to it. Logs that, if a program reports it. */
bool ur_engine_sl_refused(struct ur_engine *engine);
/* Fills values with the UR_CNT_COUNT counters of the port, including those of engines in programs.
 * programs: the latter alone, which are claims of programs; or NULL. */
void ur_engine_counters(struct ur_engine *engine, u64 *values, u64 *programs);
/* Requests the event woken, once, for the next time that the engine wakes or is called. May miss a
 * wake-up that is on its way already. */
void ur_engine_report_waking(struct ur_engine *engine);
/* Returns whether the engine sleeps. */
bool ur_engine_asleep(struct ur_engine *engine);

/* A path as verbs give it, checked against the GID table. From it the engine makes the transport's
 * address vector (UDP source port, loopback, route). */
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

/* Sends a copy of a MAD of 256 bytes from QP1 to queue pair dqpn at the path's destination. Returns
 * 0, -ENOMEM (too many wait), or -errno if there is no route. */
int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       u32 dqpn, const u8 *mad);

/* ---- faults on request: engine/fault_rule.h ---- */

/* Adds a rule, which is copied, in *fault. Returns 0 or -ENOMEM. */
int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault);
/* Removes the rule and frees *fault. Packets that it holds still leave. */
void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault);
/* Fills *matched with the number of matches of the rule, and *done with the number of times that it
 * acted. */
void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done);

/* ---- the flight recorder: engine/ground/recorder.h ---- */

/* Makes the engine record to rec; NULL: ends recording. rec stays the caller's; until the next call
 * only the engine writes to it. */
void ur_engine_record(struct ur_engine *engine, struct ur_recorder *rec);
/* Records an event of rdma_cm. qpn: its queue pair, 0: none yet; uid, pid: the program that gets
 * it; event: enum rdma_cm_event_type. */
void ur_engine_record_cm(struct ur_engine *engine, u32 qpn, uid_t uid,
			 pid_t pid, u32 event, int status);

/* ---- user context: one open uverbs file ---- */

struct ur_ectx_info {
	u64 db_map_off;
	u32 db_map_len;
	int wake_fd; /* eventfd; stays the engine's: duplicate or pass it */
};

/* Makes the engine's part of an open uverbs file in *ectx. memfd is a sparse file of final size,
 * sealed against changes of its size; the engine places rings in it. It stays the caller's, and
 * must be open until the context is destroyed. The context takes a reference of mem, the user's
 * memory. realm: that of its address handles, as in struct ur_qp_init. Returns 0 or -errno. */
int ur_ectx_create(struct ur_engine *engine, int memfd, struct ur_user_mem *mem,
		   u32 realm, struct ur_ectx **ectx, struct ur_ectx_info *info);
/* Makes the context's card a hostile one (UROCE_ADVERSE_*), with that seed. No
 * queue may have been made. Returns 0 or -ENOMEM. */
int ur_ectx_set_adverse(struct ur_ectx *ectx, u32 what, u32 seed);
/* Fetches requests that were posted to the context's queue pairs so far, and sends what needs no
 * answer. Works in pieces: *run is 0 at first, and then the function's. Returns true if there is
 * more: the caller releases the control lock for others and calls again. After the last piece the
 * client's memory may go. */
bool ur_ectx_drain(struct ur_ectx *ectx, u64 *run);

/* Makes the engine call room(arg, bytes) before it takes memory for a ring. If room returns -errno,
 * the creation of the ring returns that. */
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

/* The engine sends nothing to that event file until ur_events_thaw(). */
void ur_events_freeze(const struct ur_events_left *left);
void ur_events_thaw(const struct ur_events_left *left);
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
#include "engine/engine_grant.h"
#include "engine/engine_memory.h"
#include "engine/engine_queues.h"

#endif
