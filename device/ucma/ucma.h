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
 * ucma_mcast.c, ucma_status.c; ucma_journal.c and ucma_resume.c (what outlives uroced).
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

/* The kernel's struct sockaddr_ib, which no user header has. */
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

/* librdmacm keeps ids in a table of this size. */
#define UCMA_ID_MAX 65536
/* One file cannot take all ids. */
#define UCMA_FILE_IDS_MAX   16384
#define UCMA_FILE_MCAST_MAX 1024
#define UCMA_BACKLOG_MAX    1024

/* The kinds of events, as in librdmacm's enum rdma_cm_event_type. */
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

/* Life of an id, as the kernel's enum rdma_cm_state. */
enum ucma_state {
	UCMA_IDLE,
	UCMA_BOUND,
	UCMA_ADDR_QUERY,
	UCMA_ADDR_RESOLVED,
	UCMA_ROUTE_RESOLVED,
	UCMA_CONNECT,
	UCMA_DISCONNECT,
	UCMA_LISTEN,
};

struct ucma_file;
struct ucma_file_record; /* ucma_journal.h */
struct ucma_journal;
struct ucma_hops; /* ucma_neigh.h */

/* The questions whose replies are sent ahead. */
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
	struct ucma_event *spare; /* for the next, where there is no memory */
	bool untold; /* of a CONNECT_REQUEST that is not taken yet */
	/* For the journal: events that are not taken, by their numbers, and the status of
	 * the last. */
	u32 pending;
	int pending_status;
	struct ur_list touched; /* of struct ur_ucma */

	union ur_sa src, dst;
	u16 port;		  /* in its port space, while it has one */
	struct ur_list port_node; /* the others on the same port */
	bool reuse_addr, af_only;
	bool af_only_set; /* by its program */
	u8 tos;
	bool tos_set; /* by its program, or its peer */
	bool timeout_set;
	u8 timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT */

	/* While state is UCMA_ADDR_QUERY: */
	struct ur_list waiting;	   /* of struct ucma_hops */
	u64 resolve_until, ask_at; /* CLOCK_MONOTONIC; UINT64_MAX: never */
	u64 question;		   /* that is not answered yet */
	u32 hop_ifindex;	   /* its neighbour; 0: not known */
	u8 hop[16];
	bool had_source, had_device; /* before */

	struct ur_device *dev; /* NULL: none yet */
	bool lost;	       /* its device was taken away */
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
	/* The answer to INIT_QP_ATTR; known once REQ and REP have met. */
	bool connected_once; /* the peer's part below is known */
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
	uid_t user; /* who opened it: the quota's */
	int sock, visible;
	/* The program of an earlier uroced has not come back yet: there is no connection, and
	 * session is this one, which says whose the file is. */
	struct ur_session *absent;
	struct ur_kept_channel *kept;	 /* NULL: it ends with this process */
	struct ucma_file_record *record; /* NULL: none */
	u8 question[24];		 /* how the command that runs begins */
	bool is_answered;		 /* the journal has its answer */
	bool repeats; /* the client lacks the last answer of the journal */
	struct ur_file_id shown; /* which file visible is */
	struct ur_list ids;
	struct ur_list mcasts;
	struct ur_list events;	   /* struct ucma_event, oldest first */
	struct ucma_event *taking; /* of events: is being copied out */
	u32 n_ids, n_mcasts, n_events;
	u32 tokens; /* datagrams in the socket */
	/* ucma_reply_cache.c */
	int page;	  /* of changes, -1: none */
	u32 *generations; /* the same, mapped */
	bool is_query;	  /* the command that runs changes nothing */
	bool low_ports;	  /* ... may have a port that takes a right */
	u16 reply_room
		[UCMA_REPLY_KINDS]; /* room for the answer; 0: not known */
	bool saw_removed_id;	    /* ucma_id_get() was asked for a lost one */
	struct ur_loop_after after; /* of the file's end */
};

struct ucma_mcast {
	struct ur_list node; /* of the file */
	struct ucma_id *id;
	u32 number;
	u64 uid;
	u32 events_reported;
	bool pending; /* its event is not taken yet */
	bool full;    /* the host is a member */
	union ur_sa group;
	int membership; /* socket that is a member of the group, or -1 */
	uid_t user;	/* whose quota that, and this, is */
	struct ur_list touched; /* of struct ur_ucma */
};

struct ucma_event {
	struct ur_list node;
	struct ucma_id *id;	  /* that it is counted on */
	struct ucma_mcast *mcast; /* or this */
	struct ucma_id *child;	  /* of CONNECT_REQUEST */
	bool charged;		  /* its memory, to user */
	uid_t user;
	struct rdma_ucm_event_resp resp;
};

/* Numbers given out lowest first. */
struct ucma_numbers {
	void *slot[UCMA_ID_MAX];
	u32 first_free;
};

/* Hash of ports: ids by port space and port. */
#define UCMA_PORT_BUCKETS 4096

struct ur_ucma {
	struct ur_daemon *daemon;
	struct ur_cm *cm;
	struct ur_loop_timer timer;
	struct ur_rng rng;
	struct ur_secret secret; /* of starting PSNs, and the key of cm/ */
	struct ur_list files;
	struct ucma_numbers ids, mcasts;
	struct ucma_sysctls sysctls;
	struct ur_quota ids_quota, mcasts_quota;
	struct ur_list ports[UCMA_PORT_BUCKETS];
	struct ucma_hops *hops;
	struct ucma_journal *journal; /* NULL: none */
	struct ur_list touched;	      /* ids whose records are to be written */
	struct ur_list joins_touched; /* and memberships */
};

/* Returns the number by which the next uroced knows the file, or 0: it does not. */
static inline u32 ucma_kept_number(const struct ucma_file *file)
{
	return file->kept ? file->kept->number : 0;
}

static inline struct ur_ucma *ucma_of(const struct ucma_file *file)
{
	return file->daemon->cm;
}

/* A command's input and output, copied in and to be copied out. */
struct ucma_cmd {
	struct ucma_file *file;
	const void *in; /* zero-filled to the full struct */
	u32 in_bytes;	/* given by the client */
	u32 out_bytes;	/* room of the client for the response */
	u8 out[1024] __attribute__((aligned(8)));
	u32 out_len;   /* of what the handler wrote */
	const u8 *opt; /* SET_OPTION: the fetched value */
	/* Tokens to take back from another file, which it has shown. */
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
/* Returns the id of this file with that number, or NULL where there is none, or
 * its device was removed: the command then answers EIO. */
struct ucma_id *ucma_id_get(struct ucma_file *file, u32 number);
/* Returns the id even where its device was removed. */
struct ucma_id *ucma_id_get_any(struct ucma_file *file, u32 number);
/* Returns a new id, or NULL where there are too many or there is no memory. */
struct ucma_id *ucma_id_new(struct ucma_file *file, u16 ps, u8 qp_type);
/* The same with a number that no other has. */
struct ucma_id *ucma_id_new_at(struct ucma_file *file, u16 ps, u8 qp_type,
			       u32 number);
/* Frees the id with all that hangs on it. */
void ucma_id_free(struct ucma_id *id);
/* Returns the id after id (NULL: the first) of all ids of all files, or
 * NULL. */
struct ucma_id *ucma_id_next(const struct ur_ucma *ucma,
			     const struct ucma_id *id);
/* Walks over them. None of them may be freed meanwhile. */
#define ucma_for_each_id(id, ucma)                                \
	for (struct ucma_id *id = ucma_id_next(ucma, NULL); (id); \
	     (id) = ucma_id_next(ucma, id))
/* Gives the object a number, in *number. Returns 0, or -ENOMEM where all are in
 * use. */
int ucma_number_take(struct ucma_numbers *n, void *what, u32 *number);
#define UCMA_NUMBER_NONE UINT32_MAX
/* Does so with that number, if it is free, or with any: UCMA_NUMBER_NONE. Returns 0, -EEXIST or -ENOMEM. */
int ucma_number_take_at(struct ucma_numbers *n, void *what, u32 wanted,
			u32 *number);
/* Frees the number. */
void ucma_number_drop(struct ucma_numbers *n, u32 number);

/* ucma_event.c */
/* Allocates the spare event of a new id, which is freed with the id. Returns 0
 * or -ENOMEM. */
int ucma_event_reserve(struct ucma_id *id);
/* Returns a new event, or NULL where there is no memory and the spare one is
 * used. The caller fills resp.param and posts it. type: enum ucma_event_number;
 * status as librdmacm gives it to programs. */
struct ucma_event *ucma_event_new(struct ucma_id *id, u32 type, int status);
/* Queues the event for the client, and takes it over. */
void ucma_event_post(struct ucma_event *event);
/* Makes and posts an event without parameters. */
void ucma_event_simple(struct ucma_id *id, u32 type, int status);
/* Withdraws the events of id, or, where mcast is not NULL, of mcast. */
void ucma_events_purge(struct ucma_file *file, struct ucma_id *id,
		       struct ucma_mcast *mcast);
/* Sends tokens until there is one for each event, or no room. */
void ucma_tokens_send(struct ucma_file *file);
/* Returns the number of tokens for events that are gone, which the caller is to
 * withdraw; they no longer count. */
u32 ucma_tokens_excess(struct ucma_file *file);
/* Withdraws n of them from the client's end. A process that shares it can make
 * this wait: lock not held. */
void ucma_tokens_withdraw(int visible, u32 n);
/* Moves the events of id to another file. */
void ucma_events_move(struct ucma_id *id, struct ucma_file *to);
/* Carries out GET_EVENT. addr: the client's address of what follows hdr; len:
 * bytes of both. Returns what the system call returns. */
int ucma_get_event(struct ucma_file *file, u64 addr, u64 len,
		   const struct rdma_ucm_cmd_hdr *hdr);

/* ucma_reply_cache.c */
/* Makes the file's page of changes. Without memory for one, no reply is sent
 * ahead. */
void ucma_cache_open(struct ucma_file *file);
/* Frees it. */
void ucma_cache_close(struct ucma_file *file);
/* Makes the replies about id that were sent ahead void, and has its record written when the
 * work is done. To be called before anything that changes an answer. */
void ucma_cache_void(struct ucma_id *id);
/* Learns from a question of the client how much room it has for the reply. */
void ucma_cache_learn(struct ucma_file *file,
		      const struct rdma_ucm_cmd_hdr *hdr, const void *in);
/* Sends the replies ahead that the client is likely to ask for when it gets
 * this event of id. On the session's thread. */
void ucma_cache_replies(struct ucma_file *file, u32 event, struct ucma_id *id);

/* ucma_addr.c */
/* Returns the bytes of the address, or 0 for an unknown family. */
u32 ucma_sa_size(const union ur_sa *sa);
/* Returns whether the address is that of no single device: unspecified, or a
 * loopback address, which Linux' rdma_cm takes for the same (cma_any_addr).
 * libfabric binds to 127.0.0.1 to ask whether that has a device, and goes by
 * the netdevs if not. */
bool ucma_sa_any(const union ur_sa *sa);
/* Returns whether it is a loopback address. */
bool ucma_sa_loopback(const union ur_sa *sa);
/* Prints address and port. Returns false, with nothing done, where it is no
 * address. */
bool ucma_sa_print(char *text, size_t size, const union ur_sa *sa);
/* Return and set the port, in host order. */
u16 ucma_sa_port(const union ur_sa *sa);
void ucma_sa_set_port(union ur_sa *sa, u16 port);
/* Makes the GID of an address. */
void ucma_sa_to_gid(const union ur_sa *sa, u8 gid[16]);
/* Makes the address of a GID. family: 4 or 6; port in host order. */
void ucma_sa_from_gid(union ur_sa *sa, int family, const u8 gid[16], u16 port);
/* Returns whether both have the same address, whatever their ports. */
bool ucma_sa_same_addr(const union ur_sa *a, const union ur_sa *b);
/* Copies a client's address of so many bytes. Returns 0, or -EINVAL where the
 * size does not fit the family. */
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
/* Finds the local address that the kernel would use towards dst, in *src, with
 * port 0. want: the address that the client wants, or any (ucma_sa_any()).
 * Returns 0 or -errno. */
int ucma_route_source(const union ur_sa *dst, const union ur_sa *want,
		      union ur_sa *src);

/* ucma_resolve.c */
/* Binds id to addr: its device, if addr names one, and its port. Returns 0, or
 * -errno with nothing changed. */
int ucma_bind_addr(struct ucma_id *id, const union ur_sa *addr);
/* Ends the resolving of its address, with its event. status: 0 or -errno. */
void ucma_resolved(struct ucma_id *id, int status);
/* Sets the path of id, whose addresses and device are known. */
/* Gives an id whose program has set no type of service that of the device. */
void ucma_default_tos(struct ucma_id *id);
void ucma_set_path(struct ucma_id *id);

/* ucma_conn.c: makes a listener of id, which is bound. Returns 0 or -errno. */
int ucma_begin_listen(struct ucma_id *id);

/* ucma_cm.c */
/* The functions of struct ur_cm_ops. */
void ucma_cm_gsi_rx(struct ur_device *dev, const struct ur_rx_meta *meta,
		    const u8 *mad, u32 len);
void ucma_cm_qp_event(struct ur_device *dev, u32 qpn, enum ur_event ev);
/* Handles an event of cm/. ctx is the struct ur_ucma. */
typedef void ucma_cm_event_fn(void *ctx, struct ur_cm_id *cm,
			      const struct ur_cm_event *event);
/* Returns a new connection manager, which passes its events to event, or
 * NULL. */
struct ur_cm *ucma_cm_create(struct ur_ucma *ucma, ucma_cm_event_fn *event);
/* Sets the timer, after anything that may have moved a deadline, and writes the records of
 * ids that have changed. */
void ucma_cm_kick(struct ur_ucma *ucma);
/* Tells the connection manager the time, before anything that sends. */
void ucma_cm_touch(struct ur_ucma *ucma);
/* Returns the path of id for the connection manager. */
struct ur_cm_path ucma_cm_path(const struct ucma_id *id);
/* Destroys the connection manager's id, if there is one. */
void ucma_cm_drop(struct ucma_id *id);

/* ucma_cm_event.c */
ucma_cm_event_fn ucma_cm_event;
/* Returns the event that the service of an id for datagrams is resolved, without private
 * data; or NULL. */
struct ucma_event *ucma_resolved_event(struct ucma_id *id);

/* ucma_mcast.c */
/* Leaves the group and frees mc. */
void ucma_mcast_free(struct ucma_mcast *mc);
struct ucma_join_record;
/* Makes one of an earlier uroced again. Returns whether it is there. */
bool ucma_mcast_restore(struct ucma_id *id, u32 number,
			const struct ucma_join_record *r);

struct json_object;
/* ucma_status.c: returns the counters as an object, the caller's, or NULL. */
/* ucma_status.c: one step of the list of ids; the counters of CM, an object. */
ur_listing_next ur_status_next_cm_id;
struct json_object *ur_ucma_status_counters(struct ur_daemon *daemon);

/* ucma.c: starts the connection manager of the daemon. Returns 0 or -errno. */
int ur_ucma_init(struct ur_daemon *daemon);
/* ucma_hop.c: opens the sockets for neighbours. Without them, all neighbours count as known.
 * Returns 0 or -errno. */
int ur_ucma_open_netlink(struct ur_daemon *daemon);
/* ucma_resume.c */
/* Goes on with the files and ids that an earlier uroced has left: connections are answered
 * for, listeners listen. When the devices are there, before the first client. Control lock held. */
void ur_ucma_inherit(struct ur_daemon *daemon);
/* Ends those whose programs have not come back. Control lock held. */
void ur_ucma_end_inherited(struct ur_daemon *daemon);
/* The resume() of struct ur_file_ops. */
int ucma_resume(struct ur_session *s, const struct ur_file_id *id, int fd,
		u32 answers, void **opened, int *shown, u64 *rdev);
/* ucma_file.c: open() and close() of struct ur_file_ops. */
int ucma_open(struct ur_session *s, const char *name, void **opened, int *shown,
	      u64 *rdev);
void ucma_close(void *opaque);

/* Ends it. No rdma_cm file may be open. */
void ur_ucma_fini(struct ur_daemon *daemon);

#endif
