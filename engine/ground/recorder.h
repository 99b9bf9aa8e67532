/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder's ring: the last events, in slots of 64 bytes
 * (kernel-abi/uroce-record.h). One thread writes without waiting; or several share
 * the ring and take a lock. Any thread may copy meanwhile, and drops slots that were
 * overwritten during the copy.
 */
#ifndef UR_ENGINE_GROUND_RECORDER_H
#define UR_ENGINE_GROUND_RECORDER_H

#include "kernel-abi/uroce-record.h"
#include "util/bytes.h"

/* The size of one ring, in KiB. */
#define UR_RECORDER_MIN_KIB 16u
#define UR_RECORDER_KIB	    1024u /* default: some 5000 messages */
#define UR_RECORDER_MAX_KIB (64u << 10)

struct ur_recorder;
struct ur_recorder_ring; /* its memory */

/* Makes a ring of kib KiB, a power of two from UR_RECORDER_MIN_KIB to
 * UR_RECORDER_MAX_KIB, with one reference. Returns NULL without memory. */
struct ur_recorder *ur_recorder_create(u32 kib);
/* Drops a reference; the last one frees the ring. rec may be NULL. Any thread. */
void ur_recorder_free(struct ur_recorder *rec);

/* Returns the ring's size in KiB. Any thread. */
u32 ur_recorder_kib(const struct ur_recorder *rec);
/* Adds a reference. Any thread that has one. */
void ur_recorder_keep(struct ur_recorder *rec);

/* Adds a record, which is copied. The writer. */
void ur_recorder_put(struct ur_recorder *rec, const struct uroce_record *r);
/* Adds a packet record in the same way. */
void ur_recorder_put_packet(struct ur_recorder *rec,
			    const struct uroce_record_packet *p);

/*
 * Copies the records to `to`, which has room for the whole ring, the oldest first.
 * Returns the number of slots; *lost is the number of slots overwritten before them.
 * The first slot is the beginning of a record. Any thread.
 */
u32 ur_recorder_copy(struct ur_recorder *rec, void *to, u64 *lost);

/* ---- a ring in memory that another process reads ---- */

/* Returns the bytes of a ring of kib KiB, with its head. */
size_t ur_recorder_ring_bytes(u32 kib);
/* Makes a recorder that writes to the ring, and empties the ring. run, not 0, shows
 * the reader that a new recording began. The ring stays the caller's, and must
 * outlive the recorder. Returns NULL without memory. */
struct ur_recorder *ur_recorder_attach(struct ur_recorder_ring *ring, u32 kib,
				       u32 run);
/* Publishes to the reader that a work request has failed. The writer. */
void ur_recorder_count_failure(struct ur_recorder *rec);

/* Return the run and the number of failures, as the writer claims. Any thread. */
u64 ur_recorder_ring_run(const struct ur_recorder_ring *ring);
u64 ur_recorder_ring_failures(const struct ur_recorder_ring *ring);
/* Copies as ur_recorder_copy() from a ring of kib KiB whose writer is not trusted and
 * may write at any time. Never copies more than the ring; the content is only the
 * writer's claim. Any thread. */
u32 ur_recorder_ring_copy(const struct ur_recorder_ring *ring, u32 kib,
			  void *to, u64 *lost);

#endif
