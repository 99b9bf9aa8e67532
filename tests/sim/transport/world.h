/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The simulated world: hosts, each with the real transport behind struct
 * ur_host_ops, a virtual clock, and the queues and memory of their
 * applications. One thread; everything follows from the root seed.
 *
 * Words: a pair is two queue pairs connected to each other; a flow is one
 * direction of a pair, from a requester to a responder, with the list of
 * operations posted to it. A pair can be connected again after an error; that
 * is a new epoch with new operations.
 */
#ifndef UR_TESTS_SIM_TRANSPORT_WORLD_H
#define UR_TESTS_SIM_TRANSPORT_WORLD_H

#include <setjmp.h>

#include "tests/sim/transport/event.h"
#include "tests/sim/transport/trace.h"
#include "transport/frame.h"
#include "transport/transport.h"
#include "util/list.h"
#include "util/rng.h"

#define SIM_MAX_HOSTS 4
#define SIM_MAX_PAIRS 10
#define SIM_MAX_UD    6
#define SIM_MAX_SGE   6
#define SIM_MAX_DEPTH 64 /* of send and receive queues */
#define SIM_MAX_OPS   512
#define SIM_WORDS     16 /* atomic words of a host */
#define SIM_PD	      1
#define SIM_XRCD      7
#define SIM_UD_QKEY   0x11112222
#define SIM_NO_RECV   UINT32_MAX

struct sim_host;
struct sim_pair;
struct sim_qp;

/* Forced from the command line; negative: drawn from the seed. */
struct sim_options {
	u64 seed;
	bool trace;
	int hosts;
	int ooo, loop, credits, coalesce, cc, fast, trains, aimd, path;
	int aside;  /* some fills leave later than the next ones */
	int faults; /* 0: a network without faults */
	const struct sim_drill *drill; /* NULL: all is drawn */
};

/* A run that measures: count operations of one kind over a lossy line. */
struct sim_drill {
	u8 opcode;
	u32 bytes, count;
	u32 drop; /* per million packets, both ways */
};

struct sim_result {
	u64 hash;
	ur_time ns; /* of a drill: from first post to last completion */
};

/* Memory behind one MR. Written only through the transport, but for the
 * application's own buffers being filled. */
struct sim_region {
	struct sim_host *host;
	u8 *base;
	u64 bytes;
	u64 iova;
	u32 pd, access;
	u32 key;
	struct ur_mr *mr; /* NULL once invalidated */
	bool direct;
	/* shows the oracle a write through mem_ops; may be NULL */
	void (*on_write)(struct sim_region *r, u64 off, const u8 *src, u32 len);
	void *owner;
	/* Bytes that are announced, as they were then. */
	struct {
		const void *reader;
		u64 from, next, end;
		u8 *bytes; /* NULL: none */
	} ahead;
};

enum sim_op_state { SIM_OP_POSTED, SIM_OP_TAKEN, SIM_OP_DONE };

/* One send work request and what is known of its fate. */
struct sim_op {
	struct ur_send_wr wr;
	u8 state;
	u8 status;	/* when done by a completion */
	bool completed; /* a completion was seen */
	bool bad;	/* must not succeed */
	u32 bad_status; /* bit set of statuses allowed for a bad one */
	u32 bytes;
	u8 *payload;	/* expected bytes of SEND, WRITE, ATOMIC_WRITE */
	u64 dst_off;	/* in the flow's dst region, for WRITE and READ */
	u32 psn;	/* relative to the flow's first */
	u32 npsn;	/* 0 for local operations */
	u32 msn;	/* at the responder when it is done */
	u32 recv_index; /* which receive of the flow; ~0 none */
	u32 sg_slot;	/* slot of the result region */
	/* Atomics */
	u32 word;
	u32 executed;
	u64 old;
	bool uses_mw;
	/* On the wire */
	bool answered;	 /* final READ response or atomic ack delivered */
	u32 idle_sends;	 /* emissions of its first packet without any answer */
	u32 sends;	 /* emissions of any of its packets */
	u32 rnrs;	 /* RNR NAKs of it that arrived */
	ur_time sent_at; /* its first packet, the first time */
	struct sim_qp *ud_to;
};

/* One direction of a pair. */
struct sim_flow {
	struct sim_pair *pair;
	struct sim_qp *from, *to;
	u32 posted, taken, done; /* counts of ops */
	u32 target;		 /* how many the workload wants posted */
	u32 recv_posted;	 /* operations that take a receive */
	u32 recv_done;		 /* of them, completed at the receiver */
	u32 psn_base;		 /* 24 bits */
	u32 msn_posted;
	u32 psn_posted; /* relative: next to be given to an operation */
	/* Wire */
	u32 wire_next;	   /* relative: next PSN never emitted */
	u32 delivered_max; /* relative, one past the highest delivered */
	u64 heard;	   /* packets delivered to the requester */
	ur_time heard_at;
	u64 heard_seen; /* when idle_sends were counted from zero */
	/* Memory */
	struct sim_region src, dst, result;
	u8 *model; /* dst after ops[0..model_ops) */
	u32 model_ops;
	u32 cursor_op; /* the write stream: next byte expected at dst */
	u64 cursor_off;
	/* Memory window over dst, bound by the responder. */
	struct ur_mw *mw;
	u32 mw_rkey;
	u32 mw_old;  /* a key that was invalidated, 0: none yet */
	u8 mw_state; /* enum sim_mw_state */
	u64 mw_off, mw_bytes;
	u32 mw_users; /* posted operations with its key, not done */
	/* Not zeroed: read up to posted and recv_posted only. */
	u32 recv_ops[SIM_MAX_OPS];
	struct sim_op ops[SIM_MAX_OPS];
};

enum sim_mw_state {
	SIM_MW_NONE,
	SIM_MW_BINDING,
	SIM_MW_BOUND,
	SIM_MW_CLOSING, /* no new users; to be invalidated */
	SIM_MW_GONE,
};

enum sim_recv_state { SIM_RECV_FREE, SIM_RECV_POSTED, SIM_RECV_TAKEN };

struct sim_recv {
	struct ur_recv_wr wr;
	u8 state;
	u32 bytes; /* room */
};

/* A receive queue or SRQ. Slot i of region belongs to recv[i]. */
struct sim_rq {
	struct sim_host *host;
	struct sim_region region;
	struct ur_srq *srq;
	u32 srqn;	   /* also when its host is down */
	struct sim_qp *qp; /* when not an SRQ */
	struct sim_recv recv[SIM_MAX_DEPTH];
	u32 order[SIM_MAX_DEPTH]; /* slots in posted order, ring */
	u32 posted, taken;
	u64 serial; /* of wr_id */
	u32 slot_bytes;
	u32 want; /* receives to keep posted */
	bool kick_wanted;
	u32 limit;	/* armed, 0: not */
	bool limit_due; /* fewer are left than that */
	bool step_pending;
	bool dead;
	u32 next_flush; /* own RQ: order position of next completion */
};

struct sim_cq {
	struct sim_host *host;
	u32 count, room;
	bool poll_pending;
	bool stalled;
};

enum sim_qp_life { SIM_QP_LIVE, SIM_QP_ERROR, SIM_QP_GONE };

struct sim_qp {
	struct sim_host *host;
	struct sim_pair *pair; /* NULL for UD */
	struct ur_qp *qp;
	u32 qpn;
	enum ur_qp_type type;
	u8 life;
	bool sig_all;
	bool saw_error; /* an error completion other than flush */
	bool saw_flush;
	bool moved_error; /* by the application */
	bool broken;	  /* an error was reported here: flushes may follow */
	bool lost;	  /* a completion did not fit its queue */
	bool saw_fatal_event;
	bool last_wqe;
	bool draining;	 /* moved to SQD */
	u32 drain_taken; /* operations known to the transport then */
	bool step_pending;
	struct sim_cq *scq, *rcq;
	struct sim_rq *rq; /* own or shared; NULL for XRC */
	struct sim_flow *out, *in;
	u32 ring_index; /* of the next WQE */
	u32 retired;	/* ring index */
	struct ur_qp_attr attr;
	u32 ud_index;
};

/* Why a pair may legitimately break, bit set. */
enum sim_reason {
	SIM_WHY_LOSS = 1 << 0,	  /* packets vanish: retry exceeded */
	SIM_WHY_RNR = 1 << 1,	  /* receives come late */
	SIM_WHY_BAD_OP = 1 << 2,  /* the workload asked for it */
	SIM_WHY_FORCED = 1 << 3,  /* an end was moved to error */
	SIM_WHY_MR = 1 << 4,	  /* memory was taken away */
	SIM_WHY_CQ = 1 << 5,	  /* a completion queue overran */
	SIM_WHY_RESTART = 1 << 6, /* a host restarted */
	SIM_WHY_SHORT = 1 << 7,	  /* a receive was too short */
	SIM_WHY_BROKEN = 1 << 8,  /* an error was seen: all else may follow */
};

struct sim_pair {
	struct sim_world *w;
	u32 index;
	enum ur_qp_type type;	  /* RC, UC, XRC_INI */
	struct sim_qp *qp[2];	  /* XRC: 0 INI, 1 TGT */
	struct sim_flow *flow[2]; /* i: from qp[i]; XRC: only 0 */
	struct sim_rq *own_rq[2];
	struct sim_rq *xrc_rq; /* the SRQ that an XRC flow sends to */
	u32 epoch;
	u32 reasons;
	u32 mtu;
	bool connected, closing;
	ur_time closed_at;
};

#define SIM_TX_BYTES   (64 * 1024)
#define SIM_TX_PACKETS 64

/* A fill that has not left; its queue pairs wait. */
struct sim_aside {
	u8 buf[SIM_TX_BYTES];
	struct ur_tx_desc desc[SIM_TX_PACKETS];
	u32 n;
	struct ur_list senders;
};

struct sim_host {
	struct sim_world *w;
	struct sim_aside aside;
	ur_time aside_at; /* when it leaves */
	u32 index;
	u8 gid[16];
	struct ur_port *port;
	struct ur_port_config config;
	struct ur_rng rng;
	bool paused;
	ur_time wake_at; /* earliest run event on its way */
	ur_time tx_free; /* when its line is idle again */
	struct sim_frame *rx_head, *rx_tail;
	u32 rx_count;
	struct sim_cq cq[3];
	struct sim_rq *srq, *xrc_srq;
	struct sim_region words;
	u64 *word;
	u64 word_start[SIM_WORDS];
	u32 starts;
};

/* Drawn for a run: what the network and the applications do wrong. */
struct sim_faults {
	/* Link, in parts per million of packets */
	u32 drop, dup, reorder, flip, truncate, ecn;
	ur_time delay_min, delay_mean, reorder_max;
	/* Host and application: mean virtual time between two, 0 = never */
	ur_time partition_every, clog_every, pause_every, restart_every;
	ur_time error_every, mr_every, cq_stall_every, drain_every;
	u32 bad_op; /* per million operations */
	u32 short_recv;
	ur_time recv_delay; /* mean time until a receive is posted again */
	bool small_cq;
	u64 link_bps;
};

struct sim_world {
	struct sim_options options;
	const struct sim_drill *drill;
	struct ur_rng root;
	struct sim_events events;
	struct sim_trace trace;
	ur_time now;
	ur_time last_wc; /* when the last completion came */
	bool faults_on;
	bool over; /* tearing down */
	struct sim_faults faults;
	struct ur_rng rng_work, rng_link, rng_fault;
	u32 n_hosts, n_pairs, n_ud;
	struct sim_host host[SIM_MAX_HOSTS];
	struct sim_pair *pair[SIM_MAX_PAIRS];
	struct sim_qp *ud[SIM_MAX_UD];
	struct sim_rq *ud_rq[SIM_MAX_UD];
	struct sim_flow *ud_flow[SIM_MAX_UD];
	u32 depth;     /* of queues */
	u32 mtu;       /* of ports */
	u32 max_bytes; /* of messages */
	enum ur_frame_kind kind;
	u8 cut[SIM_MAX_HOSTS][SIM_MAX_HOSTS]; /* partition depth, [src][dst] */
	ur_time clog[SIM_MAX_HOSTS][SIM_MAX_HOSTS];
	struct sim_frame *flying; /* all frames not yet delivered */
	/* Totals for the summary */
	u64 n_tx, n_rx, n_drop, n_wc, n_ops, n_errors, n_epochs;
	jmp_buf failed;
	char verdict[512];
};

/* A violation: prints it, and leaves the run. */
void sim_fail(struct sim_world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#define SIM_CHECK(w, cond, ...)                     \
	do {                                        \
		if (!(cond))                        \
			sim_fail((w), __VA_ARGS__); \
	} while (0)

/* Run one seed. 0 and *ret filled, or 1 on a violation (printed). summary:
 * print what was drawn and what happened. */
int sim_run(const struct sim_options *options, struct sim_result *ret,
	    bool summary);
/* the seed of the run under way, for signal handlers */
extern u64 sim_current_seed;

/* Hosts: objects of one host's port are made anew at each start. */
void sim_host_start(struct sim_host *h);
void sim_host_stop(struct sim_host *h); /* port and all its objects gone */
/* Let the host's loop run at that time. */
void sim_host_wake(struct sim_host *h, ur_time at);
/* Sends the fill that has not left, before a queue pair changes. */
void sim_host_send_aside(struct sim_host *h);
struct ur_av *sim_host_av(struct sim_host *h, struct sim_host *to);
struct sim_host *sim_host_of_gid(struct sim_world *w, const u8 *gid);

/* Memory. Each region is then either filled with what the seed draws, or left
 * as it is, where every part is written before it is read (most of the memory
 * of a run). Either advances rng by the same, so that a seed keeps its
 * meaning. */
void sim_region_init(struct sim_region *r, struct sim_host *h, u64 bytes,
		     u32 access, struct ur_rng *rng);
void sim_region_fill(struct sim_region *r, struct ur_rng *rng);
void sim_region_leave(struct sim_region *r, struct ur_rng *rng);
void sim_region_register(struct sim_region *r);
void sim_region_fini(struct sim_region *r);
bool sim_region_holds(const struct sim_region *r, u64 addr, u64 bytes);

/* Zeroed, or the end of the program. */
void *sim_zalloc(size_t bytes);

/* Exponential with that mean, in ns, bounded at eight times it. */
ur_time sim_exp(struct ur_rng *rng, ur_time mean);
bool sim_chance(struct ur_rng *rng, u32 per_million);

#endif
