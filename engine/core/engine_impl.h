/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The structs that the files of the engine share: the engine, and its objects
 * by the headers that are included here. Only the engine thread touches these
 * structs, except where a field says otherwise; control reaches them through
 * the calls of call.h.
 */
#ifndef UR_ENGINE_CORE_ENGINE_IMPL_H
#define UR_ENGINE_CORE_ENGINE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include "engine/engine.h"
#include "engine/core/ah.h"
#include "engine/core/aside.h"
#include "engine/core/call.h"
#include "engine/inproc/chores.h"
#include "engine/core/cq.h"
#include "engine/core/doorbell.h"
#include "engine/core/ectx.h"
#include "engine/core/event_batch.h"
#include "engine/core/event_file.h"
#include "engine/inproc/inproc.h"
#include "engine/core/idle.h"
#include "engine/core/kind.h"
#include "engine/grant/program_settings.h"
#include "engine/core/mailbox.h"
#include "engine/options.h"
#include "engine/core/queues.h"
#include "engine/record/refused.h"
#include "engine/core/regions.h"
#include "engine/core/watch.h"
#include "util/assert.h"

struct ur_wire;
struct ur_flow_table;
struct ur_recorder;
struct ur_program_record;
struct ur_program_fault;
struct ur_program_gids;
struct ur_kept;
struct ur_faults;
struct ur_gsi;
struct ur_slot_numbers;

#define UR_WIRES       2 /* types of GIDs */
#define UR_ENGINE_GIDS 1024

/* The flight recorder: record.h. */
struct ur_engine_record {
	bool on;     /* there is a recorder, or a probe is used */
	bool probed; /* a probe is used */
	struct ur_recorder *recorder; /* NULL: nothing is recorded */
	u32 run;	     /* number of the recording; new for each */
	ur_time next_report; /* earliest time of the next report of a failure */
	struct ur_host_ops ops;
};

struct ur_egid {
	bool used;
	enum ur_gid_type type;
	u8 gid[16];
};

/* The transport's callbacks without fault rules. */
extern const struct ur_host_ops ur_engine_host_ops;

struct ur_engine {
	struct ur_engine_config config;
	const struct ur_engine_kind *kind;
	char netdev[32];
	struct ur_engine_options opt;
	struct ur_cc_config cc; /* last setting by control */
	u8 ecn;			/* UR_ECN_*: ur_engine_set_cc() */
	u32 shard; /* its slot's prefix, with which its numbers begin; uroced's: 0 */
	u32 shard_bits;
	struct ur_slot_set slots; /* granted to programs. Control (grant.c) */
	uid_t granted_to[UR_SLOTS];
	struct ur_slot_numbers *numbers; /* of all slots; NULL: none yet */
	u32 local_device; /* device number in wire/udp_local.h; 0: grants nothing */
	bool inherits; /* the settings are still an earlier uroced's. Control */
	struct ur_counter_grants *counter_grants; /* NULL: none yet. Control */
	/* Settings for programs: the page, and the values that are published there. */
	struct ur_settings_page *settings;
	int settings_fd;
	struct ur_cc_config shown_cc; /* last setting by control */
	u32 shown_mtu;
	u8 shown_ecn;
	u32 shown_classes;
	u32 shown_record_run, shown_record_kib; /* program_records.h */
	struct ur_program_record *program_records[UR_SLOTS]; /* control's */
	/* Fault rules for programs: program_faults.h. Control's. */
	struct ur_program_fault *program_faults[UR_PROGRAM_FAULTS];
	u64 last_program_fault;
	struct ur_port *port;		 /* a program's; NULL: uroced's */
	struct ur_wire *wires[UR_WIRES]; /* by enum ur_gid_type; NULL: none */
	struct ur_wire *raw;		 /* raw/wire_raw.h; NULL: none */
	struct ur_flow_table *flows;
	pthread_t thread;
	int epoll_fd;
	int call_fd; /* eventfd */
	struct ur_watch call_watch;
	struct ur_mailbox mailbox;
	/* 1: the thread may be blocked, so a producer of work writes call_fd. */
	_Atomic int asleep;
	_Atomic bool
		report_waking; /* the next wake-up is reported to control */
	ur_time asleep_until;  /* deadline of the sleep, while asleep */
	bool stop;
	u8 pad[64];  /* padding: other threads read the fields above */
	ur_time now; /* CLOCK_MONOTONIC, read once a turn */
	struct ur_list ectxs;
	struct ur_list ringing; /* contexts that have rung of late: ringing.h */
	u32 n_ringing;
	ur_time ringing_checked;
	bool lost_events; /* epoll events were dropped: any context may have rung */
	struct ur_list kicks;	  /* ur_erq */
	struct ur_list moderated; /* ur_ecq with a delayed event */
	struct ur_list due;	  /* ur_ecq with events to send in this turn */
	u64 due_bytes;		  /* completed since the first due event */
	struct ur_event_batch events; /* the due events, in a program */
	bool events_away; /* events are being sent without the owner lock */
	struct ur_tx tx;
	u32 tx_sent; /* descriptors of tx already on the wire */
	bool tx_blocked;
	/* A neighbour's ring is nearly full: call ur_wire_retry() before each fill. */
	bool tx_little;
	bool looped;  /* a packet of this fill was to the engine itself */
	bool hurries; /* transmit.c: control waits for the packets */
	int tx_wait_fd;
	struct ur_egid gids[UR_ENGINE_GIDS];
	struct ur_list joins;
	u64 sleeps;    /* for the tests */
	u64 unwatched; /* watches that have ended */
	ur_time last_rx, last_epoll;
	ur_time wire_retry_at; /* when to call retry() of a wire; UR_NEVER: not */
	u32 forwards; /* outboxes that it empties (local/udp_outbox.h) */
	struct ur_idle idle;
	u32 cpu; /* last known processor, plus one */
	struct ur_refused refused;
	ur_time mod_deadline;
	struct ur_faults *faults;      /* NULL: there was no rule yet */
	const struct ur_host_ops *ops; /* of the port, without record.c's */
	struct ur_engine_record record;
	bool rx_any;	/* a datagram came in this turn */
	bool rx_bulk;	/* the last datagrams were long */
	bool rx_memory; /* packets came from another program through memory */
	struct ur_inproc inproc;
	struct ur_chores chores; /* of an engine in a program */
	struct ur_asides asides; /* the same */
	struct ur_gpu *gpu;	 /* NULL: no region was of a GPU's memory yet */
	u32 n_waiting; /* regions whose accesses may wait: of GPUs and dma-bufs */
	/* The kernel refused priority 7: service level 7 is sent without it. */
	_Atomic bool sl_refused;
	struct ur_gsi *gsi; /* NULL: QP1 is another engine's */
	/* UR_CNT_COUNT words: own_counters, or those that were granted. */
	u64 *counters;
	u64 own_counters[UR_CNT_COUNT];
};

/* Returns whether the queue pair with that number, if there is one, is the engine's. */
static inline bool ur_engine_has(const struct ur_engine *engine, u32 qpn)
{
	return ur_shard_of(qpn, engine->shard_bits) == engine->shard;
}

/* Adds n to a counter of the engine. */
static inline void ur_engine_tally(struct ur_engine *engine, enum ur_counter c,
				   u64 n)
{
	ur_counter_add(engine->counters, c, n);
}

/* Post a report to control: the wake-up, or a received MAD of UR_MAD_BYTES. Without memory the report is
 * lost. */
void ur_engine_report_woken(struct ur_engine *engine);
/* Reports to control that the engine has woken, if ur_engine_report_waking() requested that. */
static inline void ur_engine_woken(struct ur_engine *engine)
{
	if (atomic_load_explicit(&engine->report_waking, memory_order_relaxed))
		ur_engine_report_woken(engine);
}
void ur_engine_report_gsi(struct ur_engine *engine,
			  const struct ur_rx_meta *meta, u32 src_qpn,
			  const u8 *mad);
/* Starts a thread that takes turns until engine->stop. Returns 0 or -errno. */
int ur_engine_start(struct ur_engine *engine);
/* Returns whether the GID is one of the device's own. */
bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid);
/* In a program: ur_engine_gids_changed() returns whether the device has published addresses since the last
 * ur_engine_follow_gids(), which removes those that the device no longer has. Under the owner lock. */
bool ur_engine_gids_changed(const struct ur_engine *engine,
			    const struct ur_program_gids *gids);
void ur_engine_follow_gids(struct ur_engine *engine,
			   const struct ur_program_gids *gids);
/* Removes all addresses. */
void ur_engine_give_up_gids(struct ur_engine *engine);
/* The first slot that is granted. */
#define UR_SLOT_FIRST 1u
/* Ends the use of the slot's sockets. They stay for the next holder. */
void ur_grant_unuse(struct ur_engine *engine, u32 slot);
/* Returns the key of the slot's UR_KEPT_LIVENESS in the keeper (ground/keep.h). */
struct ur_kept ur_grant_liveness(const struct ur_engine *engine, u32 slot);
/* Joins a multicast group. Joins count; the first one joins on the wire. Returns 0
 * or -errno. */
int ur_engine_join(struct ur_engine *engine, const u8 *gid);
/* Undoes one join. The last one leaves the group on the wire. */
void ur_engine_leave(struct ur_engine *engine, const u8 *gid);

#endif
