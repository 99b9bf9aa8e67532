/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A ring of records in memory brings packets from one engine to another in another
 * process. It has one writer and one reader, and neither believes the other.
 *
 * The writer writes records and packets into a file that nobody else can write. The
 * reader says in another file, which both have mapped, how far he has read. Nobody writes
 * that one by system calls: they would keep the other side waiting, for as long as the
 * caller likes, as his calls on his own file cannot.
 *
 * The first word of a record says that it is there: it is the record's count of bytes, made odd. The
 * reader looks at no other line than that, and a short packet is in it and the next one. Bytes that
 * lay at that place before may look like such a word, so the writer makes the word of the record to come
 * zero before he shows the one before it.
 *
 * The reader copies a record before he looks at anything in it. One that cannot be ends
 * the ring for the side that finds it; whoever has written it harms only himself.
 *
 * Bytes of the middle of long messages lie apart from the heads of their packets, one
 * after the other and at the beginning of a page, so that one system call takes those of
 * many packets there from the program's memory, or from there. Or they stay where they are: the
 * writer has shown the reader a file that he maps (udp_shown.h), and a record names a place in it.
 */
#ifndef UR_DEVICE_PEER_RING_H
#define UR_DEVICE_PEER_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include "util/bytes.h"

/* Records: some bursts of the largest datagrams. */
#define UR_PEER_STREAM_BYTES (512u << 10)
/* Bytes of long messages. A window of a queue pair is half as large. */
#define UR_PEER_BULK_BYTES (2u << 20)
#define UR_PEER_HEAD_BYTES (64u << 10) /* a page of any system */
#define UR_PEER_PAGE	   4096u

/* The writer's file, and the one of both. */
#define UR_PEER_FILE_BYTES \
	(UR_PEER_HEAD_BYTES + UR_PEER_STREAM_BYTES + UR_PEER_BULK_BYTES)
#define UR_PEER_WORDS_BYTES UR_PEER_HEAD_BYTES

/* Packets of one message, and their bytes. */
#define UR_PEER_PACKETS	      64u
#define UR_PEER_BYTES	      65536u
#define UR_PEER_MESSAGE_BYTES 64u
#define UR_PEER_BTH_ROOM      16u /* the BTH of a packet whose bytes are apart */
#define UR_PEER_FILES	      16u /* that a writer shows at once */
#define UR_PEER_SHOWN_BYTES   56u /* of what it says of one */

struct ur_peer_head {
	/* Bytes of the stream, ever, for who goes on after the writer's end: perhaps those of the
	 * last time. */
	_Atomic u32 published;
	/* How often he has begun to wait for room. */
	_Atomic u32 waits __attribute__((aligned(128)));
	/* Messages before that count of bytes may name files that he shows: that is not to be taken any more. */
	_Atomic u32 void_before __attribute__((aligned(128)));
};

/* Only the reader writes it, but that the writer wakes him; the file of both has one for
 * each. The writer looks at the first line only when he needs room. */
struct ur_peer_word {
	_Atomic u32 taken; /* bytes of the stream, ever */
	_Atomic u32 freed; /* bytes of the bulk, ever */
	/* enum ur_peer_rest: is to be woken when something is published. */
	_Atomic u32 asleep __attribute__((aligned(128)));
	_Atomic u32 reads; /* there is a reader */
	/* An outbox's reader says what the kernel has refused last (udp_outbox.h). */
	_Atomic u64 refusal;
	/* He maps files that are shown to him: his process, or 0, and the descriptor that he has of the writer's file;
	 * and the numbers of those that he has, by place. */
	_Atomic u32 maps, proof, seen[UR_PEER_FILES];
} __attribute__((aligned(128)));

enum ur_peer_rest {
	UR_PEER_AWAKE,
	UR_PEER_ASLEEP,
	UR_PEER_ASKED, /* asleep, and a writer has asked for him to be woken */
};

/* Packets that go the same way: n of seg bytes each, the last one perhaps shorter. */
struct ur_peer_message {
	u8 saddr[16], daddr[16]; /* as GIDs */
	u32 flow_label;
	u32 len;  /* bytes of all, from here */
	u32 bulk; /* where in the bulk the payloads are */
	u16 seg;
	/* It has come from the wire, with ICRCs: the source port, and which packet of its datagram
	 * the first one was. */
	u16 sport;
	u8 first;
	u8 tos, ttl;
	/* Then each has UR_PEER_BTH_ROOM bytes here and seg bytes there, and all are
	 * of one size. */
	u8 apart;
	/* Those lie in the file of that place, from there on, and not in the bulk. */
	u8 shown;
	u16 file;
	u64 at;
	/* No packets: what is here is a struct ur_shown_file (engine/ground/shared_file.h). */
	u8 shows;
};

struct ur_peer_out {
	struct ur_peer_head *head; /* the file, mapped; NULL: none */
	struct ur_peer_word *word;
	u32 put, seen; /* of the stream: ever put; ever taken, as last seen */
	u32 first;     /* not shown yet, as all behind it; */
	bool begun;    /* and there is one */
	bool as_before; /* the message that there is room for goes from and to there: */
	bool has_way;
	u8 way[32];
	u32 reserved,
		released; /* of the bulk: ever; up to what is in no message any more */
	u32 freed;	  /* as last seen */
	u32 void_before; /* as he says there */
	u32 named;	 /* behind the last message with bytes in a file */
	bool broken;
};

struct ur_peer_in {
	const struct ur_peer_head *head;
	struct ur_peer_word *word;
	u32 taken, next;
	u32 freed;
	u32 waits;    /* as last seen */
	bool has_way; /* that of the last message with one */
	u8 way[32];
};

/* Returns the first word of the record that begins with that count of bytes, and what it is when
 * the record is there. */
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

/* Begin with a file that is all zero. */
void ur_peer_out_init(struct ur_peer_out *out, void *file,
		      struct ur_peer_word *word);
/* Goes on where a writer that is no more has left it. */
void ur_peer_out_resume(struct ur_peer_out *out, void *file,
			struct ur_peer_word *word);
void ur_peer_in_init(struct ur_peer_in *in, const void *file,
		     struct ur_peer_word *word);
/* Goes on where a reader that is no more has left it. The first message is to say its way. */
void ur_peer_in_resume(struct ur_peer_in *in, const void *file,
		       struct ur_peer_word *word);

/* ---- writer ---- */

/* Returns where to put the bytes of a message, at most UR_PEER_BYTES, for ur_peer_put(), which
 * must follow, or NULL: there is no room now. Looks at len and addresses of m. */
u8 *ur_peer_room(struct ur_peer_out *out, const struct ur_peer_message *m);
/* Returns whether there is room for so many bytes of messages with theirs (ur_peer_most()). */
bool ur_peer_has_room(struct ur_peer_out *out, u32 bytes);
/* Returns how much room messages that have so many bytes may take together at most: one may not fit
 * before the end of the stream. */
static inline u32 ur_peer_most(u32 messages, u32 bytes)
{
	return bytes + messages * 2 * UR_PEER_MESSAGE_BYTES + UR_PEER_BYTES;
}
/* Returns how many bytes of the stream are free; a message takes UR_PEER_MESSAGE_BYTES more
 * than its own at most, in whole lines. */
u32 ur_peer_space(struct ur_peer_out *out);
/* Puts the message that is there. Nobody sees it yet. */
void ur_peer_put(struct ur_peer_out *out, const struct ur_peer_message *m);
/* Returns a piece of the bulk that begins with a page, of at most
 * UR_PEER_BULK_BYTES / 2 bytes, and its place in *bulk; NULL: there is none now. Messages
 * then name what lies there, in the order of their reservation. */
u8 *ur_peer_reserve(struct ur_peer_out *out, u32 bytes, u32 *bulk);
/* Returns whether there is a piece of so many bytes now. */
bool ur_peer_may_reserve(struct ur_peer_out *out, u32 bytes);
/* Returns the place of bytes that were reserved. */
u32 ur_peer_place(const struct ur_peer_out *out, const u8 *bytes);
/* No message names bytes up to there any more that was not put yet. */
void ur_peer_release(struct ur_peer_out *out, u32 bulk_end);
/* The reader must not take any more what lies in files that are shown, and what he has not taken by now. */
void ur_peer_take_back(struct ur_peer_out *out);
/* Shows the reader all that was put. Returns whether he is to be woken, which is so once. */
bool ur_peer_publish(struct ur_peer_out *out);
/* Returns whether he sleeps all the same: what was to wake him may be lost. */
bool ur_peer_still_sleeps(const struct ur_peer_out *out);
/* Asks to be woken when there is room for so many bytes; returns whether there is
 * already. */
bool ur_peer_wait(struct ur_peer_out *out, u32 len);
/* Returns whether there is a reader. */
static inline bool ur_peer_is_read(const struct ur_peer_out *out)
{
	return !out->broken &&
	       atomic_load_explicit(&out->word->reads, memory_order_relaxed);
}

/* ---- reader ---- */

/* Returns whether there is a message. */
static inline bool ur_peer_any(const struct ur_peer_in *in)
{
	const _Atomic u32 *there = ur_peer_mark_at(in->head, in->taken);

	return atomic_load_explicit(there, memory_order_acquire) ==
	       ur_peer_mark(in->taken);
}
/* Copies the next message, and its m->len bytes to buf, which has room for UR_PEER_BYTES. All
 * of it is checked, and it lies in the file. Returns 1, 0 (there is none) or
 * -EPROTO. */
int ur_peer_get(struct ur_peer_in *in, struct ur_peer_message *m, u8 *buf);
/* Returns where the payloads of a message are whose bytes are apart. The writer may
 * change them at any time. */
const u8 *ur_peer_bulk(const struct ur_peer_in *in,
		       const struct ur_peer_message *m);
/* Returns whether the bytes that the message that was got last names in a file, and that were copied, are
 * good. */
bool ur_peer_is_good(const struct ur_peer_in *in);
/* Goes on to the message behind the one that was got last, whose place ur_peer_done() gives back with those
 * of later ones. To go back, the reader copies *in before. */
static inline void ur_peer_pass(struct ur_peer_in *in)
{
	in->taken = in->next;
}
/* Gives back the place of the message that was got last. */
void ur_peer_done(struct ur_peer_in *in);
/* After some of those: returns whether the writer, who waits, is to be woken. */
bool ur_peer_woken(struct ur_peer_in *in);
/* Says whether to wake the reader, or that there is one. A barrier must follow the former
 * before the ring is looked at again. */
void ur_peer_sleep(struct ur_peer_in *in, bool asleep);
void ur_peer_read(struct ur_peer_in *in, bool reads);

#endif
