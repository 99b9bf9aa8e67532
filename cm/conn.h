/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The internals of the connection manager: the manager, an id, and the steps
 * (send, arm, change state, report) that all parts use. Everything runs on the
 * manager's thread; times are nanoseconds, and cm->now is the present. Pointers
 * are not NULL unless the comment says so.
 */
#ifndef UR_CM_CONN_H
#define UR_CM_CONN_H

#include "cm/cm.h"
#include "util/assert.h"
#include "util/heap.h"
#include "util/list.h"
#include "util/secret.h"

#define UR_CM_BUCKETS 4096 /* ids are capped, so chains are short */
_Static_assert(UR_IS_POW2(UR_CM_BUCKETS), "a bucket is bits of a hash");

/*
 * An id. Invariants (checked by ur_cm_check):
 * - it is in the table of local comm ids for all its life;
 * - a deadline is armed exactly in the states that wait for the peer, in
 *   TIMEWAIT, and for lingering ids;
 * - a lingering id (owner gone) is in DREQ_SENT, TIMEWAIT or SIDR_REP_SENT;
 * - counted_pending ids are counted in cm->pending and in their listener.
 */
struct ur_cm_id {
	struct ur_cm *cm;
	void *ctx;
	enum ur_cm_state state;
	u32 local_id;
	u32 remote_id;	 /* 0: unknown */
	u64 remote_guid; /* valid with by_remote_id or by_remote_qpn */
	u32 remote_qpn;
	u32 local_qpn;
	bool lingering;
	bool counted_pending;
	bool passive;
	bool asked; /* ur_cm_ask() has asked the peer about the connection */

	struct ur_list all;	      /* cm->all */
	struct ur_list by_local_id;   /* cm->local_ids */
	struct ur_list by_remote_id;  /* cm->remote_ids, or cm->sidr_ids */
	struct ur_list by_remote_qpn; /* cm->remote_qpns */
	struct ur_list linger;	      /* cm->lingerers, oldest first */

	struct ur_heap_node due; /* in cm->deadlines */
	u64 rto_ns;
	u8 retries_left;
	u8 max_retries;
	u8 ack_timeout;	    /* exponent; duration of TIMEWAIT */
	u8 service_timeout; /* of our MRA, exponent */

	u64 tid; /* transaction id */
	u32 attr_mod;
	struct ur_cm_path path;
	u64 service_id;
	u32 starting_psn; /* of the REQ received; distinguishes duplicates */
	u8 request[UR_CM_MAD_BYTES]; /* message repeated until a reply comes */
	u8 reply[UR_CM_MAD_BYTES];   /* reply to repeat for duplicates */
	bool has_reply;

	/* of a listener */
	struct ur_list listen; /* cm->listeners */
	struct ur_cm_match match;
	u32 backlog;
	u32 waiting; /* requests in the backlog */
	/* of a listener's request, while counted_pending */
	struct ur_cm_id *listener;
	struct ur_list sibling; /* listener->children */
	struct ur_list children;
};

/* A request that waits for its listener (parked.c). */
#define UR_CM_PARKED_MAX 32

struct ur_cm_parked {
	bool used;
	u64 deadline;
	struct ur_cm_path from;
	struct ur_cm_mad mad;
};

struct ur_cm {
	struct ur_cm_config config;
	struct ur_cm_stats stats;
	u64 now;
	struct ur_secret secret; /* key of comm ids */
	u32 tid_hi;
	struct ur_list all;
	struct ur_list listeners;
	struct ur_list lingerers;
	struct ur_list local_ids[UR_CM_BUCKETS];
	struct ur_list remote_ids[UR_CM_BUCKETS];
	struct ur_list remote_qpns[UR_CM_BUCKETS];
	struct ur_list sidr_ids[UR_CM_BUCKETS];
	u32 n_parked;
	bool unparking; /* ur_cm_rx() handles a parked request */
	struct ur_cm_parked parked[UR_CM_PARKED_MAX];
	struct ur_heap deadlines; /* max_ids places */
};

/* The offset of our own node GUID in a MAD that we sent. */
#define UR_CM_REQ_GUID_AT (UR_CM_HEADER_BYTES + 16)
#define UR_CM_REP_GUID_AT (UR_CM_HEADER_BYTES + 28)

/* ---- conn.c: the life of an id ---- */

/* Returns the transaction id of the id's messages. */
u64 ur_cm_new_tid(struct ur_cm_id *id);
/* Changes only the state. */
void ur_cm_set_state(struct ur_cm_id *id, enum ur_cm_state state);
/* Hands a MAD of UR_CM_MAD_BYTES to the host to send, and counts it. */
void ur_cm_emit(struct ur_cm *cm, const struct ur_cm_path *path, const u8 *mad);
/* Builds and sends mad, keeps it as the request to repeat, and arms the
 * deadline. */
void ur_cm_request(struct ur_cm_id *id, const struct ur_cm_mad *mad);
/* Builds and sends mad, and keeps it as the reply to duplicates. */
void ur_cm_reply(struct ur_cm_id *id, const struct ur_cm_mad *mad);
/* Handles a duplicate: sends the kept reply again, if there is one. */
void ur_cm_repeat_reply(struct ur_cm_id *id);
/* Reports an event to the host. status as in struct ur_cm_event; mad may be
 * NULL. Must be the last step of a handler, since the host may destroy the
 * id. */
void ur_cm_report(struct ur_cm_id *id, enum ur_cm_event_type type, int status,
		  const struct ur_cm_mad *mad);
/* Lets the id, whose owner has destroyed it, finish what it owes the peer. */
void ur_cm_linger(struct ur_cm_id *id);
/*
 * Returns the id that is connected to that QPN of the peer with that GUID,
 * which sent the message, or NULL. Frees instead a lingering id whose DREQ is
 * unanswered: the peer has restarted and forgotten it.
 */
struct ur_cm_id *ur_cm_find_stale(struct ur_cm *cm,
				  const struct ur_cm_path *from, u64 guid,
				  u32 qpn);
/* Takes the id off the list of listeners. Requests of its backlog stay without
 * it. */
void ur_cm_unlisten(struct ur_cm_id *id);
/* Takes the id out of every table and list, and frees it: no message, no
 * event. */
void ur_cm_free(struct ur_cm_id *id);
/* Moves the id to IDLE: its deadline is disarmed and nothing is repeated. */
void ur_cm_to_idle(struct ur_cm_id *id);
/* Moves the id to TIMEWAIT, with a deadline for its end. */
void ur_cm_to_timewait(struct ur_cm_id *id);
/* Returns a new id for a request to the listener; or NULL, counted, at a
 * cap. */
struct ur_cm_id *ur_cm_new_passive(struct ur_cm *cm, struct ur_cm_id *listener,
				   const struct ur_cm_path *from);
/* Takes the id's request out of the backlog and of the cap on pending
 * requests. */
void ur_cm_not_pending(struct ur_cm_id *id);
/* Copies bytes of private data into a message with that much room. data may be
 * NULL. Returns 0, or -EINVAL where they do not fit. */
int ur_cm_put_private(u8 *to, u32 room, const void *data, u32 bytes);
/* Sends a REJ for no id of ours. local_comm_id: our comm id as the rejected
 * message has it, 0 for none; answers: UR_CM_ANSWERS_*. */
void ur_cm_reject_stranger(struct ur_cm *cm, const struct ur_cm_path *path,
			   u64 tid, u32 local_comm_id, u32 remote_comm_id,
			   u8 answers, u16 reason);

/* timers.c */
/* Sets or replaces the id's deadline. */
void ur_cm_arm(struct ur_cm_id *id, u64 deadline);
/* Removes the deadline, if there is one. */
void ur_cm_disarm(struct ur_cm_id *id);
/* Returns the nanoseconds of a time exponent, rounded as the kernel rounds:
 * 2^(t-8) ms, at least 1 ms. */
u64 ur_cm_time_ns(u8 exponent);

/* peers.c: lookup by fields of messages. The index functions enter the id into
 * a table by its own fields; the find functions return the id, or NULL. */
void ur_cm_peers_init(struct ur_cm *cm);
void ur_cm_index_local(struct ur_cm_id *id);
struct ur_cm_id *ur_cm_find_local(struct ur_cm *cm, u32 local_id);
void ur_cm_index_remote_id(struct ur_cm_id *id);
/* Returns the id of the peer that sent this and claims the GUID. A claim from
 * another host's address finds nothing. */
struct ur_cm_id *ur_cm_find_remote_id(struct ur_cm *cm,
				      const struct ur_cm_path *from, u64 guid,
				      u32 id);
void ur_cm_index_remote_qpn(struct ur_cm_id *id);
void ur_cm_index_sidr(struct ur_cm_id *id);
struct ur_cm_id *ur_cm_find_sidr(struct ur_cm *cm, u32 request_id,
				 const u8 *peer_gid);
/* Takes the id out of the remote tables. */
void ur_cm_unindex_remote(struct ur_cm_id *id);
/* Removes only its QPN: a REQ with the same QPN then belongs to no connection
 * that the peer has forgotten. */
void ur_cm_unindex_remote_qpn(struct ur_cm_id *id);
struct ur_cm_id *ur_cm_find_remote_qpn(struct ur_cm *cm,
				       const struct ur_cm_path *from, u64 guid,
				       u32 qpn);
/* Returns the id with both comm ids if its own peer sent this; else NULL,
 * counted. */
struct ur_cm_id *ur_cm_find_pair(struct ur_cm *cm,
				 const struct ur_cm_path *from, u32 local_id,
				 u32 remote_id);
/* Returns whether from is the id's own peer. */
bool ur_cm_same_peer(const struct ur_cm_id *id, const struct ur_cm_path *from);
/* Returns id, which may be NULL, if its own peer sent this; else NULL,
 * counted. */
struct ur_cm_id *ur_cm_of_peer(struct ur_cm *cm, struct ur_cm_id *id,
			       const struct ur_cm_path *from);
/* listen.c: returns the best listener for a request to service_id, or NULL.
 * data: bytes of private data. Fills event->ip if they name IP addresses. */
struct ur_cm_id *ur_cm_find_listener(struct ur_cm *cm,
				     const struct ur_cm_path *from,
				     u64 service_id, const u8 *data, u32 bytes,
				     struct ur_cm_event *event);

/* parked.c: keeps a copy of a request without a listener. Returns false where
 * there is no room or it may not wait. */
bool ur_cm_park(struct ur_cm *cm, const struct ur_cm_path *from,
		const struct ur_cm_mad *mad);
/* Makes the parked requests for service_id due, since a listener has come. */
void ur_cm_unpark_service(struct ur_cm *cm, u64 service_id);
/* Returns when the next parked request is due, or UR_CM_NEVER. */
u64 ur_cm_parked_deadline(const struct ur_cm *cm);

/*
 * teardown.c: asks the peer of an established id whether it still has the
 * connection, by a DREQ for another queue pair: a peer that has the ids ignores
 * it, one that has not replies DREP, in Linux as here. Only such a DREP, with
 * both comm ids, ends the connection.
 */
void ur_cm_ask(struct ur_cm_id *id);

/* Handle the messages, each in the file of its side. from: path of a reply. */
void ur_cm_rx_req(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_rtu(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_rep(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_mra(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_rej(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_dreq(struct ur_cm *cm, const struct ur_cm_path *from,
		   const struct ur_cm_mad *mad);
void ur_cm_rx_drep(struct ur_cm *cm, const struct ur_cm_path *from,
		   const struct ur_cm_mad *mad);
void ur_cm_rx_lap(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad);
void ur_cm_rx_sidr_req(struct ur_cm *cm, const struct ur_cm_path *from,
		       const struct ur_cm_mad *mad);
void ur_cm_rx_sidr_rep(struct ur_cm *cm, const struct ur_cm_path *from,
		       const struct ur_cm_mad *mad);

#endif
