/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * /dev/infiniband/rdma_cm: the kernel's ucma and rdma_cm in one. A client's
 * rdma_cm ids live here, above the connection manager of cm/, which knows MADs
 * and nothing of addresses. All under the control lock.
 *
 * Reading order: ucma.c (commands), ucma_file.c (files), ucma_id.c (ids), ucma_event.c
 * (their events), ucma_reply_cache.c (answers before questions), ucma_addr.c
 * and ucma_port.c (addresses, ports), ucma_resolve.c, ucma_neigh.c and ucma_hop.c (next hops), ucma_conn.c (connect,
 * listen, accept ...), ucma_cm_event.c (the peer's messages), ucma_cm.c (the
 * services that cm/ needs), ucma_query.c, ucma_qp.c, ucma_option.c,
 * ucma_mcast.c, ucma_status.c; ucma_journal.c and ucma_reattach.c (what outlives uroced).
 */
#ifndef UR_DEVICE_UCMA_UCMA_H
#define UR_DEVICE_UCMA_UCMA_H

#include <netinet/in.h>
#include <sys/socket.h>
#include "cm/cm.h"
#include "device/listing.h"
#include "device/memory.h"
#include "device/device.h"
#include "device/kept_events.h"
#include "device/session.h"
#include "device/ucma/ucma_abi.h"
#include "device/ucma/ucma_port.h"
#include "util/rng.h"
#include "util/secret.h"

#ifndef AF_IB
#define AF_IB 27
#endif

/* The kernel's struct sockaddr_ib, which is in no user header. */
struct ur_sockaddr_ib {
	u16 sib_family;
	u16 sib_pkey; /* big-endian, as all below */
	u32 sib_flowinfo;
	u8 sib_addr[16];
	u64 sib_sid;
	u64 sib_sid_mask;
	u64 sib_scope_id;
};

/* Any address of a client. */
union ur_sa {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct ur_sockaddr_ib ib;
	struct __kernel_sockaddr_storage ss;
};

/* The size of librdmacm's table of ids. */
#define UCMA_ID_MAX 65536
/* Unused pages of the journal that stay: the next ids are likely to use them, and freeing one
 * interrupts the other processors. */
#define UCMA_UNUSED_PAGES 256
/* Limits of one file, so that it cannot take all ids. */
#define UCMA_FILE_IDS_MAX   16384
#define UCMA_FILE_MCAST_MAX 1024
#define UCMA_BACKLOG_MAX    1024

/* Types of events, as in librdmacm's enum rdma_cm_event_type. */
enum ucma_event_number {
	UCMA_EVENT_ADDR_RESOLVED,
	UCMA_EVENT_ADDR_ERROR,
	UCMA_EVENT_ROUTE_RESOLVED,
	UCMA_EVENT_ROUTE_ERROR,
	UCMA_EVENT_CONNECT_REQUEST,
	UCMA_EVENT_CONNECT_RESPONSE,
	UCMA_EVENT_CONNECT_ERROR,
	UCMA_EVENT_UNREACHABLE,
	UCMA_EVENT_REJECTED,
	UCMA_EVENT_ESTABLISHED,
	UCMA_EVENT_DISCONNECTED,
	UCMA_EVENT_DEVICE_REMOVAL,
	UCMA_EVENT_MULTICAST_JOIN,
	UCMA_EVENT_MULTICAST_ERROR,
	UCMA_EVENT_ADDR_CHANGE,
	UCMA_EVENT_TIMEWAIT_EXIT,
	UCMA_EVENT_ADDRINFO_RESOLVED, /* with a subnet manager only */
	UCMA_EVENT_ADDRINFO_ERROR,
	UCMA_EVENT_USER,     /* written by programs */
	UCMA_EVENT_INTERNAL, /* written by librdmacm */
};

/* CMA_IBOE_PACKET_LIFETIME of the kernel: 4.096 us * 2^16. */
#define UCMA_PACKET_LIFE_TIME 16
/* IPV6_DEFAULT_HOPLIMIT of the kernel, for both families. */
#define UCMA_HOP_LIMIT 64

/* States of an id, as in the kernel's enum rdma_cm_state. */
enum ucma_state {
	UCMA_IDLE,
	UCMA_BOUND,
	UCMA_ADDR_QUERY,
	UCMA_ADDR_RESOLVED,
	UCMA_ROUTE_RESOLVED,
	UCMA_CONNECT,
	UCMA_DISCONNECT,
	UCMA_LISTEN,
	/* of ours: made for the next CREATE_ID (UROCE_TUN_SPARE) */
	UCMA_SPARE,
};

struct ucma_file;
struct ucma_file_record; /* ucma_journal.h */
struct ucma_journal;
struct ucma_hops; /* ucma_neigh.h */

/* The commands whose replies are sent ahead. */
enum ucma_reply_kind {
	UCMA_REPLY_ADDR,
	UCMA_REPLY_GID,
	UCMA_REPLY_PATH,
	UCMA_REPLY_INIT,
	UCMA_REPLY_RTR,
	UCMA_REPLY_RTS,
	UCMA_REPLY_KINDS,
};

struct ucma_id {
	struct ur_list node; /* of the file */
	struct ucma_file *file;
	u32 number;
	uid_t user; /* whose quota it is */
	u64 uid;
	u16 ps;
	u8 qp_type; /* enum ibv_qp_type */
	enum ucma_state state;
	u32 events_reported;
	u32 n_mcasts;
	struct ucma_event *spare; /* used if an allocation fails */
	/* its CONNECT_REQUEST is not read yet, or it is a file's spare id */
	bool unreported;
	/* For the journal: types of unread events, as bits, and the status of the last one. */
	u32 pending;
	int pending_status;
	struct ur_list touched; /* in ur_ucma.touched */

	union ur_sa src, dst;
	u16 port;		  /* its port; 0: none */
	struct ur_list port_node; /* in ur_ucma.ports */
	bool reuse_addr, af_only;
	bool af_only_set; /* set by its program */
	u8 tos;
	bool tos_set; /* set by its program or its peer */
	bool timeout_set;
	u8 timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT */

	/* While state is UCMA_ADDR_QUERY: */
	struct ur_list waiting;	   /* entry in struct ucma_hops */
	u64 resolve_until, ask_at; /* CLOCK_MONOTONIC; UINT64_MAX: never */
	u64 question;		   /* unanswered query */
	u32 hop_ifindex;	   /* of its next hop; 0: unknown */
	u8 hop[16];
	bool had_source, had_device; /* before the resolution */

	struct ur_device *dev; /* NULL: none yet */
	bool lost;	       /* its device was removed */
	u32 sgid_index;
	u8 sgid[16], dgid[16];
	bool has_path;
	u8 hop_limit;
	u32 flow_label;

	struct ur_cm_id *cm;
	u32 backlog; /* of a listener */
	u32 seq;     /* the PSN we want to receive from; 24 bits */
	u32 qp_num;
	bool srq;
	u32 qkey;
	struct rdma_ucm_ece ece;
	/* For the reply to INIT_QP_ATTR; known once REQ and REP were exchanged. */
	bool connected_once; /* the fields below are known */
	u32 remote_qpn, remote_psn;
	u8 path_mtu; /* enum ibv_mtu */
	u8 responder_resources, initiator_depth;
	u8 retry_count, rnr_retry_count;
	u8 ack_timeout;
};

/* An event file: one open rdma_cm. */
struct ucma_file {
	struct ur_list node; /* ucma.files */
	struct ur_session *session;
	struct ur_daemon *daemon;
	uid_t user; /* opened it, and is charged */
	int sock, visible;
	/* A file of an earlier uroced whose program has not reconnected: session points to
	 * *absent, a placeholder without a connection that names the owner. Otherwise NULL. */
	struct ur_session *absent;
	struct ur_kept_channel *kept;	 /* NULL: it ends with this process */
	struct ucma_file_record *record; /* NULL: none */
	/* first bytes of the current command */
	u8 question[24];
	bool repeats; /* the client missed the last reply in the journal */
	struct ur_file_id shown; /* identity of visible */
	struct ur_list ids;
	struct ur_list mcasts;
	struct ur_list events;	   /* struct ucma_event, oldest first */
	struct ucma_event *taking; /* the event being copied out */
	struct ucma_event *ahead;  /* sent ahead, in no list; or NULL */
	u32 answers;		   /* to commands so far */
	u32 ahead_at;	    /* of them when the last event was sent ahead */
	bool ahead_token;   /* its datagram is among tokens */
	bool in_command;    /* the current command has no answer yet */
	u16 event_room;	    /* the client's room for an event; 0: unknown */
	struct ur_list due; /* in ur_ucma.due */
	u32 n_ids, n_mcasts, n_events;
	u32 tokens;	       /* datagrams in the socket */
	struct ucma_id *spare; /* for the next CREATE_ID; or NULL */
	bool knows_spare;      /* the client does */
	/* kind of its spare ids; spare_ps 0: its program has not connected, and gets none */
	u16 spare_ps;
	u8 spare_qp_type;
	/* ucma_reply_cache.c */
	int page;	  /* page of changes; -1: none */
	u32 *generations; /* its mapping */
	bool is_query;	  /* the current command changes nothing */
	bool low_ports;	  /* the current command may bind a privileged port */
	/* the client's room for the reply; 0: unknown */
	u16 reply_room[UCMA_REPLY_KINDS];
	bool saw_removed_id;	    /* ucma_id_get() met a lost id */
	struct ur_loop_after after; /* for closing the file */
};

struct ucma_mcast {
	struct ur_list node; /* of the file */
	struct ucma_id *id;
	u32 number;
	u64 uid;
	u32 events_reported;
	bool pending; /* its event is unread */
	bool full;    /* the host is a member */
	union ur_sa group;
	int membership;		/* socket that has joined the group, or -1 */
	uid_t user;		/* charged for the socket and this */
	struct ur_list touched; /* in ur_ucma.joins_touched */
};

struct ucma_event {
	struct ur_list node;
	struct ucma_id *id;	  /* events_reported is counted here */
	struct ucma_mcast *mcast; /* or here */
	struct ucma_id *child;	  /* new id of a CONNECT_REQUEST */
	bool charged;		  /* its memory is charged to user */
	uid_t user;
	struct rdma_ucm_event_resp resp;
};

/* Numbers given out lowest first. */
struct ucma_numbers {
	void *slot[UCMA_ID_MAX];
	u32 first_free;
};

/* Buckets of the hash table of ids by port space and port. */
#define UCMA_PORT_BUCKETS 4096

struct ur_ucma {
	struct ur_daemon *daemon;
	struct ur_cm *cm;
	struct ur_loop_timer timer;
	struct ur_rng rng;
	struct ur_secret secret; /* for starting PSNs and the key of cm/ */
	struct ur_list files;
	struct ucma_numbers ids, mcasts;
	struct ucma_sysctls sysctls;
	struct ur_quota ids_quota, mcasts_quota;
	struct ur_list ports[UCMA_PORT_BUCKETS];
	struct ucma_hops *hops;
	struct ucma_journal *journal; /* NULL: none */
	/* Its unused pages that stay, by their first entry; 0: none. A ring: n_unused counts. */
	u32 unused[UCMA_UNUSED_PAGES], n_unused;
	/* Those that are in unused, by half of an entry's number. */
	bool stays[UCMA_ID_MAX / 2];
	struct ur_list touched;	      /* ids with outdated journal records */
	struct ur_list joins_touched; /* memberships, likewise */
	struct ur_list due; /* files that have an event to be sent ahead */
};

/* Returns the file's number for the next uroced, or 0 if the file is not kept. */
static inline u32 ucma_kept_number(const struct ucma_file *file)
{
	return file->kept ? file->kept->number : 0;
}

static inline struct ur_ucma *ucma_of(const struct ucma_file *file)
{
	return file->daemon->cm;
}

/* Input and output of a command. */
struct ucma_cmd {
	struct ucma_file *file;
	const void *in; /* zero-filled to the full struct */
	u32 in_bytes;	/* length from the client */
	u32 out_bytes;	/* the client's room for the response */
	u8 out[1024] __attribute__((aligned(8)));
	u32 out_len;   /* bytes written by the handler */
	const u8 *opt; /* SET_OPTION: the fetched value */
	/* MIGRATE_ID: the other file's visible descriptor, and the tokens to withdraw from
	 * it. */
	int moved_from;
	u32 moved_tokens;
};

typedef int ucma_handler(struct ucma_cmd *cmd);

ucma_handler ucma_create_id, ucma_destroy_id, ucma_migrate_id;
ucma_handler ucma_bind_ip, ucma_bind, ucma_resolve_ip, ucma_resolve_addr,
	ucma_resolve_route, ucma_resolve_ib_service;
ucma_handler ucma_query_route, ucma_query, ucma_init_qp_attr;
ucma_handler ucma_connect, ucma_listen, ucma_accept, ucma_reject,
	ucma_disconnect, ucma_notify;
ucma_handler ucma_set_option, ucma_write_cm_event;
ucma_handler ucma_join_ip_mcast, ucma_join_mcast, ucma_leave_mcast;

/* ucma_id.c */
/* Returns the id of this file with that number, or NULL if there is none or its device was
 * removed: the command then fails with EIO. */
struct ucma_id *ucma_id_get(struct ucma_file *file, u32 number);
/* Returns the id even where its device was removed. */
struct ucma_id *ucma_id_get_any(struct ucma_file *file, u32 number);
/* Returns a new id, or NULL where there are too many or there is no memory. */
struct ucma_id *ucma_id_new(struct ucma_file *file, u16 ps, u8 qp_type);
/* Does the same with a given number, which must be free. */
struct ucma_id *ucma_id_new_at(struct ucma_file *file, u16 ps, u8 qp_type,
			       u32 number);
/* Carries out the CREATE_ID that the front-end has answered with the file's spare id. */
void ucma_spare_take(struct ucma_file *file,
		     const struct uroce_tun_created *created);
/* Returns the file's spare id, which it makes if there is none; NULL if the client knows it already, or
 * without memory. */
struct ucma_id *ucma_spare_offer(struct ucma_file *file);
/* Frees the id with its events, memberships and connection. */
void ucma_id_free(struct ucma_id *id);
/* Returns the id after id (NULL: the first) of all ids of all files, or
 * NULL. */
struct ucma_id *ucma_id_next(const struct ur_ucma *ucma,
			     const struct ucma_id *id);
/* Iterates over all ids. None may be freed meanwhile. */
#define ucma_for_each_id(id, ucma)                                \
	for (struct ucma_id *id = ucma_id_next(ucma, NULL); (id); \
	     (id) = ucma_id_next(ucma, id))
/* Allocates a number for the object, in *number. Returns 0, or -ENOMEM if all are in use. */
int ucma_number_take(struct ucma_numbers *n, void *what, u32 *number);
#define UCMA_NUMBER_NONE UINT32_MAX
/* Does the same with the number wanted, or any for UCMA_NUMBER_NONE. Returns 0, -EEXIST
 * (wanted is in use) or -ENOMEM. */
int ucma_number_take_at(struct ucma_numbers *n, void *what, u32 wanted,
			u32 *number);
/* Frees the number. */
void ucma_number_drop(struct ucma_numbers *n, u32 number);

/* ucma_event.c */
/* Allocates the spare event of a new id, which is freed with the id. Returns 0
 * or -ENOMEM. */
int ucma_event_reserve(struct ucma_id *id);
/* Returns a new event, or NULL if memory and the spare event are used up. The caller fills
 * resp.param and posts it. type: enum ucma_event_number; status: as librdmacm reports it. */
struct ucma_event *ucma_event_new(struct ucma_id *id, u32 type, int status);
/* Queues the event for the client, and takes it over. */
void ucma_event_post(struct ucma_event *event);
/* Makes and posts an event without parameters. */
void ucma_event_simple(struct ucma_id *id, u32 type, int status);
/* Withdraws the events of id, or of mcast if that is not NULL. */
void ucma_events_purge(struct ucma_file *file, struct ucma_id *id,
		       struct ucma_mcast *mcast);
/* Sends tokens until there is one per event, or the socket is full. */
void ucma_tokens_send(struct ucma_file *file);
/* Returns the number of tokens without an event, which the caller must withdraw, and stops
 * counting them. */
u32 ucma_tokens_excess(struct ucma_file *file);
/* Withdraws n tokens from the client's end of the socket. May block, since other processes
 * share it: lock not held. */
void ucma_tokens_withdraw(int visible, u32 n);
/* Moves the events of id to another file. */
void ucma_events_move(struct ucma_id *id, struct ucma_file *to);
/* Returns the bit of an event that the next uroced can make again, or 0: it cannot for an event that a program
 * has written, and a request is repeated by the peer. Of these only a request is sent ahead. */
u32 ucma_event_bit(const struct ucma_event *event);
/* Notes in the id's record that the event is unread. */
void ucma_event_note(struct ucma_event *event);
/* Removes the event from its file's queue. */
void ucma_event_take_out(struct ucma_file *file, struct ucma_event *event);
/* Counts it as read. */
void ucma_event_delivered(struct ucma_event *event);
void ucma_event_free(struct ucma_event *event);

/* ucma_reply_cache.c */
/* Sends the file's first event ahead, with the reply to the current command, if there is an event
 * that may be sent so. The journal has the reply already. On the session's thread. */
void ucma_ahead_answer(struct ucma_file *file);
/* Returns whether the file has one event only, which its datagram can carry. */
bool ucma_ahead_may_push(const struct ucma_file *file);
/* Sends the file's only event in its datagram, after the journal has it; else, sends the datagrams
 * that are due. */
void ucma_ahead_push(struct ucma_file *file);
/* Finishes with the event that was sent ahead, if there is one. taken: the program has read it, and
 * it is freed; otherwise it becomes the first of the queue again. */
void ucma_ahead_end(struct ucma_file *file, bool taken);
/* Reads a GET_EVENT, without the lock. addr: client address of the bytes behind hdr; len: bytes
 * including hdr. Returns 0 and the client's address for the event in *response, or -errno. */
int ucma_read_get_event(struct ucma_file *file, u64 addr, u64 len,
			const struct rdma_ucm_cmd_hdr *hdr, u64 *response);
/* Carries it out. err: result of the above; room: bytes at response. Lock held, and released.
 * Returns 0 or -errno. */
int ucma_get_event(struct ucma_file *file, int err, u64 response, u64 len,
		   u16 room);

/* ucma_reply_cache.c */
/* Makes the file's page of changes. If that fails, the program gets no cached replies. */
void ucma_cache_open(struct ucma_file *file);
/* Frees the page of changes. */
void ucma_cache_close(struct ucma_file *file);
/* Invalidates the replies about id that were sent ahead, and marks its journal record as
 * outdated. Called before any change of a reply. */
void ucma_cache_void(struct ucma_id *id);
/* Sends the file's spare id with the reply to the current command, if the client lacks one. On the
 * session's thread. */
void ucma_cache_spare(struct ucma_file *file);
/* Records the client's room for a reply, from a command of that type. */
void ucma_cache_learn(struct ucma_file *file,
		      const struct rdma_ucm_cmd_hdr *hdr, const void *in);
/* Adds to outs (ur_outs_cache_reply()) the replies to the commands that the client is likely to
 * give after this event of id. */
void ucma_cache_replies(struct ucma_file *file, u32 event, struct ucma_id *id,
			u8 *outs, u32 *outs_len);

/* ucma_addr.c */
/* Returns the size of the address in bytes, or 0 for an unknown family. */
u32 ucma_sa_size(const union ur_sa *sa);
/* Returns whether the address names no single device: it is unspecified or loopback, which
 * Linux' rdma_cm treats alike (cma_any_addr). libfabric binds to 127.0.0.1 to ask whether
 * that has a device, and otherwise goes by the netdevs. */
bool ucma_sa_any(const union ur_sa *sa);
/* Returns whether the address is a loopback address. */
bool ucma_sa_loopback(const union ur_sa *sa);
/* Formats address and port. Returns false, with text unchanged, if sa is no address. */
bool ucma_sa_print(char *text, size_t size, const union ur_sa *sa);
/* Return and set the port, in host order. */
u16 ucma_sa_port(const union ur_sa *sa);
void ucma_sa_set_port(union ur_sa *sa, u16 port);
/* Converts an address to a GID. */
void ucma_sa_to_gid(const union ur_sa *sa, u8 gid[16]);
/* Converts a GID to an address. family: 4 or 6; port: in host order. */
void ucma_sa_from_gid(union ur_sa *sa, int family, const u8 gid[16], u16 port);
/* Returns whether both have the same address, whatever their ports. */
bool ucma_sa_same_addr(const union ur_sa *a, const union ur_sa *b);
/* Copies a client's address of that size. Returns 0, or -EINVAL if the size does not fit
 * the family. */
int ucma_sa_copy(union ur_sa *sa, const void *from, u32 bytes);
/* Returns the device with that GID, and its index there in *index, or NULL.
 * scope_id: the device's ifindex, or 0 for any. */
struct ur_device *ucma_device_of(struct ur_daemon *daemon, const u8 gid[16],
				 u32 scope_id, u32 *index);
/* Attaches id to the device that has its source address. Returns 0, -ENODEV or
 * -EADDRNOTAVAIL. */
int ucma_acquire_device(struct ucma_id *id);
/* Returns the device with that number, or NULL. */
struct ur_device *ucma_device_by_index(struct ur_daemon *daemon, u32 index);
/* Finds the kernel's source address for dst, in *src, with port 0. want: the address
 * requested by the client, or any (ucma_sa_any()). Returns 0 or -errno. */
int ucma_route_source(const union ur_sa *dst, const union ur_sa *want,
		      union ur_sa *src);

/* ucma_resolve.c */
/* Binds id to addr: its device, if addr names one, and its port. Returns 0, or
 * -errno with nothing changed. */
int ucma_bind_addr(struct ucma_id *id, const union ur_sa *addr);
/* Completes the address resolution of id and posts its event. status: 0 or -errno. */
void ucma_resolved(struct ucma_id *id, int status);
/* Applies the device's type of service to an id whose program has set none. */
void ucma_default_tos(struct ucma_id *id);
/* Sets the path of id, whose addresses and device are known. */
void ucma_set_path(struct ucma_id *id);

/* ucma_conn.c: makes the bound id listen. Returns 0 or -errno. */
int ucma_begin_listen(struct ucma_id *id);

/* ucma_cm.c */
/* A function of struct ur_cm_ops. */
void ucma_cm_gsi_rx(struct ur_device *dev, const struct ur_rx_meta *meta,
		    const u8 *mad);
/* Handles an event of cm/. ctx is the struct ur_ucma. */
typedef void ucma_cm_event_fn(void *ctx, struct ur_cm_id *cm,
			      const struct ur_cm_event *event);
/* Returns a new connection manager, which calls event for its events, or NULL. */
struct ur_cm *ucma_cm_create(struct ur_ucma *ucma, ucma_cm_event_fn *event);
/* Sets the timer and writes outdated journal records. Called after anything that may have
 * moved a deadline. */
void ucma_cm_kick(struct ur_ucma *ucma);
/* Updates the connection manager's clock. Called before anything that sends. */
void ucma_cm_touch(struct ur_ucma *ucma);
/* Returns the path of id for the connection manager. */
struct ur_cm_path ucma_cm_path(const struct ucma_id *id);
/* Destroys id->cm, if there is one. */
void ucma_cm_drop(struct ucma_id *id);

/* ucma_cm_event.c */
ucma_cm_event_fn ucma_cm_event;
/* Returns a new event for a UD id whose service is resolved, without private data; or NULL. */
struct ucma_event *ucma_resolved_event(struct ucma_id *id);

/* ucma_mcast.c */
/* Leaves the group and frees mc. */
void ucma_mcast_free(struct ucma_mcast *mc);
struct ucma_join_record;
/* Restores a membership of an earlier uroced. Returns false if that fails. */
bool ucma_mcast_restore(struct ucma_id *id, u32 number,
			const struct ucma_join_record *r);

struct json_object;
/* ucma_status.c: makes one step through the list of ids. */
ur_listing_next ur_status_next_cm_id;
/* Returns the counters of the connection manager as an object, the caller's, or NULL. */
struct json_object *ur_ucma_status_counters(struct ur_daemon *daemon);

/* ucma.c: starts the connection manager of the daemon. Returns 0 or -errno. */
int ur_ucma_init(struct ur_daemon *daemon);
/* ucma_hop.c: opens the sockets for neighbours. Without them, all neighbours count as known.
 * Returns 0 or -errno. */
int ur_ucma_open_netlink(struct ur_daemon *daemon);
/* ucma_reattach.c */
/* Restores the files and ids of an earlier uroced: connections stay up, listeners listen.
 * Called once the devices exist, before the first client. Control lock held. */
void ur_ucma_inherit(struct ur_daemon *daemon);
/* Closes restored files whose programs have not reconnected. Control lock held. */
void ur_ucma_end_inherited(struct ur_daemon *daemon);
/* reattach() of struct ur_file_ops. */
int ucma_reattach(struct ur_session *s, const struct ur_file_id *id, int fd,
		  u32 answers, void **opened, int *shown, u64 *rdev);
/* ucma_file.c: open() and close() of struct ur_file_ops. */
int ucma_open(struct ur_session *s, const char *name, void **opened, int *shown,
	      u64 *rdev);
void ucma_close(void *opaque);

/* Stops the connection manager of the daemon. No rdma_cm file may be open. */
void ur_ucma_fini(struct ur_daemon *daemon);

#endif
