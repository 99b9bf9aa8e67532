/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A wire: what carries packets between this device and others. Engine thread
 * only. A backend embeds struct ur_wire; received packets go straight to the
 * engine's port.
 */
#ifndef UR_DEVICE_WIRE_H
#define UR_DEVICE_WIRE_H

#include <netinet/in.h>
#include <sys/socket.h>
#include "transport/transport.h"

/* One UDP_SEGMENT message, at most; UDP_MAX_SEGMENTS of older kernels. */
#define UR_UDP_SEGS  64u
#define UR_UDP_BURST 65000u

union ur_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct ur_engine;
struct ur_wire;

struct ur_wire_ops {
	const char *name;
	/* A local address comes or goes. Adding one twice is counted.
	 * -EADDRINUSE after telling on stderr who has the port. */
	int (*addr_add)(struct ur_wire *wire, const u8 gid[16]);
	void (*addr_del)(struct ur_wire *wire, const u8 gid[16]);
	/* Has nobody the port now? Tried and given back at once. NULL: there
	 * is nothing that another could have. */
	bool (*addr_free)(struct ur_wire *wire, const u8 gid[16]);
	/* A multicast group, by GID; the caller counts. */
	int (*join)(struct ur_wire *wire, const u8 gid[16]);
	void (*leave)(struct ur_wire *wire, const u8 gid[16]);
	/* Could packets of av go anywhere? 0 or -ENETUNREACH and the like. */
	int (*check)(struct ur_wire *wire, const struct ur_av *av);
	/* Look at the receive queue where packets came last, without epoll. */
	bool (*poll)(struct ur_wire *wire);
	/*
	 * Send descriptors [first, end) of tx, none of them a loop packet:
	 * completes ICRCs, puts them out. Returns how many were taken: fewer
	 * than asked for means no room now, *wait_fd is to be watched. A
	 * packet that the network refuses is taken and lost.
	 */
	u32 (*send)(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		    u32 end, int *wait_fd);
	void (*destroy)(struct ur_wire *wire);
};

struct ur_wire {
	const struct ur_wire_ops *ops;
	struct ur_engine *engine;
};

/* RoCEv2 through UDP sockets. */
int ur_wire_udp_create(struct ur_engine *engine, struct ur_wire **wire);
/* RoCEv1 through packet sockets. -EPERM: without CAP_NET_RAW. */
int ur_wire_v1_create(struct ur_engine *engine, struct ur_wire **wire);

/* All that the engine's configuration asks for, by the table in wire.c. 0 or
 * -errno; then too ur_wire_destroy() takes down what there is. */
int ur_wire_create(struct ur_engine *engine);
/* The wire for address vectors of that version; NULL: the engine has none. */
struct ur_wire *ur_wire_of(const struct ur_engine *engine, bool v1);
/* The operations above on each wire that the engine has; send: descriptors of
 * the engine's own tx. */
u32 ur_wire_send(struct ur_engine *engine, u32 first, u32 end, int *wait_fd);
bool ur_wire_poll(struct ur_engine *engine);
int ur_wire_join(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_leave(struct ur_engine *engine, const u8 gid[16]);
void ur_wire_destroy(struct ur_engine *engine);

/* Send messages until one does not go. Returns how many went; *refused: why the
 * next did not, 0: no room now. */
u32 ur_wire_put(int fd, struct mmsghdr *msg, u32 n, int *refused);

/* The socket's packets are of that service level, which is its priority. 7 is
 * for the administrator: where it is refused the priority stays what it was,
 * which is said once, and shown in the status. */
void ur_wire_set_priority(struct ur_engine *engine, int fd, u8 sl);

/* Socket address of a GID; ifindex: what its scope is where it has one (link
 * and interface). Returns its length. Any thread. */
socklen_t ur_sockaddr_of(union ur_sockaddr *sa, const u8 gid[16], u16 port,
			 u32 ifindex);
/* Room in a socket for a window of packets, as far as the host allows. */
void ur_wire_rx_buffer(int fd);
void ur_wire_tx_buffer(int fd);

#endif
