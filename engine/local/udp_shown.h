/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Exported files: payloads that a neighbour reads in place. Where a region is a file in memory already
 * (memfd, /dev/shm), the program exports it, the neighbour maps it read-only, and long messages are
 * copied once, by the receiver. Access checks do not move: the sender checks its keys, the receiver
 * its own.
 *
 * Nobody passes the file. The reader opens it in /proc, where the writer holds it
 * (engine/ground/shared_file.h), if the kernel permits that.
 *
 * The writer can revoke what it has named (ur_peer_take_back()). The reader checks after each copy whether
 * the copy is valid; otherwise it has not received the packets. A reader that cannot map a file
 * refuses it, and the writer copies into the ring when it repeats the packets.
 *
 * Thread: the engine's, but ur_udp_seen_unmap().
 */
#ifndef UR_ENGINE_LOCAL_UDP_SHOWN_H
#define UR_ENGINE_LOCAL_UDP_SHOWN_H

#include "engine/core/watch.h"
#include "util/bytes.h"

struct ur_av;
struct ur_emr;
struct ur_engine;
struct ur_peer_message;
struct ur_udp_pair;
struct ur_user_mem;

/* Whether the kernel would let either process read the other's memory. */
enum ur_udp_kin { UR_UDP_KIN_UNKNOWN, UR_UDP_KIN, UR_UDP_STRANGER };

/* The neighbour's process, whose files are mapped. */
struct ur_udp_liveness {
	struct ur_engine *engine; /* NULL: no file is mapped */
	struct ur_watch watch;
	int fd; /* pidfd, or -1 */
	s32 pid;
};

/* A region that is exported to a neighbour, at one index of the neighbour's table. */
struct ur_udp_shown {
	const struct ur_emr *mr; /* NULL: revoked */
	u64 bytes;
	u32 number;
};

/* Returns a name for len bytes at off of a region, if the neighbour has mapped them; names of following bytes follow. Else
 * returns NULL, and may export the region. len 0 asks whether the neighbour may map it. av: the address vector to the
 * neighbour. mem: the program's memory. */
const u8 *ur_udp_shown_find(struct ur_udp_pair *p, const struct ur_av *av,
			    struct ur_emr *mr, u64 off, u32 len,
			    const struct ur_user_mem *mem);
/* Revokes the region. ur_udp_shown_announce() must follow. */
void ur_udp_shown_hide(struct ur_udp_pair *p, const struct ur_emr *mr);
/* Writes the reports that found the ring full. */
void ur_udp_shown_announce(struct ur_udp_pair *p);
/* Fills in shown, file and at of m for a payload by its name. Returns how many bytes from there on m may name, or 0 if
 * the region is not exported. */
u64 ur_udp_shown_place(const struct ur_udp_pair *p, const u8 *payload,
		       struct ur_peer_message *m);

/* The reader, udp_seen.c. From now on maps what the neighbour exports. */
void ur_udp_seen_begin(struct ur_udp_pair *p, struct ur_engine *engine,
		       const struct ur_user_mem *mem);
/* Handles a report of the neighbour: a file to map, or one that is revoked. record has UR_PEER_SHOWN_BYTES. */
void ur_udp_seen_take(struct ur_udp_pair *p, const u8 *record);
/* Returns where the payload of a record is mapped, or NULL. A load from it may fault, and the bytes may change. */
const u8 *ur_udp_seen_bytes(const struct ur_udp_pair *p,
			    const struct ur_peer_message *m, u64 bytes);
/* Asks the neighbour to name nothing of that file any more. */
void ur_udp_seen_refuse(struct ur_udp_pair *p, const struct ur_peer_message *m);
/* ur_udp_seen_leave(): reads no file any more. Then, without the engine's lock, ur_udp_seen_unmap() unmaps them. */
void ur_udp_seen_leave(struct ur_udp_pair *p);
void ur_udp_seen_unmap(struct ur_udp_pair *p);

#endif
