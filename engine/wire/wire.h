/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A wire: what carries packets between this device and others. Engine thread
 * only. A backend embeds struct ur_wire; received packets go straight to the
 * engine's port.
 */
#ifndef UR_ENGINE_WIRE_WIRE_H
#define UR_ENGINE_WIRE_WIRE_H

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "engine/slots.h"
#include "transport/transport.h"

/* A fill for which a neighbour needs little room. */
#define UR_LITTLE_PACKETS 256u
#define UR_LITTLE_BYTES	  (64u << 10)

/* One UDP_SEGMENT message, at most; UDP_MAX_SEGMENTS of older kernels. */
#define UR_UDP_SEGS  64u
#define UR_UDP_BURST 65000u

union ur_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct ur_emr;
struct ur_engine;
struct ur_lent;
struct ur_lent_ring;
struct ur_wire;

/* The frames that all flow rules together need from the netdev. */
struct ur_wire_wants {
	bool any;
	bool promisc;	/* frames to others' addresses */
	bool multicast; /* to groups that the host is not in */
};

struct ur_wire_ops {
	const char *name;
	/* Add a local address, or remove it. One that was added twice is
	 * removed twice. Adding returns 0, -EADDRINUSE after a line on stderr
	 * that says who has the port, or another -errno. */
	int (*addr_add)(struct ur_wire *wire, const u8 gid[16]);
	void (*addr_del)(struct ur_wire *wire, const u8 gid[16]);
	/* Returns whether the port of that address is free now: tries it and
	 * gives it back at once. NULL: there is nothing that another program
	 * could have. */
	bool (*addr_free)(struct ur_wire *wire, const u8 gid[16]);
	/* The socket of an engine in a program, for one of the wire's addresses,
	 * which stays the wire's, or -1 with lend_relay; and there: add an address with one that was
	 * lent, which becomes the wire's. Return 0 or -errno. NULL: none are
	 * lent. */
	int (*lend)(struct ur_wire *wire, const u8 gid[16], u32 slot, int *fd);
	int (*borrow)(struct ur_wire *wire, const u8 gid[16], int fd);
	/* Nobody uses the sockets of that slot any more: they stay for the next one, and what
	 * is in them comes in here. With lend. */
	void (*lend_end)(struct ur_wire *wire, u32 slot);
	/* Fills the rest of what is lent for lent->slot, in place of what was lent
	 * for it before. Returns 0 or -errno. With lend. */
	int (*lend_port)(struct ur_wire *wire, struct ur_lent *lent);
	/* Makes the ring for that slot, which gets no sockets then, and fills in its files; far: its
	 * outbox, too. Returns 0 or -errno. With lend. */
	int (*lend_relay)(struct ur_wire *wire, struct ur_lent *lent, bool far);
	/* That slot, which has an outbox, joins a multicast group or leaves it: what comes to that is in its ring. Joins
	 * count. Joining returns 0 or -errno. With lend. */
	int (*lend_group)(struct ur_wire *wire, u32 slot, const u8 gid[16],
			  bool joins);
	/* Ends the loans of an earlier uroced that nobody uses by now, or that are of none
	 * of those slots. With lend. */
	void (*settle)(struct ur_wire *wire, const struct ur_slot_set *slots);
	/* Returns whether the address is of this very device. Any thread. With lend. */
	bool (*is_here)(const struct ur_wire *wire, const u8 gid[16]);
	/* Returns the number of the loan by which somebody has the queue pair with that number at that address, or 0. NULL:
	 * nobody has any by one. */
	u32 (*loan)(const struct ur_wire *wire, const u8 gid[16], u32 qpn);
	/* The rings between the engines in two slots: fills what the one in slot is lent,
	 * once; and there: uses them, whose descriptors stay the caller's, and says
	 * whether it has those with peer, as long as both have their slots. Return 0 or
	 * -errno. With lend. */
	int (*lend_ring)(struct ur_wire *wire, u32 slot, u32 peer,
			 struct ur_lent_ring *ring);
	int (*borrow_ring)(struct ur_wire *wire,
			   const struct ur_lent_ring *ring);
	bool (*has_ring)(struct ur_wire *wire, u32 peer);
	/* Does what struct ur_host_ops says. NULL: all packets are in one piece. */
	u8 *(*payload_room)(struct ur_wire *wire, const struct ur_av *av,
			    u32 dqpn, u32 len);
	/* The same. hide: the region is not the program's any more, and nobody reads it. All or none. */
	const u8 *(*payload_place)(struct ur_wire *wire, const struct ur_av *av,
				   u32 dqpn, struct ur_emr *mr, u64 off,
				   u32 len);
	void (*payload_taken_back)(struct ur_wire *wire);
	void (*hide)(struct ur_wire *wire, const struct ur_emr *mr);
	/* The same, of programs. */
	bool (*holds)(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
		      bool datagram);
	/* Returns whether packets wait where no descriptor shows it; and says whether
	 * whoever brings some has to wake the engine. NULL: there are none. */
	bool (*waits)(const struct ur_wire *wire);
	void (*sleeps)(struct ur_wire *wire, bool asleep);
	/* Looks again at what it could not take, or, in a program, put: at engine->wire_look. */
	void (*look)(struct ur_wire *wire);
	/* Sends what programs of other network namespaces have put into their outboxes (udp_outbox.h), for
	 * engines with engine->forwards. Returns whether there was any. */
	bool (*forward)(struct ur_wire *wire);
	/* Join a multicast group, or leave it. The caller counts. Joining
	 * returns 0 or -errno. */
	int (*join)(struct ur_wire *wire, const u8 gid[16]);
	void (*leave)(struct ur_wire *wire, const u8 gid[16]);
	/* Returns 0 where packets of av can be sent, or -ENETUNREACH and the
	 * like. */
	int (*check)(struct ur_wire *wire, const struct ur_av *av);
	/* Receives from the queue where packets came last, without epoll.
	 * Returns whether there were any. */
	bool (*poll)(struct ur_wire *wire);
	/*
	 * Sends descriptors [first, end) of tx, none of them a loop packet,
	 * after it has completed their ICRCs. Returns how many it took. Fewer
	 * than asked for means that there is no room now, and that *wait_fd is
	 * to be watched for room. A packet that the network refuses is taken
	 * and lost.
	 */
	u32 (*send)(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		    u32 end, int *wait_fd);
	/* Sets which frames the raw wire receives; none if want->any is false.
	 * Returns 0, or -errno and keeps receiving at least what it did. NULL
	 * in other wires. */
	int (*listen)(struct ur_wire *wire, const struct ur_wire_wants *want);
	/* The netdev has another index. NULL in other wires, which go by
	 * addresses. */
	void (*rebind)(struct ur_wire *wire);
	void (*destroy)(struct ur_wire *wire);
	/* Closes the sockets that keep others from the port, for an engine that never
	 * uses the wire again. NULL: none does. */
	void (*hang_up)(struct ur_wire *wire);
};

struct ur_wire {
	const struct ur_wire_ops *ops;
	struct ur_engine *engine;
};

/* Makes the wire of RoCEv2, through UDP sockets, in *wire. Returns 0 or
 * -errno. */
int ur_wire_udp_create(struct ur_engine *engine, struct ur_wire **wire);
#if UROCE_WITH_ROCE_V1
/* v1/wire_v1.c: makes the wire of RoCEv1, through packet sockets, in *wire.
 * Returns 0, -EPERM (no CAP_NET_RAW) or another -errno. */
int ur_wire_v1_create(struct ur_engine *engine, struct ur_wire **wire);
#else
static inline int ur_wire_v1_create(struct ur_engine *engine,
				    struct ur_wire **wire)
{
	return -EOPNOTSUPP;
}
#endif

/* Makes all wires that the engine's configuration asks for, by the table in
 * wire.c. Returns 0 or -errno; in both cases ur_wire_destroy() takes down what
 * there is. */
int ur_wire_create(struct ur_engine *engine);
/* Returns the wire for address vectors of that version, or NULL. */
struct ur_wire *ur_wire_of(const struct ur_engine *engine, bool v1);
/* Do the operations above on each wire that the engine has. Sending takes
 * descriptors of the engine's own tx. */
u32 ur_wire_send(struct ur_engine *engine, u32 first, u32 end, int *wait_fd);
bool ur_wire_poll(struct ur_engine *engine);
bool ur_wire_waits(const struct ur_engine *engine);
void ur_wire_sleeps(struct ur_engine *engine, bool asleep);
void ur_wire_look(struct ur_engine *engine);
bool ur_wire_forward(struct ur_engine *engine);
int ur_wire_join(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_leave(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_destroy(struct ur_engine *engine);
/* Gives back what another process would need, while the engine's thread, which is held
 * up, has the rest until this process ends. */
void ur_wire_hang_up(struct ur_engine *engine);
/* Closes the sockets of addresses that have gone, of the wire of RoCEv2. Any thread. */
void ur_wire_udp_end_away(struct ur_wire *wire);
/* In a program: returns the index of the netdev that the device is on, or 0. */
u32 ur_wire_udp_netdev(struct ur_wire *wire);

/* Sends messages until one cannot be sent. Returns how many were; *refused is
 * the errno of the next one, or 0 where there is no room now. */
u32 ur_wire_put(int fd, struct mmsghdr *msg, u32 n, int *refused);

/* Makes the service level the priority of the socket's packets. Priority 7 is
 * for the administrator: where the kernel refuses it, the priority stays as it
 * was, a line in the log says so once, and the status shows it. */
void ur_wire_set_priority(struct ur_engine *engine, int fd, u8 sl);
/* Says that of the device, whose program has shown it. Any thread. */
void ur_wire_priority_refused(struct ur_engine *engine);

/* Makes the socket address of a GID. ifindex: its scope, where it has one (link
 * and interface). Returns its length in bytes. Any thread. */
socklen_t ur_sockaddr_of(union ur_sockaddr *sa, const u8 gid[16], u16 port,
			 u32 ifindex);
/* Make room in a socket for a window of packets, as far as the host allows. */
void ur_wire_rx_buffer(int fd);
void ur_wire_tx_buffer(int fd);

#endif
