/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The inside of the UDP wire: RoCEv2 over ordinary, unprivileged sockets.
 *
 * Receive: one socket for each local address, bound to ADDR:4791; one for each
 * multicast group. Send: one socket for each (local address, UDP source port,
 * traffic class, service level: a socket has one priority, which becomes the
 * PCP of a VLAN), unconnected and with IP_PMTUDISC_DO, because then the kernel
 * gives IPv4 identification 0 (0..k-1 within a UDP_SEGMENT burst) and the ICRC,
 * which covers it, can be computed beforehand. The UDP checksum, masked in the
 * ICRC, is left to the kernel: UDP_SEGMENT does not go with SO_NO_CHECK, and
 * devices offload it. They are bound to the port at all addresses, of both
 * families, so that nobody else can send from it, and the source address goes
 * with each message: see udp_local.h.
 */
#ifndef UR_ENGINE_WIRE_WIRE_UDP_H
#define UR_ENGINE_WIRE_WIRE_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/udp_group.h"
#include "engine/wire/udp_ids.h"
#include "engine/local/udp_outbox.h"
#include "engine/wire/udp_local.h"
#include "engine/local/udp_pair.h"
#include "engine/local/udp_relay.h"
#include "engine/wire/wire.h"
#include "transport/icrc.h"

#define UR_UDP_OUTS	 256u
#define UR_UDP_RX_MSGS	 16u
#define UR_UDP_RX_STRIDE 65536u
#define UR_UDP_CTRL	 128u
#define UR_UDP_PEERS	 1024u
#define UR_UDP_TX_MSGS	 64u
/* Entries of tx_iov: a datagram of UR_UDP_SEGS packets always fits, even if none are back to back. */
#define UR_UDP_TX_IOVS 512u

/* linux/in6.h, which does not go with netinet/in.h. */
#ifndef IPV6_FLOWINFO
#define IPV6_FLOWINFO 11
#endif
#ifndef IPV6_FLOWINFO_SEND
#define IPV6_FLOWINFO_SEND 33
#endif
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif

/* A receiving socket. */
struct ur_udp_addr {
	struct ur_list node;
	struct ur_wire_udp *wire;
	struct ur_watch watch;
	u8 gid[16];
	bool v4, mcast;
	u32 refs;
	int fd; /* -1: its packets come in the relay's ring */
	struct ur_udp_relay *relay; /* gets its packets, or NULL */
};

/* A sending socket. */
struct ur_udp_out {
	int fd;	      /* -1: free entry */
	int guard;    /* holds the port for IPv6, when fd is IPv4; -1: none */
	bool granted; /* granted by the device, for all peers on this host */
	bool copy; /* a copy of a granted socket, for peers on other hosts: ur_udp_is_away() */
	u32 gen;
	u8 sgid[16];
	u8 traffic_class, sl;
	u16 asked; /* source port that the av asked for */
	u16 sport; /* the port that it is bound to */
	bool no_gso;
	bool no_label; /* the kernel refused an IPv6 flow label */
	u64 used;      /* for LRU */
	u32 packs;     /* packs that leave by it now, which stays open */
};

struct ur_udp_peer {
	u8 gid[16];
	u32 local_gen; /* generation of the addresses that the next fields are from */
	bool here;  /* an address of this device */
	bool local; /* an address of a device of this host */
	u32 device; /* that device; 0: none, or one that grants no slots */
	struct ur_udp_ids ids;
};

/* A socket whose datagrams wake a program that has no receiving sockets. */
struct ur_udp_woken {
	struct ur_watch watch;
	int fd;
	struct ur_engine *engine; /* set if the socket can hang up */
};

/* The fields of a flow that the ICRC covers. */
struct ur_udp_flow {
	const u8 *sgid, *dgid;
	u16 sport;
	bool v4;
};

/* Datagrams that leave by one socket. */
struct ur_udp_messages {
	struct mmsghdr msg[UR_UDP_TX_MSGS];
	struct iovec iov[UR_UDP_TX_IOVS];
	union ur_sockaddr name[UR_UDP_TX_MSGS];
	u8 ctrl[UR_UDP_TX_MSGS][UR_UDP_CTRL] __attribute__((aligned(8)));
	u32 count[UR_UDP_TX_MSGS]; /* packets of each */
};

/* All packets of a ur_tx, to be sent without the owner lock. */
struct ur_udp_pack {
	struct ur_udp_messages m;
	struct ur_icrc_cache icrc_cache;
	const struct ur_wire_udp *wire;
	struct ur_udp_out *out;
	struct ur_udp_flow
		flow; /* names the addresses of the first packet's av */
	u32 n;	      /* messages */
};

struct ur_wire_udp {
	struct ur_wire wire;
	struct ur_list addrs;
	struct ur_udp_addr *hot; /* where packets came last */
	u32 lrh_crc;
	/* Difference by an identification in the CRC of IPv4 and UDP headers. */
	u32 id_crc[UR_UDP_SEGS];
	/* Table of this host's addresses and ports, and the device's number in it.
	 * A program has its device's. */
	const struct ur_udp_local *local;
	u32 device;
	struct ur_udp_group *group; /* NULL: no address has several sockets */
	u32 local_gen; /* generation of the addresses that outs were chosen by */
	u64 clock;
	struct ur_udp_out outs[UR_UDP_OUTS];
	struct ur_udp_out granted[2]; /* a program's granted sockets: v6, v4 */
	int granted_to[UR_SLOTS][2]; /* the device's copies of these, by slot */
	/* A device's records of pairs; NULL before the first grant. */
	struct ur_udp_granted_pair (*granted_pairs)[UR_PLACES];
	/* In uroced: the relay of each slot. */
	struct ur_udp_relay *relays[UR_SLOTS];
	/* The relay that all small slots of a place share. */
	struct ur_udp_relay *shared[UR_SHARED_PLACES];
	int wakes[2];		/* sockets that wake programs: v6, v4 */
	ur_time woke[UR_SLOTS]; /* last wake-up of the slot's program */
	struct ur_udp_outbox *outboxes[UR_SLOTS];
	struct ur_slot_set forwarding; /* slots whose outboxes are emptied */
	u32 outbox_next;	       /* where the next round begins */
	struct ur_slot_set relayed;    /* slots with unpublished records */
	/* A program's pairs, by the neighbour's slot; paired: a bit for each that
	 * exists. Pair 0 is the relay of a program without receiving sockets. */
	struct ur_udp_pair *pairs[UR_PLACES];
	u32 paired;
	struct ur_udp_held held;
	struct ur_udp_pair *ended; /* pairs that close_ended will close */
	struct ur_chore close_ended;
	struct ur_udp_woken woken[2];
	int wake_fd; /* with an outbox: the eventfd that wakes the device; else -1 */
	u64 refusal; /* last refusal read from the outbox (local/udp_outbox.h) */
	ur_time refused;       /* when it was first read */
	ur_time asked;	       /* last poll of all sockets, in a program */
	ur_time last_datagram; /* last packet from a socket or the relay */
	ur_time last_ring;     /* last record from a ring */
	struct ur_udp_peer peers[UR_UDP_PEERS];
	struct ur_icrc_cache *icrc_cache;
	u8 *rx_buf;
	u32 rx_batch;
	struct mmsghdr rx_msg[UR_UDP_RX_MSGS];
	struct iovec rx_iov[UR_UDP_RX_MSGS];
	union ur_sockaddr rx_name[UR_UDP_RX_MSGS];
	u8 rx_ctrl[UR_UDP_RX_MSGS][UR_UDP_CTRL] __attribute__((aligned(8)));
	struct ur_udp_messages tx;
	bool logged_msgsize;
};

/* udp_sockets.c: makes the socket address of a GID on the wire's netdev. Returns its
 * length. */
socklen_t ur_udp_sockaddr(const struct ur_wire_udp *w, union ur_sockaddr *sa,
			  const u8 gid[16], u16 port);
/* Returns a new socket that is a member of that group, or -errno. */
int ur_udp_open_group(const struct ur_wire_udp *w, const u8 gid[16]);
/* Return the receiving socket of that address or group, or NULL: in a list; of the wire. */
struct ur_udp_addr *ur_udp_find_in(const struct ur_list *addrs,
				   const u8 gid[16]);
static inline struct ur_udp_addr *ur_udp_find(const struct ur_wire_udp *w,
					      const u8 gid[16])
{
	return ur_udp_find_in(&w->addrs, gid);
}
/* Returns a new datagram socket, or -errno. */
int ur_udp_open(bool v4);
/* Returns whether a socket of this program is in another network namespace than its granted sockets:
 * the thread that made it has left the device's namespace. */
bool ur_udp_is_away(const struct ur_wire_udp *w, int fd);
/* Sets a socket option of type int. Returns 0 or -errno. */
int ur_udp_set(int fd, int level, int name, int value);

/* Sets the options of a receiving socket. */
void ur_udp_set_rx(const struct ur_wire_udp *w, int fd, bool v4);
/* Makes the socket receive wake-up datagrams, and no others. Returns 0 or -errno. */
int ur_udp_let_wakes_in(int fd);
/* wire_udp_grant.c: the wire's grant, grant_end and grant_group. */
int ur_udp_grant(struct ur_wire *wire, const u8 gid[16], u32 slot, int *fd);
void ur_udp_grant_end(struct ur_wire *wire, u32 slot);
int ur_udp_grant_group(struct ur_wire *wire, u32 slot, const u8 gid[16],
		       bool joins);
/* Publishes the records in the relays' rings, and wakes sleeping programs. a: the address where the
 * packets arrived. */
void ur_udp_show_relayed(struct ur_wire_udp *w, const struct ur_udp_addr *a);
/* The wire's grant_port and is_here. */
int ur_udp_grant_port(struct ur_wire *wire, struct ur_grant *grant);
/* The wire's grant_id. */
u32 ur_udp_grant_id(const struct ur_wire *wire, const u8 gid[16], u32 qpn);
/* The wire's recovery_done. */
void ur_udp_recovery_done(struct ur_wire *wire,
			  const struct ur_slot_set *slots);
bool ur_udp_is_here(const struct ur_wire *wire, const u8 gid[16]);
/* ur_udp_find_local() finds the table of addresses and ports. Returns 0 or -errno. ur_udp_lose_local() ends
 * the device's grants, or, in a program, closes its copies of the granted sockets. */
int ur_udp_find_local(struct ur_wire_udp *w);
void ur_udp_lose_local(struct ur_wire_udp *w);

/* udp_icrc.c: fills lrh_crc and id_crc. */
void ur_udp_icrc_init(struct ur_wire_udp *w);
/* Returns the CRC of the dummy LRH, IP and UDP header of a packet with len bytes
 * from BTH to pad. id: the IPv4 identification; id 0 xor id_crc[i] gives the CRC of
 * packet i of a burst. */
u32 ur_udp_icrc_headers(const struct ur_wire_udp *w,
			const struct ur_udp_flow *flow, u32 len, u16 id);

/* wire_udp_out.c: returns the socket for packets of av, or NULL where they
 * cannot be sent now. It is good until the next call. */
struct ur_udp_out *ur_udp_out(struct ur_wire_udp *w, struct ur_av *av);
/* Closes a sending socket and frees its entry. */
void ur_udp_close_out(struct ur_wire_udp *w, struct ur_udp_out *out);
/* Returns a new unbound sending socket, or -errno. */
int ur_udp_open_out(const struct ur_wire_udp *w, bool v4);
/* Binds fd to the port at all addresses of its family. Returns 0 or -errno. */
int ur_udp_bind_any(int fd, bool v4, u16 port);

/* wire_udp_poll.c: the function of a receiving socket's watch. */
void ur_udp_readable(struct ur_watch *watch, u32 events);
/* The wire's poll. */
bool ur_udp_poll(struct ur_wire *wire);
/* Receives what is left in a socket of that address whose slot has ended. */
void ur_udp_take_left(struct ur_wire_udp *w, const u8 gid[16], int fd);
/* Allocates the receive buffers. Returns 0 or -ENOMEM. */
int ur_udp_rx_init(struct ur_wire_udp *w);
/* wire_udp_rx.c: handles a datagram that arrived at one of our addresses or groups. Its packets have seg bytes each;
 * the last may be shorter. first: index of the first one in its burst. Writes to *meta. */
void ur_udp_take_datagram(struct ur_wire_udp *w, bool mcast,
			  struct ur_rx_meta *meta, u8 *data, u32 len, u32 seg,
			  u32 first);
/* Does the same with packets of the relay. */
void ur_udp_take_relayed(struct ur_wire_udp *w, bool mcast,
			 const struct ur_rx_meta *meta, u8 *data, u32 len,
			 u32 seg, u32 first);
/* Handles packets that came through memory: seg bytes each; the last may be shorter. Four unused
 * bytes stand in place of each ICRC. */
void ur_udp_take(struct ur_wire_udp *w, const struct ur_rx_meta *meta, u8 *data,
		 u32 len, u32 seg);
/* wire_udp_tx.c: the wire's send. */
u32 ur_udp_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		u32 end, int *wait_fd);
/* The wire's pack_new, pack, pack_send and pack_end. */
struct ur_udp_pack *ur_udp_pack_new(void);
bool ur_udp_pack(struct ur_wire *wire, const struct ur_tx *tx,
		 struct ur_udp_pack *pack);
u32 ur_udp_pack_send(struct ur_udp_pack *pack, const struct ur_tx *tx);
void ur_udp_pack_end(struct ur_udp_pack *pack);
/* wire_port.c: prints to stderr which process has UDP port 4791 of that address, and
 * what to do. */
void ur_port_owner_report(const char *address, const char *netdev);

#endif
