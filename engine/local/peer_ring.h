/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A ring in shared memory that carries packets from an engine to one in another process. It
 * has one writer and one reader. Neither trusts the other.
 *
 * Two files: the writer's file holds records and payloads, and only the writer can write it.
 * The words file is mapped by both; the reader stores there how far it has read. No side
 * writes the words file by system calls, since a write() holds the inode's lock for as long as
 * its caller likes.
 *
 * A record is present when its first word is its byte count with the lowest bit set. The reader
 * polls that cache line alone; a short packet fits into it and the next one. Old bytes could look
 * like such a word, so the writer zeroes the first word of the next record before it
 * publishes the current one.
 *
 * The reader copies a record before it checks it. An invalid record ends the ring for the side
 * that finds it.
 *
 * Payloads of a long message's middle packets can be split from the packet heads:
 * they lie back to back in the bulk area, from a page boundary on, so that one system call
 * copies many of them. Or they stay in a file of the writer's that the reader maps
 * (udp_shown.h), and the record names an offset in that file.
 */
#ifndef UR_ENGINE_LOCAL_PEER_RING_H
#define UR_ENGINE_LOCAL_PEER_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include "util/bytes.h"

/* Size of the records area: several bursts of the largest datagrams. */
#define UR_PEER_STREAM_BYTES (512u << 10)
/* Size of the bulk area: twice the window of a queue pair. */
#define UR_PEER_BULK_BYTES (2u << 20)
#define UR_PEER_HEAD_BYTES (64u << 10) /* a page of any system */
#define UR_PEER_PAGE	   4096u

/* Sizes of the writer's file and of the words file. */
#define UR_PEER_FILE_BYTES \
	(UR_PEER_HEAD_BYTES + UR_PEER_STREAM_BYTES + UR_PEER_BULK_BYTES)
#define UR_PEER_WORDS_BYTES UR_PEER_HEAD_BYTES

/* At most so many packets, and bytes, in one record. */
#define UR_PEER_PACKETS	      64u
#define UR_PEER_BYTES	      65536u
#define UR_PEER_MESSAGE_BYTES 64u
#define UR_PEER_BTH_ROOM      16u /* for each head of a split packet */
#define UR_PEER_FILES	      16u /* that a writer exports at once */
#define UR_PEER_SHOWN_BYTES   56u /* sizeof(struct ur_shown_file) */

struct ur_peer_head {
	/* Total bytes of records published. A successor of the writer continues there. It may lag
	 * by one publication. */
	_Atomic u32 published;
	/* Counts the times that the writer began to wait for room. */
	_Atomic u32 waits __attribute__((aligned(128)));
	/* The reader must not use exported files that records before this byte count name. */
	_Atomic u32 void_before __attribute__((aligned(128)));
};

/* The words file has one for each direction. The reader writes it; the writer only changes
 * "asleep", to wake the reader. The writer reads the first cache line only when it needs room. */
struct ur_peer_word {
	_Atomic u32 taken; /* total bytes of records read */
	_Atomic u32 freed; /* total bytes of the bulk area released */
	/* enum ur_peer_rest: the writer wakes a sleeping reader when it publishes. */
	_Atomic u32 asleep __attribute__((aligned(128)));
	_Atomic u32 reads; /* a reader is attached */
	/* Outboxes: the last datagram that the kernel refused (ur_outbox_refusal()). */
	_Atomic u64 refusal;
	/* maps: pid of a reader that maps exported files, or 0. proof: its descriptor of the writer's
	 * file. seen: the number of the file mapped at each index. */
	_Atomic u32 maps, proof, seen[UR_PEER_FILES];
} __attribute__((aligned(128)));

enum ur_peer_rest {
	UR_PEER_AWAKE,
	UR_PEER_ASLEEP,
	UR_PEER_ASKED, /* asleep, and the writer has sent the wake-up */
};

/* One record: packets with the same addresses, of seg bytes each; the last may be shorter. */
struct ur_peer_message {
	u8 saddr[16], daddr[16]; /* as GIDs */
	u32 flow_label;
	u32 len;  /* bytes of the packets in the record */
	u32 bulk; /* offset of split payloads in the bulk area */
	u16 seg;
	/* Packets received from the wire, with ICRCs: the UDP source port, and the index of the first
	 * one in its datagram. */
	u16 sport;
	u8 first;
	u8 tos, ttl;
	/* The packets are split: UR_PEER_BTH_ROOM bytes of head each in the record, seg bytes of
	 * payload each, split from them. All have one size. */
	u8 split;
	/* The payloads lie in the exported file of that index, from offset "at" on. */
	u8 shown;
	u16 file;
	u64 at;
	/* The record holds no packets but a struct ur_shown_file (engine/ground/shared_file.h). */
	u8 shows;
};

/* The writer's side. */
struct ur_peer_out {
	struct ur_peer_head *head; /* the mapped file, or NULL */
	struct ur_peer_word *word;
	u32 put, seen;	/* total bytes of records written; read, as last seen */
	u32 first;	/* the first record that is not published, */
	bool begun;	/* if there is one */
	bool as_before; /* the reserved record has the addresses in addrs */
	bool has_addrs;
	u8 addrs[32];
	u32 reserved,
		released; /* totals of the bulk area; released: no record will name it */
	u32 freed;	 /* as last seen */
	u32 restart;	 /* the total at which the area was last begun anew */
	u32 void_before; /* a copy of head->void_before */
	u32 named; /* end of the last record that names an exported file */
	bool broken;
};

/* The reader's side. */
struct ur_peer_in {
	const struct ur_peer_head *head;
	struct ur_peer_word *word;
	u32 taken, next;
	u32 freed;
	u32 waits;	/* as last seen */
	bool has_addrs; /* addrs: those of the last record that had some */
	u8 addrs[32];
};

/* Returns the first word of the record at that byte count; ur_peer_mark() is its value when the
 * record is present. */
static inline _Atomic u32 *ur_peer_mark_at(const struct ur_peer_head *head,
					   u32 count)
{
	return (_Atomic u32 *)((uintptr_t)head + UR_PEER_HEAD_BYTES +
			       (count & (UR_PEER_STREAM_BYTES - 1)));
}
static inline u32 ur_peer_mark(u32 count)
{
	return count | 1;
}

/* The file is all zero. */
void ur_peer_out_init(struct ur_peer_out *out, void *file,
		      struct ur_peer_word *word);
/* Continues after a writer that has ended. */
void ur_peer_out_reattach(struct ur_peer_out *out, void *file,
			  struct ur_peer_word *word);
void ur_peer_in_init(struct ur_peer_in *in, const void *file,
		     struct ur_peer_word *word);
/* Continues after a reader that has ended. The next record must carry its addresses. */
void ur_peer_in_reattach(struct ur_peer_in *in, const void *file,
			 struct ur_peer_word *word);

/* ---- writer ---- */

/* Reserves a record for m->len bytes, at most UR_PEER_BYTES. Returns where to write them, or NULL
 * if the ring is full. ur_peer_put() must follow. Uses len and the addresses of m. */
u8 *ur_peer_room(struct ur_peer_out *out, const struct ur_peer_message *m);
/* Returns whether so many bytes, as ur_peer_most() counts them, are free. */
bool ur_peer_has_room(struct ur_peer_out *out, u32 bytes);
/* Returns an upper bound of the room that so many records with so many bytes take. A record that
 * does not fit before the end of the area wraps. */
static inline u32 ur_peer_most(u32 messages, u32 bytes)
{
	return bytes + messages * 2 * UR_PEER_MESSAGE_BYTES + UR_PEER_BYTES;
}
/* Returns the free bytes. A record takes at most UR_PEER_MESSAGE_BYTES more than its packets, in
 * whole cache lines. */
u32 ur_peer_space(struct ur_peer_out *out);
/* Completes the reserved record. The reader sees it after ur_peer_publish(). */
void ur_peer_put(struct ur_peer_out *out, const struct ur_peer_message *m);
/* Reserves at most UR_PEER_BULK_BYTES / 2 bytes of the bulk area, from a page boundary on. Returns
 * them and their offset in *bulk, or NULL if the area is full. Records name reservations in
 * the order in which they were made. */
u8 *ur_peer_reserve(struct ur_peer_out *out, u32 bytes, u32 *bulk);
/* Returns whether ur_peer_reserve() would succeed. */
bool ur_peer_may_reserve(struct ur_peer_out *out, u32 bytes);
/* Returns the offset of reserved bytes in the bulk area. */
u32 ur_peer_place(const struct ur_peer_out *out, const u8 *bytes);
/* Records that are still to be written name no reserved bytes before bulk_end: those can be reserved again when the reader has
 * read the others. */
void ur_peer_release(struct ur_peer_out *out, u32 bulk_end);
/* Revokes what published records name in exported files and the reader has not copied yet. */
void ur_peer_take_back(struct ur_peer_out *out);
/* Publishes all completed records. Returns true once if the caller must wake the reader. */
bool ur_peer_publish(struct ur_peer_out *out);
/* Returns whether the reader is still asleep: its wake-up may be lost. */
bool ur_peer_still_sleeps(const struct ur_peer_out *out);
/* Returns whether the reader has not read all records. */
static inline bool ur_peer_is_behind(const struct ur_peer_out *out)
{
	return atomic_load_explicit(&out->word->taken, memory_order_relaxed) !=
	       out->put;
}
/* Asks the reader for a wake-up when len bytes are free. Returns whether they are free already. */
bool ur_peer_wait(struct ur_peer_out *out, u32 len);
/* Returns whether a reader is attached. */
static inline bool ur_peer_is_read(const struct ur_peer_out *out)
{
	return !out->broken &&
	       atomic_load_explicit(&out->word->reads, memory_order_relaxed);
}

/* ---- reader ---- */

/* Returns whether a record is present. */
static inline bool ur_peer_any(const struct ur_peer_in *in)
{
	const _Atomic u32 *there = ur_peer_mark_at(in->head, in->taken);

	return atomic_load_explicit(there, memory_order_acquire) ==
	       ur_peer_mark(in->taken);
}
/* Copies the next record: its description to *m, its m->len bytes to buf, which has room for
 * UR_PEER_BYTES. Everything in *m is checked. Returns 1, 0 if no record is present, or -EPROTO. */
int ur_peer_get(struct ur_peer_in *in, struct ur_peer_message *m, u8 *buf);
/* Returns the split payloads of a record. The writer may change them at any time. */
const u8 *ur_peer_bulk(const struct ur_peer_in *in,
		       const struct ur_peer_message *m);
/* Returns whether the copy of what the last record names in an exported file is valid: call it after the
 * copy. */
bool ur_peer_is_good(const struct ur_peer_in *in);
/* Moves to the next record without releasing the last one; ur_peer_done() releases both. To go back the
 * reader restores a copy of *in. */
static inline void ur_peer_pass(struct ur_peer_in *in)
{
	in->taken = in->next;
}
/* Releases the last record, and those before it. */
void ur_peer_done(struct ur_peer_in *in);
/* After ur_peer_done(): returns whether the caller must wake a writer that waits for room. */
bool ur_peer_woken(struct ur_peer_in *in);
/* ur_peer_sleep(): the reader asks for wake-ups; a full barrier must follow before it looks at the ring
 * again. ur_peer_read(): the reader attaches or detaches. */
void ur_peer_sleep(struct ur_peer_in *in, bool asleep);
void ur_peer_read(struct ur_peer_in *in, bool reads);

#endif
