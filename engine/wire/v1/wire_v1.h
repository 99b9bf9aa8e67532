/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The inside of the RoCEv1 wire: Ethernet frames of type 0x8915 (IBTA annex
 * A16) through packet sockets, which need CAP_NET_RAW. The kernel writes the
 * Ethernet header, and the tag where the netdev is a VLAN. A socket has one
 * priority, which is set when the service level changes.
 *
 * Frames to other engines of this device go by the loopback interface. There the source address
 * is the sender's slot. Only who has CAP_NET_RAW can forge it.
 */
#ifndef UR_ENGINE_WIRE_V1_WIRE_V1_H
#define UR_ENGINE_WIRE_V1_WIRE_V1_H

#include <linux/if_packet.h>
#include <sys/socket.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/v1/neigh.h"
#include "engine/wire/v1/v1_sockets.h"
#include "engine/wire/wire.h"
#include "transport/wire_format.h"

#define UR_V1_RX_MSGS	16u
#define UR_V1_RX_STRIDE 16384u /* a jumbo frame and more */
#define UR_V1_TX_MSGS	64u
#define UR_V1_ETH_BYTES 14u

struct ur_v1_pending;

struct ur_wire_v1 {
	struct ur_wire wire;
	struct ur_neigh *neigh;
	struct ur_watch neigh_watch; /* for late replies */
	struct ur_v1_pending *pending;
	struct ur_watch watch, lo_watch;
	u32 ifindex;	       /* that the sockets are bound to */
	int fd[UR_V1_SOCKETS]; /* -1: no address yet */
	u32 last;     /* UR_V1_RX or UR_V1_LO_RX: where frames came last */
	int priority; /* of the sending socket; -1: not known */
	bool logged_msgsize;
	u8 *rx_buf;
	struct mmsghdr rx_msg[UR_V1_RX_MSGS];
	struct iovec rx_iov[UR_V1_RX_MSGS];
	struct sockaddr_ll rx_name[UR_V1_RX_MSGS];
	struct mmsghdr tx_msg[UR_V1_TX_MSGS];
	struct iovec tx_iov[UR_V1_TX_MSGS]
			   [3]; /* Ethernet header, GRH, BTH to ICRC */
	u8 tx_eth
		[2]
		[UR_V1_ETH_BYTES]; /* on the loopback interface: to one, to a group */
	struct sockaddr_ll tx_name[UR_V1_TX_MSGS];
	u8 tx_grh[UR_V1_TX_MSGS][UR_GRH_BYTES];
};

/* wire_v1_io.c: the functions of the watches, and the wire's poll and send. */
void ur_v1_readable(struct ur_watch *watch, u32 events);
void ur_v1_lo_readable(struct ur_watch *watch, u32 events);
bool ur_v1_poll(struct ur_wire *wire);
u32 ur_v1_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first, u32 end,
	       int *wait_fd);
/* Allocates the buffers. Returns 0 or -ENOMEM. */
int ur_v1_io_init(struct ur_wire_v1 *w);
/* Makes the socket address of a MAC. */
void ur_v1_addr(const struct ur_wire_v1 *w, struct sockaddr_ll *to,
		const u8 mac[6]);
/* wire_v1_pending.c: allocates the place for frames that wait. Returns 0 or
 * -errno. */
int ur_v1_pending_init(struct ur_wire_v1 *w);
/* Frees that place, and the frames. */
void ur_v1_pending_fini(struct ur_wire_v1 *w);
/* Keeps a copy of a frame, len bytes from BTH to ICRC, until the address of its peer
 * is known, for at most a second. Returns false without room: the frame is lost. */
bool ur_v1_pending(struct ur_wire_v1 *w, const struct ur_av *av, const u8 *grh,
		   const u8 *bth, u32 len);
/* Sends the frames whose peers' addresses are known now. */
void ur_v1_pending_retry(struct ur_wire_v1 *w);
/* wire_v1.c: returns the socket that sends with that service level; -1: none. */
int ur_v1_out(struct ur_wire_v1 *w, u8 sl);
/* Returns whether this device has the address. */
bool ur_v1_is_mine(const struct ur_wire_v1 *w, const u8 gid[16]);

#endif
