/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RDMA connection management with no I/O: MADs, time and requests go in; MADs,
 * a deadline and events come out. It behaves as the kernel's ib_cm does.
 *
 * Life cycle
 *	cm = ur_cm_create(&config);
 *	on a datagram to QP1:	ur_cm_rx(cm, now, &reply_path, mad, len);
 *	at ur_cm_deadline(cm):	ur_cm_expire(cm, now);
 *	active:	 id = ur_cm_id_create(); ur_cm_send_req(id, ...);
 *		 event REP -> ur_cm_send_rtu(id, ...);
 *	passive: ur_cm_listen(id, ...); event REQ brings a new id ->
 *		 ur_cm_send_rep(new id, ...); event RTU.
 *	ending:	 ur_cm_send_dreq(id, ...); the other side sees event DREQ and
 *		 answers ur_cm_send_drep(); ur_cm_id_destroy(id) at any time.
 *
 * Rules. Single-threaded. `now` is in nanoseconds and never goes backwards (an
 * older value is taken as the newest one seen). The callbacks run inside the
 * calls; `send` must queue the datagram and never call ur_cm_rx; `event` may
 * call anything but ur_cm_rx, ur_cm_expire and ur_cm_destroy. Functions that
 * send take the time of the last rx, expire or ur_cm_set_now.
 *
 * Memory: one allocation at ur_cm_create, one per id; ids are capped, and those
 * that strangers can cause (half-open requests, the remains of destroyed ids)
 * have caps of their own.
 *
 * Functions that return int return 0 or a negative errno, and change nothing
 * where they fail. Pointers are not NULL unless the comment says so; what they
 * point to stays the caller's and is copied.
 */
#ifndef UR_CM_CM_H
#define UR_CM_CM_H

#include "cm/ip_cm.h"
#include "cm/mad.h"

struct ur_cm;
struct ur_cm_id;

#define UR_CM_NEVER UINT64_MAX

/* The way to the peer, seen from here: sgid is ours, dgid the peer's. port and
 * sgid_index are the caller's and stay unchanged. */
struct ur_cm_path {
	u8 sgid[16];
	u8 dgid[16];
	u32 port;
	u32 sgid_index;
	u32 flow_label;
	u16 pkey;
	u8 hop_limit;
	u8 traffic_class;
	u8 sl;
	u8 packet_life_time; /* exponent, 4.096 us * 2^t */
};

#define UR_CM_STATES(X)  \
	X(IDLE)          \
	X(LISTEN)        \
	X(REQ_SENT)      \
	X(REQ_RCVD)      \
	X(MRA_REQ_SENT)  \
	X(MRA_REQ_RCVD)  \
	X(REP_SENT)      \
	X(REP_RCVD)      \
	X(MRA_REP_SENT)  \
	X(MRA_REP_RCVD)  \
	X(ESTABLISHED)   \
	X(DREQ_SENT)     \
	X(DREQ_RCVD)     \
	X(TIMEWAIT)      \
	X(SIDR_REQ_SENT) \
	X(SIDR_REQ_RCVD) \
	X(SIDR_REP_SENT)

enum ur_cm_state {
#define UR_CM_STATE_ENUM(name) UR_CM_##name##_STATE,
	UR_CM_STATES(UR_CM_STATE_ENUM)
#undef UR_CM_STATE_ENUM
		UR_CM_STATE_COUNT
};

/*
 * Events, and what rdma_cm makes of each:
 *	REQ, SIDR_REQ	CONNECT_REQUEST on the listener, id is new
 *	REQ_ERROR, REP_ERROR, SIDR_REQ_ERROR
 *			UNREACHABLE with status (-ETIMEDOUT)
 *	REP		CONNECT_RESPONSE
 *	REJ		REJECTED, status is the reason
 *	RTU, USER_ESTABLISHED
 *			ESTABLISHED
 *	DREQ, DREP	DISCONNECTED, status 0
 *	DREQ_ERROR	DISCONNECTED, status -ETIMEDOUT
 *	TIMEWAIT_EXIT	TIMEWAIT_EXIT
 *	MRA		nothing
 *	SIDR_REP	status 0: ESTABLISHED; else UNREACHABLE with status
 */
#define UR_CM_EVENTS(X)     \
	X(REQ)              \
	X(REQ_ERROR)        \
	X(REP)              \
	X(REP_ERROR)        \
	X(RTU)              \
	X(USER_ESTABLISHED) \
	X(DREQ)             \
	X(DREQ_ERROR)       \
	X(DREP)             \
	X(TIMEWAIT_EXIT)    \
	X(MRA)              \
	X(REJ)              \
	X(SIDR_REQ)         \
	X(SIDR_REQ_ERROR)   \
	X(SIDR_REP)

enum ur_cm_event_type {
#define UR_CM_EVENT_ENUM(name) UR_CM_EVENT_##name,
	UR_CM_EVENTS(UR_CM_EVENT_ENUM)
#undef UR_CM_EVENT_ENUM
		UR_CM_EVENT_COUNT
};

/* Valid only inside the callback. */
struct ur_cm_event {
	enum ur_cm_event_type type;
	/* 0, -ETIMEDOUT, a REJ reason or a SIDR status */
	int status;
	const struct ur_cm_mad *mad;   /* what arrived; NULL for *_ERROR etc. */
	const struct ur_cm_path *path; /* to the peer */
	struct ur_cm_id *listener;     /* listener of a REQ or SIDR_REQ */
	bool has_ip; /* REQ, SIDR_REQ to an IP service: ip is filled */
	struct ur_ip_cm ip;
};

struct ur_cm_config {
	void *ctx; /* given to the callbacks */
	/* Queues one MAD of UR_CM_MAD_BYTES to QP1 of the peer. */
	void (*send)(void *ctx, const struct ur_cm_path *path, const u8 *mad);
	/*
	 * Reports an event. The callee owns the new id of a REQ or SIDR_REQ:
	 * destroying it inside the callback rejects the request,
	 * ur_cm_id_abandon() drops it silently. The callee may destroy the id
	 * of any event.
	 */
	void (*event)(void *ctx, struct ur_cm_id *id,
		      const struct ur_cm_event *event);
	/* Secret key of communication and transaction ids, so that nobody can
	 * predict one from others. The same key gives the same ids. */
	u64 key[2];
	u32 max_ids; /* all ids; 0: 65536 */
	/* requests not yet taken or answered; 0: 4096 */
	u32 max_pending;
	/* How long a request may wait for its listener before it is rejected;
	 * 0: not at all. */
	u32 listen_grace_ms;
	/* destroyed ids that still owe the peer something; 0: 8192 */
	u32 max_lingering;
};

struct ur_cm_stats {
	u64 rx_mads;
	u64 rx_malformed;
	u64 rx_by_attr[UR_CM_ATTR_END - UR_CM_REQ];
	u64 tx_by_attr[UR_CM_ATTR_END - UR_CM_REQ];
	u64 rx_duplicate;   /* repetitions of a message already handled */
	u64 rx_unknown_id;  /* no such connection */
	u64 rx_wrong_state; /* connection known, message not expected now */
	u64 rx_wrong_peer;  /* comm id known, sender is not its peer */
	u64 rx_no_listener;
	u64 rx_stale;
	u64 dropped_backlog;   /* requests dropped by the listener's backlog */
	u64 dropped_pending;   /* by the cap on pending requests */
	u64 dropped_no_memory; /* by the cap on ids, or for lack of memory */
	u64 retransmitted;
	u64 timeouts;
	u64 evicted_lingering;
	u32 ids;
	u32 pending;
	u32 lingering;
};

/* Returns a new manager, or NULL where there is no memory. config is copied;
 * its ctx must outlive the manager. */
struct ur_cm *ur_cm_create(const struct ur_cm_config *config);
/* Frees the manager and every id. Sends no MAD, reports no event. cm may be
 * NULL. */
void ur_cm_destroy(struct ur_cm *cm);

/*
 * Receives a datagram of len bytes to QP1. from: the path of a reply, whose
 * sgid is the address that the datagram was sent to. The bytes may be anything.
 */
void ur_cm_rx(struct ur_cm *cm, u64 now, const struct ur_cm_path *from,
	      const u8 *mad, size_t len);
/* Returns when ur_cm_expire() wants to run: a time, perhaps past, or
 * UR_CM_NEVER. */
u64 ur_cm_deadline(const struct ur_cm *cm);
/* Does what is due by now: repetitions, timeouts, the end of ids. May be called
 * early. */
void ur_cm_expire(struct ur_cm *cm, u64 now);
/* Sets the present time, for messages sent outside ur_cm_rx() and
 * ur_cm_expire(). */
void ur_cm_set_now(struct ur_cm *cm, u64 now);
/* Fills *stats with the counters so far. */
void ur_cm_get_stats(const struct ur_cm *cm, struct ur_cm_stats *stats);

/* Returns a new id in IDLE, which the caller owns until ur_cm_id_destroy(), or
 * NULL where there are max_ids or there is no memory. */
struct ur_cm_id *ur_cm_id_create(struct ur_cm *cm, void *ctx);
/* Returns the ctx of the id. The ctx of an id that a request created is NULL
 * until it is set. */
void *ur_cm_id_ctx(const struct ur_cm_id *id);
/* Sets the ctx of the id. */
void ur_cm_id_set_ctx(struct ur_cm_id *id, void *ctx);
/* Returns the state of the id. */
enum ur_cm_state ur_cm_id_state(const struct ur_cm_id *id);
/* Returns the communication id that the id's own messages carry. */
u32 ur_cm_id_local_comm_id(const struct ur_cm_id *id);

/*
 * Ends what the id is doing and takes it from its owner: a listener stops, a
 * request is rejected or cancelled (REJ), a connection gets a DREQ that is
 * repeated in the background, a received DREQ its DREP. No event follows.
 */
void ur_cm_id_destroy(struct ur_cm_id *id);
/* Does the same for a request that was just received, without a reply: the peer
 * will repeat it. */
void ur_cm_id_abandon(struct ur_cm_id *id);

/*
 * The state of an id without its deadline, for a manager in another process: bytes without
 * pointers. The caller may change path, and what the comments name.
 */
struct ur_cm_saved {
	u32 state; /* enum ur_cm_state */
	u32 local_id;
	/* with REQ_SENT: 0 forgets a REP, which the peer will repeat */
	u32 remote_id;
	u32 remote_qpn;
	u32 local_qpn;
	u32 attr_mod;
	u32 starting_psn;
	u8 retries_left;
	u8 max_retries;
	u8 ack_timeout;
	u8 passive;
	u64 remote_guid;
	u64 tid;
	u64 rto_ns;
	u64 service_id;
	struct ur_cm_path path;
	u32 has_reply;
	u8 request[UR_CM_MAD_BYTES];
	u8 reply[UR_CM_MAD_BYTES];
};

/* Fills *saved. A listener saves only its state: it listens again by
 * ur_cm_listen(). */
void ur_cm_id_save(const struct ur_cm_id *id, struct ur_cm_saved *saved);
/*
 * Returns an id with the saved state, which the caller owns; or NULL for a listener, a
 * communication id in use, max_ids, or lack of memory. A request that waits for its reply is
 * repeated at once.
 */
struct ur_cm_id *ur_cm_id_restore(struct ur_cm *cm, void *ctx,
				  const struct ur_cm_saved *saved);

/* The requests that a listener accepts, in addition to its service id. */
struct ur_cm_match {
	/* 0: any; 4, 6: an IP service with this version */
	u8 ip_version;
	bool any_addr;	  /* any destination address of ip_version */
	bool v6_only;	  /* with ip_version 6 and any_addr: refuse IPv4 */
	u8 addr[16];	  /* destination; IPv4 as ::ffff:a.b.c.d */
	bool any_port;	  /* on any device port */
	u32 port;	  /* ur_cm_path.port to listen on */
	bool any_service; /* any service id: AF_IB wildcard */
};

/*
 * Makes the id a listener for service_id. match: restrictions, or NULL for
 * none. backlog: requests that may wait for a reply (0: none). If two listeners
 * match, the one on a specific address wins. Returns 0, -EINVAL (not IDLE) or
 * -EADDRINUSE (same service and match as another).
 */
int ur_cm_listen(struct ur_cm_id *id, u64 service_id,
		 const struct ur_cm_match *match, u32 backlog);
/* Notes that the application has the request that created this id: it leaves
 * the backlog of its listener. */
void ur_cm_id_taken(struct ur_cm_id *id);

/*
 * Sets the attribute modifier of the next REQ, REP or SIDR_REP. With the
 * vendor_id of the message it carries the options of enhanced connection
 * establishment.
 */
void ur_cm_set_attr_mod(struct ur_cm_id *id, u32 attr_mod);

/*
 * Starts connecting over path. The caller fills all of req but local_comm_id;
 * retries and timeouts are taken from it. Returns 0, or -EINVAL (not IDLE).
 */
int ur_cm_send_req(struct ur_cm_id *id, const struct ur_cm_path *path,
		   const struct ur_cm_req *req);
/* Sends a REP. The caller fills all of rep but the comm ids. This and all
 * functions below return 0, or -EINVAL where the state of the id does not allow
 * the message or the message has no room for the private data. */
int ur_cm_send_rep(struct ur_cm_id *id, const struct ur_cm_rep *rep);
/* Sends an RTU. data, here and below: bytes of private data, or NULL for
 * none. */
int ur_cm_send_rtu(struct ur_cm_id *id, const void *data, u32 bytes);
/* Sends a REJ. reason: enum ur_cm_rej_reason; ari: additional information, or
 * NULL. */
int ur_cm_send_rej(struct ur_cm_id *id, u16 reason, const void *ari,
		   u32 ari_bytes, const void *data, u32 bytes);
/* Sends an MRA; delayed: only when the peer repeats its message.
 * service_timeout is an exponent: 4.096 us * 2^t. */
int ur_cm_send_mra(struct ur_cm_id *id, u8 service_timeout, bool delayed,
		   const void *data, u32 bytes);
/* Sends a DREQ. The connection ends with the peer's reply, or without one after
 * the repetitions. */
int ur_cm_send_dreq(struct ur_cm_id *id, const void *data, u32 bytes);
/* Sends the DREP to the peer's DREQ. */
int ur_cm_send_drep(struct ur_cm_id *id, const void *data, u32 bytes);
/*
 * Starts to resolve a UD service over path. The caller fills all of req but
 * request_id. timeout_ms: the time before each of at most max_retries
 * repetitions.
 */
int ur_cm_send_sidr_req(struct ur_cm_id *id, const struct ur_cm_path *path,
			const struct ur_cm_sidr_req *req, u32 timeout_ms,
			u8 max_retries);
/* Answers a SIDR_REQ. The caller fills all of rep but request_id and
 * service_id. */
int ur_cm_send_sidr_rep(struct ur_cm_id *id, const struct ur_cm_sidr_rep *rep);
/*
 * Handles data that arrived before the RTU. Returns 0 with the event
 * USER_ESTABLISHED, -EISCONN where the connection is established already,
 * -EINVAL in other states.
 */
int ur_cm_notify_established(struct ur_cm_id *id);

/* Returns the name of a state for logs and status, never NULL. Static
 * storage. */
const char *ur_cm_state_name(enum ur_cm_state state);
/* Returns the name of an event, as above. */
const char *ur_cm_event_name(enum ur_cm_event_type type);

/* Checks every invariant of the structures, cheap ones first, for tests and
 * fuzzers. Returns NULL, or the invariant that does not hold. */
const char *ur_cm_check(const struct ur_cm *cm);

#endif
