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
#include "engine/engine.h"
#include "engine/slots.h"
#include "transport/transport.h"

/* Limits of a fill while a neighbour's ring is nearly full (engine->tx_little). */
#define UR_LITTLE_PACKETS 256u
#define UR_LITTLE_BYTES	  (64u << 10)

/* Limits of one UDP_SEGMENT message; UDP_MAX_SEGMENTS of older kernels. */
#define UR_UDP_SEGS  64u
#define UR_UDP_BURST 65000u

union ur_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct ur_emr;
struct ur_engine;
struct ur_grant;
struct ur_granted_ring;
struct ur_udp_pack;
struct ur_wire;

/* The frames that all flow rules together need from the netdev. */
struct ur_wire_wants {
	bool any;
	bool promisc;	/* frames to other hosts' addresses */
	bool multicast; /* frames to groups that the host has not joined */
};

/* Packets to and from other hosts. */
struct ur_wire_ops {
	const char *name;
	/* Add and remove a local address. Adds count. Adding returns 0,
	 * -EADDRINUSE after a line on stderr that names the owner of the port, or
	 * another -errno. */
	int (*addr_add)(struct ur_wire *wire, const u8 gid[16]);
	void (*addr_del)(struct ur_wire *wire, const u8 gid[16]);
	/* Returns whether the port of that address is free now, by binding it for
	 * a moment. NULL: the wire uses no ports. */
	bool (*addr_free)(struct ur_wire *wire, const u8 gid[16]);
	/* Join and leave a multicast group. The caller counts joins. Joining
	 * returns 0 or -errno. */
	int (*join)(struct ur_wire *wire, const u8 gid[16]);
	void (*leave)(struct ur_wire *wire, const u8 gid[16]);
	/* Returns 0 if packets of av can be sent, else -ENETUNREACH and the
	 * like. */
	int (*check)(struct ur_wire *wire, const struct ur_av *av);
	/* Receives from the socket where packets came last, without epoll.
	 * Returns whether there were any. */
	bool (*poll)(struct ur_wire *wire);
	/* Retries what found no room: in uroced receiving, in a program sending. Called at engine->wire_retry_at. */
	void (*retry)(struct ur_wire *wire);
	/*
	 * Completes the ICRCs of descriptors [first, end) of tx, none of them
	 * to this engine itself, and sends them. Returns how many it took; if
	 * fewer than all, there is no room now, and *wait_fd is the descriptor
	 * to watch for room. A packet that the network refuses is taken and
	 * lost.
	 */
	u32 (*send)(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		    u32 end, int *wait_fd);
	/* Sets which frames the raw wire receives; none if want->any is false.
	 * Returns 0, or -errno; then it still receives at least the frames of
	 * before. NULL in other wires. */
	int (*listen)(struct ur_wire *wire, const struct ur_wire_wants *want);
	/* The netdev has another index. NULL in a wire that depends on addresses
	 * only. */
	void (*rebind)(struct ur_wire *wire);
	void (*destroy)(struct ur_wire *wire);
};

/* Send a whole tx in three steps (core/aside.h), of which the second needs no owner lock. pack returns false if
 * the packets take different paths, or go through memory. pack_send returns how many packets have left. If fewer
 * than all, there was no room for the next one, or the kernel refused it. pack_new returns zeroed memory, which the
 * owner free()s. A wire has all four functions or none. */
struct ur_packing_ops {
	struct ur_udp_pack *(*pack_new)(void);
	bool (*pack)(struct ur_wire *wire, const struct ur_tx *tx,
		     struct ur_udp_pack *pack);
	u32 (*pack_send)(struct ur_udp_pack *pack, const struct ur_tx *tx);
	void (*pack_end)(struct ur_udp_pack *pack);
};

/* Packets to and from engines of the same host, for a program. Each may be NULL. */
struct ur_near_ops {
	/* Adds an address with its granted socket, which becomes the wire's. Returns 0 or -errno. */
	int (*use_gid)(struct ur_wire *wire, const u8 gid[16], int fd);
	/* Returns whether this device has the address. Any thread. */
	bool (*is_here)(const struct ur_wire *wire, const u8 gid[16]);
	/* Returns the number of the grant whose slot has that queue pair number at that address, or 0. NULL: there are no
	 * grants. */
	u32 (*grant_id)(const struct ur_wire *wire, const u8 gid[16], u32 qpn);
	/* Attaches the rings between the engines in two slots; the descriptors stay the caller's. Returns 0 or -errno.
	 * has_ring returns whether it has the rings with the present holder of slot peer. */
	int (*use_ring)(struct ur_wire *wire,
			const struct ur_granted_ring *ring);
	bool (*has_ring)(struct ur_wire *wire, u32 peer);
	/* As in struct ur_host_ops. NULL: no packet is split. */
	u8 *(*payload_room)(struct ur_wire *wire, const struct ur_av *av,
			    u32 dqpn, u32 len);
	/* payload_place, payload_taken_back: as in struct ur_host_ops. hide ends the export of a region that is being
	 * deregistered. A wire has all three or none. */
	const u8 *(*payload_place)(struct ur_wire *wire, const struct ur_av *av,
				   u32 dqpn, struct ur_emr *mr, u64 off,
				   u32 len);
	void (*payload_taken_back)(struct ur_wire *wire);
	void (*hide)(struct ur_wire *wire, const struct ur_emr *mr);
	/* As in struct ur_host_ops. */
	bool (*holds)(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
		      bool datagram);
	bool (*unread)(struct ur_wire *wire, const struct ur_av *av, u32 dqpn);
	/* waits: returns whether packets wait in memory, where epoll does not show them.
	 * sleeps: publishes whether a sender has to wake the engine. NULL: the wire
	 * receives nothing through memory. */
	bool (*waits)(const struct ur_wire *wire);
	void (*sleeps)(struct ur_wire *wire, bool asleep);
};

/* Functions of uroced's wires for grants to programs. A wire has all of them or none. */
struct ur_granting_ops {
	/* Puts in *fd the socket of that slot for one of the wire's addresses, or -1 if the slot has a relay. The socket
	 * stays the wire's. Returns 0 or -errno. */
	int (*grant)(struct ur_wire *wire, const u8 gid[16], u32 slot, int *fd);
	/* Ends the use of the slot's sockets. They stay for the next holder; the wire
	 * receives what is still in them. */
	void (*grant_end)(struct ur_wire *wire, u32 slot);
	/* Grants a port and fills in file, device, port and out of *grant for
	 * grant->slot, in place of an earlier grant. Returns 0 or -errno. */
	int (*grant_port)(struct ur_wire *wire, struct ur_grant *grant);
	/* Makes the relay's ring for a slot without sockets and fills in its files; far: also the
	 * outbox. Returns 0 or -errno. */
	int (*grant_relay)(struct ur_wire *wire, struct ur_grant *grant,
			   bool far);
	/* Joins a multicast group for a slot with an outbox, or leaves it: its packets go to the slot's ring. Joins count.
	 * Joining returns 0 or -errno. */
	int (*grant_group)(struct ur_wire *wire, u32 slot, const u8 gid[16],
			   bool joins);
	/* Fills *ring with the rings between the engines in two slots, for the program in slot, once. Returns 0 or -errno. */
	int (*grant_ring)(struct ur_wire *wire, u32 slot, u32 peer,
			  struct ur_granted_ring *ring);
	/* Recovery is complete: ends grants of an earlier uroced that are not in use, or not
	 * of these slots. */
	void (*recovery_done)(struct ur_wire *wire,
			      const struct ur_slot_set *slots);
	/* Sends the packets in the outboxes of programs in other network namespaces (local/udp_outbox.h), if
	 * engine->forwards is not 0. Returns whether there were any. */
	bool (*forward)(struct ur_wire *wire);
};

struct ur_wire {
	const struct ur_wire_ops *ops;
	/* ur_no_packing, ur_no_near, ur_no_granting: the wire has none. */
	const struct ur_packing_ops *packing;
	const struct ur_near_ops *near;
	const struct ur_granting_ops *granting;
	struct ur_engine *engine;
};

extern const struct ur_packing_ops ur_no_packing;
extern const struct ur_near_ops ur_no_near;
extern const struct ur_granting_ops ur_no_granting;

/* Makes the RoCEv2 wire, over UDP sockets, in *wire. Returns 0 or -errno. */
int ur_wire_udp_create(struct ur_engine *engine, struct ur_wire **wire);
#if UROCE_WITH_ROCE_V1
/* v1/wire_v1.c: makes the RoCEv1 wire, over packet sockets, in *wire. Returns 0,
 * -EPERM (no CAP_NET_RAW) or another -errno. */
int ur_wire_v1_create(struct ur_engine *engine, struct ur_wire **wire);
/* Makes the sockets for an engine in a slot; they are the caller's. Returns 0 or -errno. */
int ur_wire_v1_grant(struct ur_engine *engine, u32 slot, int fd[UR_V1_SOCKETS]);
#else
static inline int ur_wire_v1_create(struct ur_engine *engine,
				    struct ur_wire **wire)
{
	return -EOPNOTSUPP;
}
static inline int ur_wire_v1_grant(struct ur_engine *engine, u32 slot,
				   int fd[UR_V1_SOCKETS])
{
	return -EOPNOTSUPP;
}
#endif

/* Makes all wires that the engine's configuration asks for, by the table in
 * wire.c. Returns 0 or -errno; even after an error the caller must call
 * ur_wire_destroy(). */
int ur_wire_create(struct ur_engine *engine);
/* Returns the wire for address vectors of that version, or NULL. */
struct ur_wire *ur_wire_of(const struct ur_engine *engine, bool v1);
/* Do the operations above on each wire that the engine has. Sending takes
 * descriptors of the engine's own tx. */
u32 ur_wire_send(struct ur_engine *engine, u32 first, u32 end, int *wait_fd);
bool ur_wire_poll(struct ur_engine *engine);
bool ur_wire_waits(const struct ur_engine *engine);
void ur_wire_sleeps(struct ur_engine *engine, bool asleep);
void ur_wire_retry(struct ur_engine *engine);
bool ur_wire_forward(struct ur_engine *engine);
void ur_wire_rebind(struct ur_engine *engine);
int ur_wire_join(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_leave(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_destroy(struct ur_engine *engine);
/* Closes the RoCEv2 sockets of all lost addresses. Any thread. */
void ur_wire_udp_end_away(struct ur_wire *wire);
/* Fills in slot, slot_bits, grant_id and realm of *meta for a packet of the engine in that slot of this
 * device; 0: the device's own. */
void ur_wire_udp_sender(struct ur_wire *wire, u32 slot,
			struct ur_rx_meta *meta);
/* In a program: returns the index of the netdev that the device is on, or 0. */
u32 ur_wire_udp_netdev(struct ur_wire *wire);

/* Sends messages until one fails. Returns how many were sent; *refused is the errno
 * of the failed one, or 0 if there is no room now. */
u32 ur_wire_put(int fd, struct mmsghdr *msg, u32 n, int *refused);

/* Sets the socket's priority to the service level. Priority 7 takes a privilege: if
 * the kernel refuses it, the priority stays as it was, which is logged once and
 * shown by the status. */
void ur_wire_set_priority(struct ur_engine *engine, int fd, u8 sl);
/* Logs that for a device of which a program has reported it. Any thread. */
void ur_wire_priority_refused(struct ur_engine *engine);

/* Makes the socket address of a GID. ifindex: the scope of a link-local or
 * interface-local one. Returns its length in bytes. Any thread. */
socklen_t ur_sockaddr_of(union ur_sockaddr *sa, const u8 gid[16], u16 port,
			 u32 ifindex);
/* Enlarge a socket's buffer to a window of packets, as far as the host allows. */
void ur_wire_rx_buffer(int fd);
void ur_wire_tx_buffer(int fd);
/* Binds a packet socket to an interface and a type of frames, in host order; 0: it receives
 * nothing. Returns 0 or -errno. */
int ur_wire_bind(int fd, u32 ifindex, u16 type);

#endif
