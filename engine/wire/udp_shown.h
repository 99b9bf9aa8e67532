/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program shows its memory, where that is a file in memory already, to its neighbours, who map the file to
 * read. Long messages from there are copied once then, by who receives them. All checks are where they
 * were: a program sends bytes that its keys allow, and who receives puts them where its own
 * allow, or refuses them.
 *
 * Neither uroced nor we hand the file over: the reader opens it in /proc, where the writer has it
 * (engine/ground/shared_file.h), if the kernel lets it.
 *
 * The writer may take back what it has named (ur_peer_take_back()): the reader asks after each copy
 * whether the bytes were good, and else has not received them. It refuses a file that it cannot read, and
 * the writer copies when it sends again.
 */
#ifndef UR_DEVICE_UDP_SHOWN_H
#define UR_DEVICE_UDP_SHOWN_H

#include "engine/watch.h"
#include "util/bytes.h"

struct ur_av;
struct ur_emr;
struct ur_engine;
struct ur_peer_message;
struct ur_udp_pair;
struct ur_user_mem;

/* Whether the neighbour is a process that could read our memory without us, and we its. */
enum ur_udp_kin { UR_UDP_KIN_UNKNOWN, UR_UDP_KIN, UR_UDP_STRANGER };

/* The process whose files are mapped. */
struct ur_udp_life {
	struct ur_engine *engine; /* NULL: none are */
	struct ur_watch watch;
	int fd; /* readable when it has ended; or -1 */
	s32 pid;
};

/* Memory that is shown to a neighbour, at a place of its. */
struct ur_udp_shown {
	const struct ur_emr *mr; /* NULL: not any more */
	u64 bytes;
	u32 number;
};

/* Returns a name of the len bytes from off of a region, if the neighbour reads them where they are; with len 0, whether it may.
 * Those behind have the next ones. Else NULL, and it may be shown them. av leads there. mem is the program's. */
const u8 *ur_udp_shown_find(struct ur_udp_pair *p, const struct ur_av *av,
			    struct ur_emr *mr, u64 off, u32 len,
			    const struct ur_user_mem *mem);
/* The region is not to be read any more. ur_udp_shown_say() must follow. */
void ur_udp_shown_hide(struct ur_udp_pair *p, const struct ur_emr *mr);
/* Says what there was no room for. */
void ur_udp_shown_say(struct ur_udp_pair *p);
/* Fills in shown, file and at of m, whose payload lies there, and returns up to how many bytes from there on may go
 * with it; 0: it is in no memory that is shown. */
u64 ur_udp_shown_place(const struct ur_udp_pair *p, const u8 *payload,
		       struct ur_peer_message *m);

/* udp_seen.c, of who reads: it will map what is shown, if it can. */
void ur_udp_seen_begin(struct ur_udp_pair *p, struct ur_engine *engine,
		       const struct ur_user_mem *mem);
/* A file that a neighbour shows will be mapped, or is not read any more. record has UR_PEER_SHOWN_BYTES. */
void ur_udp_seen_take(struct ur_udp_pair *p, const u8 *record);
/* Returns where such bytes of a message are, or NULL. They may not be there, and may change. */
const u8 *ur_udp_seen_bytes(const struct ur_udp_pair *p,
			    const struct ur_peer_message *m, u64 bytes);
/* The neighbour shall name none of that file. */
void ur_udp_seen_refuse(struct ur_udp_pair *p, const struct ur_peer_message *m);
/* None is read any more; then, without the lock, they are unmapped. */
void ur_udp_seen_leave(struct ur_udp_pair *p);
void ur_udp_seen_unmap(struct ur_udp_pair *p);

#endif
