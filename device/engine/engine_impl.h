/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the engine share: its objects. Only the engine thread
 * touches these structs, except where a field says otherwise; control reaches
 * them through the calls of call.h.
 */
#ifndef UR_DEVICE_ENGINE_IMPL_H
#define UR_DEVICE_ENGINE_IMPL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include "device/engine/engine.h"
#include "device/engine/arena.h"
#include "device/engine/call.h"
#include "device/engine/doorbell.h"
#include "device/engine/idle.h"
#include "device/engine/place.h"
#include "device/engine/refused.h"
#include "device/engine/ring_io.h"
#include "kernel-abi/uroce-ring.h"
#include "util/assert.h"
#include "util/list.h"

struct ur_wire;
struct ur_flow_table;
struct ur_shards;
struct ur_rss;
struct ur_recorder;

#define UR_WIRES 2 /* types of GIDs */

/* What epoll gives back: embedded in the owner of the descriptor. */
struct ur_watch {
	void (*fn)(struct ur_watch *watch, u32 events);
};

/* ---- call.c: control to engine ---- */

struct ur_mailbox {
	int (*fn)(struct ur_engine *engine, void *arg);
	void *arg;
	int ret;
	_Atomic int pending; /* set by control, cleared by the engine */
	sem_t done;
	pthread_mutex_t lock; /* one caller at a time */
	/* Held by whoever is the engine: its thread while awake, a caller while
	 * it sleeps. */
	pthread_mutex_t owner;
	u64 foreign_runs; /* functions that callers ran themselves */
};

/* ---- event files: chan.c, async.c ---- */

/* One kind of datagram with its accounting; embedded in a queue. */
struct ur_evsrc {
	u64 element; /* first 8 bytes of its datagrams */
	u64 sent;    /* datagrams that reached the socket */
	u64 pending; /* did not fit: count (channel) or type bits (async) */
	struct ur_list backlog; /* of the socket's, while pending != 0 */
};

/* Both ends of a socket pair. */
struct ur_evsock {
	struct ur_engine *engine;
	int tx, rx;
	bool async;		/* 16-byte datagrams with a type */
	bool watching;		/* for room */
	bool held;		/* see ur_events_hold() */
	struct ur_list backlog; /* ur_evsrc */
	struct ur_watch watch;
};

struct ur_echan {
	struct ur_evsock sock;
	struct ur_list node; /* of the context */
};

struct ur_easync {
	struct ur_evsock sock;
	struct ur_list node;   /* of the context */
	struct ur_evsrc loose; /* events that belong to no queue */
};

/* Opens the pair of sockets, and watches for room. Returns 0 or -errno. */
int ur_evsock_open(struct ur_evsock *sock, struct ur_engine *engine,
		   bool async);
/* Closes both. No source may have events pending. */
void ur_evsock_close(struct ur_evsock *sock);
/* Makes a source without events. element: first 8 bytes of its datagrams. */
void ur_evsrc_init(struct ur_evsrc *src, u64 element);
/* Sends one more event of src, or keeps it until there is room. type: only for
 * async. Never blocks, never fails. */
void ur_evsock_send(struct ur_evsock *sock, struct ur_evsrc *src, u32 type);
/* Nothing more is sent of src, whose events that may be unread are in *left. */
void ur_evsock_forget(struct ur_evsock *sock, struct ur_evsrc *src,
		      struct ur_events_left *left);

/* ---- user context ---- */

/* A queue that has a doorbell slot. */
struct ur_db_client {
	struct ur_db_client *next; /* others of the same slot */
	u32 slot;
	void (*ring)(struct ur_db_client *db_client);
};

struct ur_ectx {
	struct ur_engine *engine;
	struct ur_list node; /* engine->ectxs */
	u32 realm;	     /* as of queue pairs, for address handles */
	struct ur_arena arena;
	struct ur_user_mem *mem;
	struct ur_block db_block;
	struct uroce_db_page *db;
	int wake_fd;
	struct ur_watch wake_watch;
	struct ur_spin_predictor
		predictor; /* waiting after this one's doorbell */
	bool complained;   /* a corrupt ring was reported */
	u32 next_slot;
	struct ur_db_client *db_clients[UROCE_DB_SLOTS];
	struct ur_eah **ahs; /* by number - 1 */
	u32 ah_cap, ah_hint;
	u32 settle_run; /* poll_loop.c */
	bool settling;
	struct ur_list mrs;	    /* ur_emr */
	struct ur_list asyncs;	    /* ur_easync; the control thread's */
	struct ur_list chans;	    /* ur_echan; the control thread's */
	struct ur_adverse *adverse; /* adverse.h; NULL: an ordinary card */
	/* Of regions: mappings, their bytes. The control thread's. */
	u32 n_maps;
	u64 mapped;
};

/* Gives a new queue a doorbell slot (db_client->slot). When all slots are given
 * out, queues share them. */
void ur_ectx_add_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/* Takes the queue off its slot, if it is there. */
void ur_ectx_del_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/*
 * Release the control lock around what takes long with memory of this client
 * alone, so that nobody else waits, and take it again. What belongs to the
 * context stays as it is meanwhile, since its commands come one at a time.
 */
void ur_ectx_unlock(struct ur_ectx *ectx);
void ur_ectx_relock(struct ur_ectx *ectx);
/* Logs once for each context why its memory is not to be trusted. */
void ur_ectx_complain(struct ur_ectx *ectx, const char *what, u32 number);

/* ---- queues ---- */

struct ur_ecq {
	struct ur_ectx *ectx;
	struct ur_block block;
	struct uroce_cq_hdr *hdr;
	struct uroce_cqe *cqes;
	u32 entries;
	u32 prod;	/* CQEs written */
	u32 cons;	/* last consumer index seen */
	u32 arm_taken;	/* value of hdr->arm that has had its event */
	u32 kernel_arm; /* UROCE_ARM_* by command */
	bool overrun;
	bool ignore_overrun;
	bool stamped; /* asked for completion time stamps */
	u32 users;    /* QPs and SRQs */
	struct ur_echan *chan;
	struct ur_easync *async;
	struct ur_evsrc comp_src, async_src;
	/* moderation */
	u16 mod_count, mod_period_us;
	u32 mod_seen;	      /* CQEs since the last event */
	ur_time mod_deadline; /* of the event held back; UR_NEVER none */
	struct ur_list mod_node;
	u32 due; /* events that leave with this turn */
	struct ur_list due_node;
	struct ur_adverse_cq *adverse; /* NULL: an ordinary card */
};

/* Host callbacks of the transport (transport/host.h), here and below. */
int ur_cq_push(void *cq_ctx, const struct ur_wc *wc);
/* Does what a completion does that finds the queue full. Returns -ENOSPC. */
int ur_ecq_overrun(struct ur_ecq *cq);
/* Returns the first rule of the queue that does not hold, in words, or NULL. */
const char *ur_ecq_check(const struct ur_ecq *cq);

/* ---- their events: cq_event.c ---- */

/* Decides about the event of a CQE that was written to a queue with a
 * channel. */
void ur_ecq_completed(struct ur_ecq *cq, const struct ur_wc *wc);
/* Makes the queue's event due: it leaves with this iteration, without
 * moderation. */
void ur_ecq_event(struct ur_ecq *cq);
/* Makes the events due whose moderation period is over. Returns the next
 * deadline. */
ur_time ur_ecq_moderate(struct ur_engine *engine, ur_time now);
/* Sends all events that are due. Whoever holds the owner lock calls this before
 * it releases the lock. */
void ur_ecq_send_events(struct ur_engine *engine);

/* A receive queue: of a QP or an SRQ. */
struct ur_erq {
	struct ur_ring ring;
	struct ur_ectx *ectx; /* NULL: no ring */
	bool want_kick;
	struct ur_list kick_node; /* engine->kicks: posted while we asked */
	struct ur_esrq *srq;
	struct ur_eqp *qp;
};

/* Host callbacks, see transport/host.h; rq_ctx is a struct ur_erq. */
int ur_rq_next(void *rq_ctx, struct ur_recv_wr *wr);
u32 ur_rq_count(void *rq_ctx);
void ur_rq_want_kick(void *rq_ctx, bool on);
/* Makes a receive queue without a ring. ectx NULL: there will be none. */
void ur_rq_init(struct ur_erq *rq, struct ur_ectx *ectx);
/* A doorbell of the receive queue came: looks whether receives were posted. */
void ur_rq_ring(struct ur_erq *rq);

struct ur_esrq {
	struct ur_db_client db_client;
	struct ur_ectx *ectx;
	struct ur_srq *srq;
	struct ur_erq rq;
	struct ur_block block;
	u32 max_wr, max_sge, stride;
	struct ur_ecq *cq;
	struct ur_easync *async;
	struct ur_evsrc async_src;
};

void ur_host_srq_event(void *srq_ctx, enum ur_event ev);

/* Who else gets the events of an XRC target QP. */
struct ur_eqp_ref {
	struct ur_list node;
	struct ur_eqp *qp;
	struct ur_easync *async;
	struct ur_evsrc src;
};

struct ur_eqp {
	struct ur_db_client db_client;
	struct ur_ectx *ectx; /* NULL: XRC_TGT */
	struct ur_engine *engine;
	struct ur_qp *qp;
	u32 qpn;
	u8 type;
	bool has_av; /* WQEs carry an address vector segment */
	bool has_rings;
	struct ur_ring sq;
	struct ur_erq rq;
	struct ur_block block;
	struct ur_eqp_init init;
	struct ur_eqp_ref self;
	struct ur_list refs; /* ur_eqp_ref, self among them when it has async */
	bool have_path;
	struct ur_epath path;
	struct ur_failure failure[2]; /* of its own, of its peer; at 0: none */
	struct ur_rss *rss;	      /* who gets its frames; NULL: itself */
	uid_t uid;		      /* who created it */
	pid_t pid;
	/* record.c: the PSN of the next work request, in that run. */
	u32 record_psn, record_run;
	u32 settle_run;		       /* of the context, when last settled */
	struct ur_adverse_qp *adverse; /* NULL: an ordinary card */
};

/* Host callbacks, see transport/host.h; qp_ctx is a struct ur_eqp. */
int ur_sq_next(void *qp_ctx, struct ur_send_wr *wr);
void ur_sq_retire(void *qp_ctx, u32 ring_end);
/* A doorbell of the queue pair came: looks at both of its rings. */
void ur_qp_doorbell(struct ur_db_client *db_client);

/* Where a queue pair's rings lie in its block of memory. */
struct ur_qp_rings {
	u32 sq_bbs, rq_entries, rq_stride;
	u32 sq_hdr, sq_off, rq_hdr, rq_off;
	u64 bytes; /* 0: it has none */
};

/* Plans the rings for the capabilities of *init in *l. Raises max_inline to
 * what there is room for anyway. Returns 0, or -EINVAL: more than the device
 * gives. */
int ur_qp_rings_plan(struct ur_eqp_init *init, bool has_av,
		     struct ur_qp_rings *l);
/* Allocates the block and makes the rings in it. The engine must not know qp
 * yet. Returns 0 or -ENOMEM. */
int ur_qp_rings_place(struct ur_eqp *qp, struct ur_ectx *ectx,
		      const struct ur_qp_rings *l);
void ur_host_qp_event(void *qp_ctx, enum ur_event ev);
void ur_host_qp_failed(void *qp_ctx, const struct ur_failure *failure);

struct ur_eah {
	struct ur_ectx *ectx;
	struct ur_av *av;
	u32 pd;
	u32 number;
};

/* Puts the traffic class and the hop limit of path into av. */
void ur_av_set_class(struct ur_engine *engine, struct ur_av *av,
		     const struct ur_epath *path);
/* Makes the address vector of a path in *av, with one reference, which is the
 * caller's. lqpn and rqpn choose the source port where the path has no flow
 * label and queue pairs do not share ports (config.one_path). Returns 0 or
 * -ENOMEM. */
int ur_av_make(struct ur_engine *engine, const struct ur_epath *path, u32 lqpn,
	       u32 rqpn, struct ur_av **av);
/* Does the same, but returns -ENETUNREACH and the like where there is no
 * way. */
int ur_av_create(struct ur_engine *engine, const struct ur_epath *path,
		 u32 lqpn, u32 rqpn, struct ur_av **av);
/* Returns the address vector of the address handle that a WQE names, or NULL
 * where the context has none with that number in protection domain pd. Takes no
 * reference. */
struct ur_av *ur_ah_lookup(struct ur_ectx *ectx, u32 number, u32 pd);

/* How a region's memory is reached. */
struct ur_emr {
	struct ur_ectx *ectx;
	struct ur_list node;
	struct ur_mr *mr;
	u32 key;
	struct ur_emr_attr attr;
	u8 *map; /* mapping of the client's memfd, or NULL */
	size_t map_len;
	u8 *direct;
	struct ur_edm *dm;
};

struct ur_edm {
	struct ur_ectx *ectx;
	struct ur_block block;
	u64 length;
	u32 users;
};

/* Finds a way to the memory of mr->attr, and keeps it until detach. Not on the
 * engine thread, since it may wait for the client's pages. Returns 0, -EFAULT
 * (not there), -EINVAL (beyond its device memory) or -EOPNOTSUPP (a file that
 * cannot be mapped). */
int ur_app_mem_attach(struct ur_emr *mr);
/* Undoes that. The transport must not know the region any more. Returns what the
 * caller unmaps. */
struct ur_emr_left ur_app_mem_detach(struct ur_emr *mr);
/* Fills *out with the attributes of the region for the transport. */
void ur_app_mem_describe(struct ur_emr *mr, struct ur_mr_attr *out);

/* ---- the flight recorder: record.c ---- */

struct ur_record {
	bool on;		      /* there is a ring, or a probe is used */
	bool probed;		      /* one is */
	struct ur_recorder *recorder; /* NULL: nothing is kept */
	u32 run;		      /* new whenever one begins */
	ur_time next_told;	      /* no failure is told before */
	struct ur_host_ops ops;
};

/* ---- the engine ---- */

#define UR_ENGINE_GIDS 1024

struct ur_egid {
	bool used;
	enum ur_gid_type type;
	u8 gid[16];
};

struct ur_engine_options {
	u32 spin_us;  /* poll this long after the last work before sleeping */
	u32 slice_us; /* scheduler slices; 0: a little below the system's */
	u32 tx_bytes; /* burst buffer */
	bool follow;  /* run where programs do that sleep */
	bool hold;    /* hold the processor while waiting where that pays */
	bool gso, gro;
	bool shared; /* map memory that a client offers */
	bool loop;   /* transport's in-device path */
	bool coalesce, credits, ooo;
	bool aimd;     /* send less into a congested path */
	bool gaps;     /* several missing packets are named at once */
	bool path;     /* the same, by a window for each peer address */
	bool fast;     /* transport's short way for middle packets */
	bool trains;   /* send whole UDP_SEGMENT messages where that can be */
	bool spread;   /* of several engines: each context to the next one */
	bool one_port; /* one source port to a peer, where there is one path */
	bool cc;       /* DCQCN reaction point: paces by CNPs */
};

/* Fills *o with the defaults, then with what text ("name=value,...", or NULL)
 * says. Returns 0, or -EINVAL with a line on stderr. */
int ur_engine_options_parse(struct ur_engine_options *o, const char *text);

struct ur_faults;

/* The transport's callbacks, where there are no fault rules. */
extern const struct ur_host_ops ur_engine_host_ops;

struct ur_engine {
	struct ur_engine_config config;
	char netdev[32];
	struct ur_engine_options opt;
	bool ecn;		  /* packets that ask for none are ECT(0) */
	struct ur_shards *shards; /* shards.h; NULL: the only engine */
	u32 shard;		  /* its number among them */
	struct ur_port *port;
	struct ur_wire *wires[UR_WIRES]; /* by enum ur_gid_type; NULL: none */
	struct ur_wire *raw;		 /* wire_raw.h; NULL: none */
	struct ur_flow_table *flows;
	pthread_t thread;
	int epoll_fd;
	int call_fd; /* eventfd */
	struct ur_watch call_watch;
	struct ur_mailbox mailbox;
	/* 1: may be blocked; whoever leaves work writes call_fd. */
	_Atomic int asleep;
	_Atomic bool tell_waking; /* the next wake is told to control */
	ur_time asleep_until;	  /* deadline of the sleep, while asleep */
	bool stop;
	u8 apart[64];  /* what others look at is above */
	ur_time now;   /* CLOCK_MONOTONIC, once an iteration */
	u64 timestamp; /* CLOCK_MONOTONIC_RAW in this iteration; 0: not read */
	struct ur_list ectxs;
	struct ur_list kicks;	  /* ur_erq */
	struct ur_list moderated; /* ur_ecq with an event held back */
	struct ur_list due;	  /* ur_ecq whose events leave at the end */
	u64 due_bytes;		  /* completed since the first of them */
	struct ur_tx tx;
	u32 tx_sent; /* descriptors of tx already on the wire */
	bool tx_blocked;
	int tx_wait_fd;
	struct ur_egid gids[UR_ENGINE_GIDS];
	struct ur_list joins;
	u64 sleeps; /* for the tests */
	ur_time last_rx, last_epoll;
	struct ur_idle idle;
	struct ur_place place;
	struct ur_refused refused;
	ur_time mod_deadline;
	struct ur_faults *faults;      /* NULL: there was no rule yet */
	const struct ur_host_ops *ops; /* of the port, but for record.c's */
	struct ur_record record;
	bool rx_any; /* a datagram came in this iteration */
	/* Packets of service level 7 leave without its priority. */
	_Atomic bool sl_refused;
};

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
/* Returns whether the GID is one of the device's own. */
bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid);
/* Joins the multicast group on the wire with the first call for it. Returns 0
 * or -errno. */
int ur_engine_join(struct ur_engine *engine, const u8 *gid);
/* Undoes one such call, and leaves the group with the last one. */
void ur_engine_leave(struct ur_engine *engine, const u8 *gid);
/* Returns whether it is in the group. */
bool ur_engine_joined(struct ur_engine *engine, const u8 *gid);
/* Makes the engine thread call watch->fn when fd has one of events (EPOLL*). fd
 * and watch stay the caller's, who unwatches fd before closing it. Returns 0 or
 * -errno. */
int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch);
/* Ends that. */
void ur_engine_unwatch(struct ur_engine *engine, int fd);

/* call.c: the mailbox from control to engine. Returns 0 or -errno. */
int ur_mailbox_init(struct ur_mailbox *box);
/* Frees it. Nobody may be in a call. */
void ur_mailbox_fini(struct ur_mailbox *box);
/* Ends the engine's sleep. Any thread. */
void ur_mailbox_wake(struct ur_engine *engine);
/* Returns whether a function waits to be run. A look at the doorbells after
 * this finds all that clients rang before they asked for it. Engine thread. */
bool ur_mailbox_waits(struct ur_engine *engine);
/* Runs the function that waits. Returns whether there was one. Engine
 * thread. */
bool ur_mailbox_run(struct ur_engine *engine);
/* Releases the owner lock: until ur_mailbox_acquire(), callers may be the
 * engine. Engine thread, before the system call that it sleeps in. */
void ur_mailbox_release(struct ur_engine *engine);
/* Acquires the owner lock again. Returns whether a caller was the engine
 * meanwhile, so that objects may have come and gone. Engine thread. */
bool ur_mailbox_acquire(struct ur_engine *engine);

#endif
