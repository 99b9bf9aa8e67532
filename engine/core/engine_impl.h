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
#include "engine/core/call.h"
#include "engine/inproc/chores.h"
#include "engine/core/cq.h"
#include "engine/core/doorbell.h"
#include "engine/core/ectx.h"
#include "engine/core/event_batch.h"
#include "engine/core/event_file.h"
#include "engine/inproc/guest.h"
#include "engine/core/idle.h"
#include "engine/grant/lend_settings.h"
#include "engine/core/mailbox.h"
#include "engine/options.h"
#include "engine/core/place.h"
#include "engine/core/queues.h"
#include "engine/record/refused.h"
#include "engine/core/regions.h"
#include "engine/core/watch.h"
#include "util/assert.h"

struct ur_wire;
struct ur_flow_table;
struct ur_shards;
struct ur_recorder;
struct ur_lent_record;
struct ur_lent_fault;
struct ur_lent_gids;
struct ur_kept;
struct ur_faults;
struct ur_lent_numbers;

#define UR_WIRES       2 /* types of GIDs */
#define UR_ENGINE_GIDS 1024

/* The flight recorder: record.h. */
struct ur_engine_record {
	bool on;		      /* there is a ring, or a probe is used */
	bool probed;		      /* one is */
	struct ur_recorder *recorder; /* NULL: nothing is kept */
	u32 run;		      /* new whenever one begins */
	ur_time next_told;	      /* no failure is reported before */
	struct ur_host_ops ops;
};

struct ur_egid {
	bool used;
	enum ur_gid_type type;
	u8 gid[16];
};

/* The transport's callbacks, where there are no fault rules. */
extern const struct ur_host_ops ur_engine_host_ops;

struct ur_engine {
	struct ur_engine_config config;
	char netdev[32];
	struct ur_engine_options opt;
	struct ur_cc_config cc;	  /* as control set it last */
	u8 ecn;			  /* as of ur_engine_set_cc() */
	struct ur_shards *shards; /* shards.h; NULL: the only engine */
	u32 shard; /* its number among them, or the prefix of its slot */
	u32 shard_bits;
	struct ur_slot_set slots; /* lent to programs: control's (lend.c) */
	uid_t lent_to[UR_SLOTS];
	struct ur_lent_numbers *numbers; /* of all slots; NULL: none yet */
	u32 lent_device; /* number of the device in wire/udp_own.h; 0: it lends nothing */
	bool inherits; /* the settings are an earlier uroced's still: control's */
	struct ur_counter_loans *counter_loans; /* control's; NULL: none yet */
	struct ur_settings_page *settings; /* for programs, as the next three */
	int settings_fd;
	struct ur_cc_config shown_cc; /* as control set it last */
	u32 shown_mtu;
	u8 shown_ecn;
	u32 shown_classes;
	u32 shown_record_run, shown_record_kib;	       /* lend_record.h */
	struct ur_lent_record *record_loans[UR_SLOTS]; /* control's */
	/* Fault rules that programs are shown: lend_faults.h. Control's. */
	struct ur_lent_fault *lent_faults[UR_LENT_FAULTS];
	u64 last_lent_fault;
	struct ur_port *port;
	struct ur_wire *wires[UR_WIRES]; /* by enum ur_gid_type; NULL: none */
	struct ur_wire *raw;		 /* raw/wire_raw.h; NULL: none */
	struct ur_flow_table *flows;
	pthread_t thread;
	int epoll_fd;
	int call_fd; /* eventfd */
	struct ur_watch call_watch;
	struct ur_mailbox mailbox;
	/* 1: may be blocked; whoever leaves work writes call_fd. */
	_Atomic int asleep;
	_Atomic bool tell_waking; /* the next wake-up is reported to control */
	ur_time asleep_until;	  /* deadline of the sleep, while asleep */
	bool stop;
	u8 apart[64]; /* what others look at is above */
	ur_time now;  /* CLOCK_MONOTONIC, once an iteration */
	struct ur_list ectxs;
	struct ur_list ringing; /* of these, those that ring: ringing.h */
	u32 n_ringing;
	ur_time ringing_looked;
	bool lost_events;	  /* wake-ups of contexts may be among them */
	struct ur_list kicks;	  /* ur_erq */
	struct ur_list moderated; /* ur_ecq with an event held back */
	struct ur_list due;	  /* ur_ecq whose events leave at the end */
	u64 due_bytes;		  /* completed since the first of them */
	struct ur_event_batch events; /* of these, in a program */
	bool events_away; /* they are being sent, and another thread may be the engine */
	struct ur_tx tx;
	u32 tx_sent; /* descriptors of tx already on the wire */
	bool tx_blocked;
	bool tx_little; /* a neighbour has room for little: ur_wire_look() is to come before each fill */
	bool looped;	/* a packet of this fill was to the engine itself */
	bool hurries;	/* transmit.c: control waits for what is sent */
	int tx_wait_fd;
	struct ur_egid gids[UR_ENGINE_GIDS];
	struct ur_list joins;
	u64 sleeps;    /* for the tests */
	u64 unwatched; /* watches that have ended */
	ur_time last_rx, last_epoll;
	ur_time wire_look; /* a wire wants its look() then */
	u32 forwards; /* how many outboxes it empties (wire/udp_outbox.h) */
	struct ur_idle idle;
	struct ur_place place;
	u32 cpu; /* that it was on when it last looked, plus one */
	struct ur_refused refused;
	ur_time mod_deadline;
	struct ur_faults *faults;      /* NULL: there was no rule yet */
	const struct ur_host_ops *ops; /* of the port, but for record.c's */
	struct ur_engine_record record;
	bool rx_any;  /* a datagram came in this iteration */
	bool rx_bulk; /* the last datagrams were long */
	bool rx_memory; /* packets of another program of the host, through memory */
	struct ur_guest_state guest;
	struct ur_chores chores; /* of an engine in a program */
	struct ur_gpu *gpu; /* NULL: no region has been of a GPU's memory */
	/* Packets of service level 7 leave without its priority. */
	_Atomic bool sl_refused;
};

/* Makes one engine and starts its thread; of a device of several it is that one
 * of the set. Returns 0 or -errno. */
int ur_engine_create_one(const struct ur_engine_config *config,
			 struct ur_shards *shards, u32 shard,
			 struct ur_engine **engine);
/* Ends the engine's thread, where it runs; frees an engine that does not. */
void ur_engine_stop_one(struct ur_engine *engine);
void ur_engine_free_one(struct ur_engine *engine);

/* Post an event of a queue pair, or a received MAD of len bytes, to control.
 * Dropped where there is no memory. */
void ur_engine_tell_qp_event(struct ur_engine *engine, u32 qpn,
			     enum ur_event ev);
void ur_engine_tell_woken(struct ur_engine *engine);
/* The engine works again. One branch where nobody asked. */
static inline void ur_engine_woken(struct ur_engine *engine)
{
	if (atomic_load_explicit(&engine->tell_waking, memory_order_relaxed))
		ur_engine_tell_woken(engine);
}
void ur_engine_tell_failed(struct ur_engine *engine, u32 qpn);
void ur_engine_tell_gsi(void *port_ctx, const struct ur_rx_meta *meta,
			u32 src_qpn, const u8 *mad, u32 len);
/* Tell an engine that has just begun what another was told: its addresses,
 * congestion control. The first returns 0 or -errno. Control. */
int ur_engine_copy_gids(const struct ur_engine *from, struct ur_engine *to);
void ur_engine_copy_cc(const struct ur_engine *from, struct ur_engine *to);
/* Sets both. Engine thread. */
static inline void ur_engine_apply_cc(struct ur_engine *engine,
				      const struct ur_cc_config *cc, u8 ecn)
{
	engine->cc = *cc;
	ur_port_set_cc(engine->port, cc);
	engine->ecn = ecn;
}
/* Returns whether the GID is one of the device's own. */
bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid);
/* In a program, under the owner lock: gives up the addresses that the device has no
 * more. */
void ur_engine_follow_gids(struct ur_engine *engine,
			   const struct ur_lent_gids *gids);
/* Gives all of them up. */
void ur_engine_give_up_gids(struct ur_engine *engine);
/* lend.c: the first slot that is lent. */
u32 ur_lend_first_slot(const struct ur_engine *engine);
/* Nobody uses the sockets in that slot any more. */
void ur_lend_rest(struct ur_engine *engine, u32 slot);
/* The name under which its program's life is kept (ground/keep.h). */
struct ur_kept ur_lend_life(const struct ur_engine *engine, u32 slot);
/* Joins the multicast group on the wire with the first call for it. Returns 0
 * or -errno. */
int ur_engine_join(struct ur_engine *engine, const u8 *gid);
/* Undoes one such call, and leaves the group with the last one. */
void ur_engine_leave(struct ur_engine *engine, const u8 *gid);
/* Returns whether it is in the group. */
bool ur_engine_joined(struct ur_engine *engine, const u8 *gid);

#endif
