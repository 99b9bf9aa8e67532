/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Features of raw packet queue pairs alone: flow rules, and work queues that an
 * indirection table spreads frames over. A part of engine.h, which has the rules for
 * threads and results.
 */
#ifndef UR_ENGINE_RAW_RAW_H
#define UR_ENGINE_RAW_RAW_H

#include "engine/raw/flow_key.h"
#include "engine/raw/raw_sockets.h"

struct ur_engine;
struct ur_eflow;
struct ur_eqp;

/* ---- an engine in a program ---- */

/* In a program: enables raw packet queue pairs with those sockets, which become the
 * engine's. Returns 0, -EALREADY or -errno; after an error the sockets stay the
 * caller's. */
int ur_engine_use_raw(struct ur_engine *engine, const int fd[UR_RAW_SOCKETS]);
/* Returns whether the engine has these sockets. */
bool ur_engine_has_raw(struct ur_engine *engine);

/* ---- flow rules of raw packet queue pairs ---- */

enum ur_flow_type { /* enum ibv_flow_attr_type */
		    UR_FLOW_NORMAL,
		    UR_FLOW_ALL_DEFAULT,
		    UR_FLOW_MC_DEFAULT,
		    UR_FLOW_SNIFFER,
};

/* The counts of a counters object. The engine writes, any thread reads. */
struct ur_ecounters {
	u64 packets, bytes;
};

struct ur_eflow_attr {
	enum ur_flow_type type;
	u16 priority; /* 0 is the highest */
	struct ur_flow_key key, mask;
	bool dont_trap;	      /* rules of lower priority get the frame too */
	bool allow_loop_back; /* matches frames that its own queue pair sent */
	bool drop;	      /* matching frames are dropped */
	struct ur_eqp *qp;
	struct ur_ecounters *counters; /* or NULL; stays the caller's */
};

/* Makes a rule in *flow, which must be destroyed before its queue pair and its
 * counters. Returns 0, -ENOMEM (also for too many different masks), or -errno of the
 * packet socket. */
int ur_eflow_create(struct ur_engine *engine, const struct ur_eflow_attr *attr,
		    struct ur_eflow **flow);
/* Destroys a rule. No frame is delivered by it afterwards. */
void ur_eflow_destroy(struct ur_eflow *flow);

/* ---- receive hashing ---- */

/* Bytes of the key: two IPv6 addresses, two ports, and 32 bits more. */
#define UR_RSS_KEY_BYTES 40u
#define UR_RSS_TABLE_MAX 256u

enum ur_rss_field { /* enum ibv_rx_hash_fields */
		    UR_RSS_SRC_IPV4 = 1 << 0,
		    UR_RSS_DST_IPV4 = 1 << 1,
		    UR_RSS_SRC_IPV6 = 1 << 2,
		    UR_RSS_DST_IPV6 = 1 << 3,
		    UR_RSS_SRC_PORT_TCP = 1 << 4,
		    UR_RSS_DST_PORT_TCP = 1 << 5,
		    UR_RSS_SRC_PORT_UDP = 1 << 6,
		    UR_RSS_DST_PORT_UDP = 1 << 7,
};

struct ur_rss_conf {
	u8 key[UR_RSS_KEY_BYTES];
	u32 fields; /* enum ur_rss_field; of IPv4 or of IPv6, of TCP or of UDP */
	u32 size;   /* entries of the table: a power of two, UR_RSS_TABLE_MAX */
};

/* Returns the Toeplitz hash (Microsoft, "RSS hashing types") of those fields that the
 * frame has; 0 if it has none. A fragment, or a frame without ports, is hashed by its
 * addresses. Pure, any thread. */
u32 ur_rss_hash(const struct ur_rss_conf *conf, const struct ur_flow_key *key);

/* Spreads the frames of qp over the conf->size queue pairs of table, which were
 * created with wq and must outlive qp. Copies conf and table. From then on the state
 * of qp itself does not matter. Returns 0 or -ENOMEM. */
int ur_eqp_spread(struct ur_eqp *qp, const struct ur_rss_conf *conf,
		  struct ur_eqp *const *table);

enum ur_wq_state { /* enum ibv_wq_state */
		   UR_WQ_RESET,
		   UR_WQ_RDY,
		   UR_WQ_ERR,
};

/* Returns whether a work queue may go from one state to another: from RESET to RDY, from RDY to
 * ERR, from any to RESET, or to its present state. */
static inline bool ur_wq_may(enum ur_wq_state from, enum ur_wq_state to)
{
	return to == UR_WQ_RESET || to == from ||
	       (to == UR_WQ_RDY && from == UR_WQ_RESET) ||
	       (to == UR_WQ_ERR && from == UR_WQ_RDY);
}

/* Moves a work queue between states. Returns 0, -EINVAL or -ENOMEM. */
int ur_ewq_modify(struct ur_eqp *wq, enum ur_wq_state from,
		  enum ur_wq_state to);

#endif
