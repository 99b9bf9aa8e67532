/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pair of rings (peer_ring.h) between the engines of two programs on one device. The device
 * makes the files and grants them to both programs. Packets take the rings instead of the loopback
 * interface once both have them. Only the program in a slot writes its ring, so the ring proves the
 * sender as the slot's port does (udp_local.h), until the slot is granted again. Each two grants have
 * new files.
 *
 * A datagram on the loopback interface wakes a sleeping reader, or a writer that waits for room. With
 * a descriptor that both have, either could make the other's write block.
 *
 * Thread: the engine's, unless a function says otherwise.
 */
#ifndef UR_ENGINE_LOCAL_UDP_PAIR_H
#define UR_ENGINE_LOCAL_UDP_PAIR_H

#include "engine/inproc/chores.h"
#include "engine/engine_grant.h"
#include "engine/ground/shared_file.h"
#include "engine/local/peer_ring.h"
#include "engine/local/udp_shown.h"
#include "transport/transport.h"

struct ur_wire;
struct ur_wire_udp;

/* The device's record of a pair: its files, and which program has them. Index 0 is the lower slot. */
struct ur_udp_granted_pair {
	u32 grant_id[2]; /* the grants that the files belong to */
	bool took[2];
	int words;	 /* -1: not made, or both programs have the files */
	int out[2];	 /* the file that each writes */
	int out_read[2]; /* the same file, opened to read */
};

/* Progress of the reader of a full ring: when it last read anything, and when it last read much. */
struct ur_udp_full {
	bool is;
	u32 asked_at; /* out.seen when we last asked for a wake-up */
	u32 moved_at, took_at;
	ur_time moved, took;
};

/* Bit masks of a program's neighbours. little: their rings are nearly full. all: no packet is made for them now.
 * datagrams: no datagram is. said: the port knows the masks. freed: some bits were cleared since. */
struct ur_udp_held {
	u32 little, all, datagrams;
	bool said, freed;
};

/* A program's side of a pair. Slot 0 is the device: its ring is the relay (udp_relay.h), and nothing goes to it
 * this way. */
struct ur_udp_pair {
	u32 slot; /* the neighbour's */
	u32 grant_id;
	u16 port;     /* the neighbour's */
	bool relayed; /* the neighbour is woken at that port */
	void *words, *out_file;
	const void *in_file;
	int out_fd, in_fd;
	struct ur_peer_out out;
	struct ur_peer_in in;
	bool put; /* records are not published yet */
	struct ur_udp_full full;
	u32 due; /* exported files, a bit each, whose record found the ring full */
	/* A wake-up goes from one of these addresses of the device to the other. */
	u8 addrs[2][16];
	bool has_addrs;
	ur_time asked; /* when the last wake-up left */
	u32 known_gen; /* generation of the addresses in "known"; 0: none */
	u8 known[2][16];
	/* Regions exported to the neighbour, and files that it exports to us. */
	struct ur_udp_shown shown[UR_PEER_FILES];
	u32 shown_ever;
	bool same_user, may; /* may: this program may export and map */
	u8 kin;		     /* enum ur_udp_kin */
	struct ur_udp_liveness liveness;
	struct ur_seen_file seen[UR_PEER_FILES];
	/* A bit for each index with a report that was not handled yet: the file there before must not be read. */
	u32 news;
	struct ur_shown_file said[UR_PEER_FILES];
	struct ur_chore look, see; /* udp_shown.c, udp_seen.c */
	struct ur_udp_pair *next;  /* in the list of ended pairs */
};

/* grant_ring() of the device's wire. The second closes all of the device's records. */
int ur_udp_grant_ring(struct ur_wire *wire, u32 slot, u32 peer,
		      struct ur_granted_ring *ring);
void ur_udp_close_granted_pairs(struct ur_wire_udp *w);

/* payload_room(), use_ring(), has_ring(), waits() and sleeps() of a program's wire. */
u8 *ur_udp_payload_room(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			u32 len);
/* payload_room() towards a neighbour whose pair carries packets. */
u8 *ur_udp_pair_payload_room(struct ur_wire_udp *w, const struct ur_av *av,
			     u32 dqpn, u32 len);
int ur_udp_use_ring(struct ur_wire *wire, const struct ur_granted_ring *ring);
bool ur_udp_has_ring(struct ur_wire *wire, u32 peer);
/* Attaches the relay's ring. Called once, with the granted sockets. The descriptors stay the caller's. Returns 0 or
 * -errno. */
int ur_udp_use_relay(struct ur_wire_udp *w, const struct ur_grant *grant);
bool ur_udp_pairs_wait(const struct ur_wire *wire);
void ur_udp_pairs_sleep(struct ur_wire *wire, bool asleep);

/* Returns the pair whose ring packet i of tx takes, or NULL. The packet goes to an engine of this host. */
struct ur_udp_pair *ur_udp_pair_for(struct ur_wire_udp *w,
				    const struct ur_tx *tx, u32 i);
/* Writes packets first to end of tx into the ring; drops those that find no room. Returns how many it took. */
u32 ur_udp_pair_send(struct ur_wire_udp *w, struct ur_udp_pair *pair,
		     const struct ur_tx *tx, u32 first, u32 end);

/* holds() of the wire, and retry() of a program's: resumes sending to neighbours whose rings have room again. */
bool ur_udp_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
		  bool datagram);
void ur_udp_pairs_retry(struct ur_wire_udp *w);
/* unread() of a program's wire, and the same towards a neighbour whose pair carries packets. */
bool ur_udp_unread(struct ur_wire *wire, const struct ur_av *av, u32 dqpn);
bool ur_udp_pair_unread(struct ur_wire_udp *w, const struct ur_av *av,
			u32 dqpn);

/* udp_pair_room.c: returns whether packets to that queue pair wait for room. Its pair carries packets. */
bool ur_udp_pair_holds(const struct ur_wire_udp *w, u32 dqpn, bool datagram);
/* Forgets the room of the pair with that slot: it ends. */
void ur_udp_pair_forget(struct ur_wire_udp *w, u32 slot);
/* Records were written into its ring. */
void ur_udp_pair_retry(struct ur_wire_udp *w, struct ur_udp_pair *pair);
/* The port has taken over the masks of held neighbours. */
void ur_udp_pairs_report(struct ur_wire_udp *w);
/* Publishes all written records, and wakes their readers. */
void ur_udp_pairs_publish(struct ur_wire_udp *w);
/* Receives from all rings. Returns whether there was anything. */
bool ur_udp_pairs_receive(struct ur_wire_udp *w);
void ur_udp_close_pairs(struct ur_wire_udp *w);
/* payload_place(), payload_taken_back() and hide() of the wire. */
const u8 *ur_udp_payload_place(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, struct ur_emr *mr, u64 off, u32 len);
void ur_udp_payload_taken_back(struct ur_wire *wire);
void ur_udp_hide(struct ur_wire *wire, const struct ur_emr *mr);
/* Returns the memory of this process, or NULL. */
struct ur_user_mem *ur_udp_memory(const struct ur_wire_udp *w);
/* Returns the pair with the engine in that slot, or NULL. Ends a pair whose grant has ended. */
struct ur_udp_pair *ur_udp_pair_at(struct ur_wire_udp *w, u32 slot);
/* Ends the pair. Packets take the loopback interface again. */
void ur_udp_pair_end(struct ur_wire_udp *w, struct ur_udp_pair *pair);

/* Size of a datagram that only wakes. Every packet is longer. */
#define UR_UDP_WAKE_BYTES 12u

#endif
