/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two engines of one device in two programs have rings between them (peer_ring.h).
 * The device makes the files and lends them to both, and packets go there in place of the
 * loopback interface once both have them. The program in a slot is the only one that
 * writes its ring, so its packets count as those from its port do (udp_own.h), and for as
 * long: until the slot is lent again. The files are new for any two loans.
 *
 * A datagram through the loopback interface wakes a reader that sleeps, and a writer that
 * waits for room. With a descriptor that both have, one could make the other one block.
 */
#ifndef UR_DEVICE_UDP_PAIR_H
#define UR_DEVICE_UDP_PAIR_H

#include "engine/chores.h"
#include "engine/engine_lend.h"
#include "engine/ground/shared_file.h"
#include "engine/wire/peer_ring.h"
#include "engine/wire/udp_shown.h"
#include "transport/transport.h"

struct ur_wire;
struct ur_wire_udp;

/* A device's, of the engines in two slots: the files, and who has got them. The lower slot
 * is the first one. */
struct ur_udp_lent_pair {
	u32 loan[2]; /* for which they were made */
	bool took[2];
	int words;	 /* -1: none, or both have them */
	int out[2];	 /* what each writes, */
	int out_read[2]; /* and the same to be read */
};

/* How a reader takes of a ring that is full: since when nothing, and since when not much. */
struct ur_udp_full {
	bool is;
	u32 asked_at; /* out.seen, when it was to wake us last, */
	u32 moved_at, took_at;
	ur_time moved, took;
};

/* A program's neighbours that have room for little, a bit each; for whom nothing is made now, or no datagrams; and
 * whether the port knows that there are any. */
struct ur_udp_held {
	u32 little, all, datagrams;
	bool said, freed; /* and some are held no more that it knows of */
};

/* A program's, with another one; with slot 0, the device, which writes what comes from the wire
 * (udp_relay.h), and gets nothing this way. */
struct ur_udp_pair {
	u32 slot; /* the other's */
	u32 loan;
	u16 port;     /* its */
	bool relayed; /* and it is woken there */
	void *words, *out_file;
	const void *in_file;
	int out_fd, in_fd;
	struct ur_peer_out out;
	struct ur_peer_in in;
	bool put; /* something that is not published */
	struct ur_udp_full full;
	u32 due; /* a bit for each file shown that there was no room to tell of */
	/* A datagram from one of these addresses of the device to the other wakes it. */
	u8 way[2][16];
	bool has_way;
	ur_time asked; /* by one, when the last left */
	u32 known_gen; /* of addresses that were looked at; 0: none */
	u8 known[2][16];
	/* Memory that is shown to it, and what it shows. */
	struct ur_udp_shown shown[UR_PEER_FILES];
	u32 shown_ever;
	bool same_user, may; /* this program may do either */
	u8 kin;		     /* enum ur_udp_kin */
	struct ur_udp_life life;
	struct ur_seen_file seen[UR_PEER_FILES];
	/* A bit for each place of which it has reported what was not looked at yet: what was there is not to be read any
	 * more. */
	u32 news;
	struct ur_shown_file said[UR_PEER_FILES];
	struct ur_chore look, see; /* udp_shown.c, udp_seen.c */
	struct ur_udp_pair *next;  /* among those that have ended */
};

/* The wire's lend_ring; and closes what there is. */
int ur_udp_lend_ring(struct ur_wire *wire, u32 slot, u32 peer,
		     struct ur_lent_ring *ring);
void ur_udp_close_lent_pairs(struct ur_wire_udp *w);

/* The wire's borrow_ring, has_ring, payload_room, waits and sleeps. */
u8 *ur_udp_payload_room(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			u32 len);
/* The same, of a pair for which there is a way. */
u8 *ur_udp_pair_payload_room(struct ur_wire_udp *w, const struct ur_av *av,
			     u32 dqpn, u32 len);
int ur_udp_borrow_ring(struct ur_wire *wire, const struct ur_lent_ring *ring);
bool ur_udp_has_ring(struct ur_wire *wire, u32 peer);
/* Called once, with the sockets that were lent: uses the ring of what comes from the wire, whose
 * descriptors stay the caller's. Returns 0 or -errno. */
int ur_udp_borrow_relay(struct ur_wire_udp *w, const struct ur_lent *lent);
bool ur_udp_pairs_wait(const struct ur_wire *wire);
void ur_udp_pairs_sleep(struct ur_wire *wire, bool asleep);

/* Returns the pair whose ring packet i of tx, which goes to an engine of this host, takes, or
 * NULL. */
struct ur_udp_pair *ur_udp_pair_for(struct ur_wire_udp *w,
				    const struct ur_tx *tx, u32 i);
/* Puts packets into its ring, from first on, or drops them where there is no room. Returns how many. */
u32 ur_udp_pair_send(struct ur_wire_udp *w, struct ur_udp_pair *pair,
		     const struct ur_tx *tx, u32 first, u32 end);

/* The wire's holds, and, of a program, its look: at the neighbours that had room for little; those are sent to that have
 * some now. */
bool ur_udp_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
		  bool datagram);
void ur_udp_pairs_look(struct ur_wire_udp *w);

/* udp_pair_room.c: returns whether packets to that queue pair, for which there is a way, wait. */
bool ur_udp_pair_holds(const struct ur_wire_udp *w, u32 dqpn, bool datagram);
/* The pair with that slot ends. */
void ur_udp_pair_forget(struct ur_wire_udp *w, u32 slot);
/* Something was put into its ring. */
void ur_udp_pair_look(struct ur_wire_udp *w, struct ur_udp_pair *pair);
/* The port knows by now who is held. */
void ur_udp_pairs_say(struct ur_wire_udp *w);
/* Shows what was put. */
void ur_udp_pairs_publish(struct ur_wire_udp *w);
/* Takes what has come in rings. Returns whether there was anything. */
bool ur_udp_pairs_receive(struct ur_wire_udp *w);
void ur_udp_close_pairs(struct ur_wire_udp *w);
/* The wire's payload_place, payload_taken_back and hide. */
const u8 *ur_udp_payload_place(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, struct ur_emr *mr, u64 off, u32 len);
void ur_udp_payload_taken_back(struct ur_wire *wire);
void ur_udp_hide(struct ur_wire *wire, const struct ur_emr *mr);
/* Returns the memory of the process, or NULL. A program's engine has one context. */
struct ur_user_mem *ur_udp_memory(const struct ur_wire_udp *w);
/* Returns the pair with the engine in that slot, or NULL; one whose loan has ended is
 * dropped. */
struct ur_udp_pair *ur_udp_pair_at(struct ur_wire_udp *w, u32 slot);
/* Drops it: packets go through the loopback interface again. */
void ur_udp_pair_end(struct ur_wire_udp *w, struct ur_udp_pair *pair);

/* The bytes of a datagram that only wakes; no packet is as short. */
#define UR_UDP_WAKE_BYTES 12u

#endif
