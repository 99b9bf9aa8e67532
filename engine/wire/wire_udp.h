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
 * with each message: see udp_own.h.
 */
#ifndef UR_ENGINE_WIRE_WIRE_UDP_H
#define UR_ENGINE_WIRE_WIRE_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/udp_group.h"
#include "engine/wire/udp_ids.h"
#include "engine/local/udp_outbox.h"
#include "engine/wire/udp_own.h"
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
/* Pieces of these: a datagram of the most packets, of which none are back to back, fits always. */
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
	int fd; /* -1: what comes to it is in a ring */
	struct ur_udp_relay
		*relay; /* of a slot that has one, which gets what comes */
};

/* A sending socket. */
struct ur_udp_out {
	int fd;	   /* -1: free entry */
	int guard; /* holds the port for IPv6, when fd is IPv4; -1: none */
	bool lent; /* for peers of this host, of each address and class */
	bool copy; /* of such a one, for peers elsewhere: ur_udp_is_away() */
	u32 gen;
	u8 sgid[16];
	u8 traffic_class, sl;
	u16 asked; /* source port of the av */
	u16 sport; /* the one it got */
	bool no_gso;
	bool no_label; /* IPv6 flow labels are others' here */
	u64 used;      /* for LRU */
};

struct ur_udp_peer {
	u8 gid[16];
	u32 own_gen; /* of the addresses when this was found out: */
	bool here;   /* an address of this very device */
	bool own;    /* of a device of this host */
	u32 device;  /* which one; 0: one that lends nothing, or none */
	struct ur_udp_ids ids;
};

/* A socket that a program is woken by, where the device has those of its addresses. */
struct ur_udp_woken {
	struct ur_watch watch;
	int fd;
	struct ur_engine *engine; /* of one that hangs up */
};

struct ur_wire_udp {
	struct ur_wire wire;
	struct ur_list addrs;
	struct ur_udp_addr *hot; /* where packets came last */
	u32 lrh_crc;
	/* Difference that an identification makes to the CRC of IPv4 and UDP
	 * headers. */
	u32 id_crc[UR_UDP_SEGS];
	/* It says which addresses and ports are ours, and this device has that
	 * number there. In a program it is the device's. */
	const struct ur_udp_own *own;
	u32 device;
	struct ur_udp_group *group; /* NULL: no address has several sockets */
	u32 own_gen; /* of the addresses by which sockets were chosen */
	u64 clock;
	struct ur_udp_out outs[UR_UDP_OUTS];
	struct ur_udp_out lent[2]; /* an engine's in a program: v6, v4 */
	int lent_to[UR_SLOTS][2];  /* a device's copies, by slot */
	/* A device's: NULL before the first is lent. */
	struct ur_udp_lent_pair (*lent_pairs)[UR_PLACES];
	/* The first engine's, of a device, by slot; and sockets that wake programs: v6, v4. */
	struct ur_udp_relay *relays[UR_SLOTS];
	/* What receives for all small slots of a place. */
	struct ur_udp_relay *shared[UR_SHARED_PLACES];
	int wakes[2];
	ur_time woke[UR_SLOTS];
	struct ur_udp_outbox *outboxes[UR_SLOTS];
	struct ur_slot_set forwarding; /* whose outboxes are emptied */
	u32 outbox_next;	       /* to be emptied */
	struct ur_slot_set
		relayed; /* something was put that is not shown yet */
	/* A program's, by the other's slot, and which there are, a bit each. The device's is what has
	 * come from the wire, where it gets no sockets. */
	struct ur_udp_pair *pairs[UR_PLACES];
	u32 paired;
	struct ur_udp_held held;
	struct ur_udp_pair *ended; /* to be closed by this: */
	struct ur_chore close_ended;
	struct ur_udp_woken woken[2];
	int door; /* wakes the device, where all that leaves goes by it; else -1 */
	u64 refusal; /* its last word about that (udp_outbox.h) */
	ur_time refused;
	ur_time asked; /* the sockets, by one that has pairs */
	ur_time last_datagram;
	ur_time last_ring; /* something came in a ring */
	struct ur_udp_peer peers[UR_UDP_PEERS];
	struct ur_icrc_cache *icrc_cache;
	u8 *rx_buf;
	u32 rx_batch;
	struct mmsghdr rx_msg[UR_UDP_RX_MSGS];
	struct iovec rx_iov[UR_UDP_RX_MSGS];
	union ur_sockaddr rx_name[UR_UDP_RX_MSGS];
	u8 rx_ctrl[UR_UDP_RX_MSGS][UR_UDP_CTRL] __attribute__((aligned(8)));
	struct mmsghdr tx_msg[UR_UDP_TX_MSGS];
	struct iovec tx_iov[UR_UDP_TX_IOVS];
	union ur_sockaddr tx_name[UR_UDP_TX_MSGS];
	u8 tx_ctrl[UR_UDP_TX_MSGS][UR_UDP_CTRL] __attribute__((aligned(8)));
	u32 tx_count[UR_UDP_TX_MSGS]; /* packets of each message */
	bool said_msgsize;
};

/* udp_sockets.c: makes the socket address of a GID on the wire's netdev. Returns its
 * length. */
socklen_t ur_udp_sockaddr(const struct ur_wire_udp *w, union ur_sockaddr *sa,
			  const u8 gid[16], u16 port);
/* Returns a new socket that is a member of that group, or -errno. */
int ur_udp_open_group(const struct ur_wire_udp *w, const u8 gid[16]);
/* Returns the receiving socket of that address or group, or NULL: of a list, or of the wire. */
struct ur_udp_addr *ur_udp_find_in(const struct ur_list *addrs,
				   const u8 gid[16]);
static inline struct ur_udp_addr *ur_udp_find(const struct ur_wire_udp *w,
					      const u8 gid[16])
{
	return ur_udp_find_in(&w->addrs, gid);
}
/* Returns a new datagram socket, or -errno. */
int ur_udp_open(bool v4);
/* Returns whether a socket of this program is in another network namespace than those that it
 * was lent: the thread that made it has left the device's. */
bool ur_udp_is_away(const struct ur_wire_udp *w, int fd);
/* Sets an option of a socket that takes an int. Returns 0 or -errno. */
int ur_udp_set(int fd, int level, int name, int value);

/* Sets the options of a receiving socket. */
void ur_udp_set_rx(const struct ur_wire_udp *w, int fd, bool v4);
/* Lets datagrams that wake come in at that socket, and no others. Returns 0 or -errno. */
int ur_udp_let_wakes_in(int fd);
/* wire_udp_lend.c: the wire's lend, lend_end and lend_group. */
int ur_udp_lend(struct ur_wire *wire, const u8 gid[16], u32 slot, int *fd);
void ur_udp_lend_end(struct ur_wire *wire, u32 slot);
int ur_udp_lend_group(struct ur_wire *wire, u32 slot, const u8 gid[16],
		      bool joins);
/* Shows programs what was put into their rings, and wakes those that sleep; a: the address where that
 * came. */
void ur_udp_show_relayed(struct ur_wire_udp *w, const struct ur_udp_addr *a);
/* The wire's lend_port and is_here. */
int ur_udp_lend_port(struct ur_wire *wire, struct ur_lent *lent);
/* The wire's loan. */
u32 ur_udp_loan(const struct ur_wire *wire, const u8 gid[16], u32 qpn);
/* The wire's settle. */
void ur_udp_settle(struct ur_wire *wire, const struct ur_slot_set *slots);
bool ur_udp_is_here(const struct ur_wire *wire, const u8 gid[16]);
/* Find the file of addresses and ports, and give back what the wire has of it: what it has lent, or,
 * in a program, its copies of what was lent to it. The first returns 0 or
 * -errno. */
int ur_udp_find_own(struct ur_wire_udp *w);
void ur_udp_lose_own(struct ur_wire_udp *w);

/* udp_icrc.c: the fields of a flow that the ICRC covers. */
struct ur_udp_flow {
	const u8 *sgid, *dgid;
	u16 sport;
	bool v4;
};
/* Fills lrh_crc and id_crc. */
void ur_udp_icrc_init(struct ur_wire_udp *w);
/* Returns the CRC of dummy LRH, IP and UDP header of a packet that has len
 * bytes from BTH to pad. id: the IPv4 identification; that of a packet in a
 * burst may also be put in afterwards, by xor with id_crc. */
u32 ur_udp_icrc_headers(const struct ur_wire_udp *w,
			const struct ur_udp_flow *flow, u32 len, u16 id);

/* wire_udp_out.c: returns the socket for packets of av, or NULL where they
 * cannot be sent now. It is good until the next call. */
struct ur_udp_out *ur_udp_out(struct ur_wire_udp *w, struct ur_av *av);
/* Closes such a socket. */
void ur_udp_close_out(struct ur_wire_udp *w, struct ur_udp_out *out);
/* Returns a new sending socket, which is bound to nothing, or -errno. */
int ur_udp_open_out(const struct ur_wire_udp *w, bool v4);
/* Binds fd, of the family, to the port at every address. Returns 0 or -errno. */
int ur_udp_bind_any(int fd, bool v4, u16 port);

/* wire_udp_poll.c: the function of a receiving socket's watch. */
void ur_udp_readable(struct ur_watch *watch, u32 events);
/* The wire's poll. */
bool ur_udp_poll(struct ur_wire *wire);
/* Takes what is in a socket of that address that another engine had. */
void ur_udp_take_left(struct ur_wire_udp *w, const u8 gid[16], int fd);
/* Allocates the receive buffers. Returns 0 or -ENOMEM. */
int ur_udp_rx_init(struct ur_wire_udp *w);
/* wire_udp_rx.c: takes a datagram that came at one of our addresses or groups: packets of seg bytes each, but
 * the last, which may be shorter; first: the place of the first one in its burst. Writes to *meta. */
void ur_udp_take_datagram(struct ur_wire_udp *w, bool mcast,
			  struct ur_rx_meta *meta, u8 *data, u32 len, u32 seg,
			  u32 first);
/* The same of packets that uroced has received for us. */
void ur_udp_take_relayed(struct ur_wire_udp *w, bool mcast,
			 const struct ur_rx_meta *meta, u8 *data, u32 len,
			 u32 seg, u32 first);
/* Takes packets that came together and that nobody can have damaged: seg bytes each, but the
 * last, which may be shorter, with four bytes behind that are no ICRC. */
void ur_udp_take(struct ur_wire_udp *w, const struct ur_rx_meta *meta, u8 *data,
		 u32 len, u32 seg);
/* wire_udp_tx.c: the wire's send. */
u32 ur_udp_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		u32 end, int *wait_fd);
/* wire_port.c: says on stderr who has UDP port 4791 of that address, and what
 * to do. */
void ur_port_owner_report(const char *address, const char *netdev);

#endif
