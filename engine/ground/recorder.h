/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder's ring: what happened last, in slots of 64 bytes
 * (kernel-abi/uroce-record.h). One thread writes, and never waits, or several
 * do, one after the other; any thread copies meanwhile, and leaves out what was
 * overwritten under it.
 */
#ifndef UR_ENGINE_GROUND_RECORDER_H
#define UR_ENGINE_GROUND_RECORDER_H

#include "kernel-abi/uroce-record.h"
#include "util/bytes.h"

/* The size of one ring, in KiB. */
#define UR_RECORDER_MIN_KIB 16u
#define UR_RECORDER_KIB	    1024u /* where nobody says: some 5000 messages */
#define UR_RECORDER_MAX_KIB (64u << 10)

struct ur_recorder;
struct ur_recorder_ring; /* its memory */

/* Makes a ring of kib KiB, a power of two from UR_RECORDER_MIN_KIB to
 * UR_RECORDER_MAX_KIB. Returns NULL where there is no memory. */
struct ur_recorder *ur_recorder_create(u32 kib);
/* Frees it when this was called for each who keeps it, the maker too. NULL is
 * fine. Any thread. */
void ur_recorder_free(struct ur_recorder *rec);

/* Returns its KiB. Any thread. */
u32 ur_recorder_kib(const struct ur_recorder *rec);
/* One more keeps it. Any thread that does. */
void ur_recorder_keep(struct ur_recorder *rec);

/* From now on several threads write. */
void ur_recorder_share(struct ur_recorder *rec);
/* Adds a record, which is copied. The writer. */
void ur_recorder_put(struct ur_recorder *rec, const struct uroce_record *r);
/* Does the same with a packet. */
void ur_recorder_put_packet(struct ur_recorder *rec,
			    const struct uroce_record_packet *p);

/*
 * Copies what is there to `to`, which has room for the whole ring, the oldest
 * first. Returns the number of slots; *lost is how many there were before them.
 * The first slot is the beginning of a record. Any thread.
 */
u32 ur_recorder_copy(struct ur_recorder *rec, void *to, u64 *lost);

/* ---- a ring in memory that another process reads ---- */

/* Returns the bytes of a ring of kib KiB, with its head. */
size_t ur_recorder_ring_bytes(u32 kib);
/* Makes a recorder that writes there, and empties the ring; run, not 0, says for
 * whom reads it that it was begun anew. The ring stays the caller's, and must be
 * there as long as the recorder. Returns NULL where there is no memory. */
struct ur_recorder *ur_recorder_borrow(struct ur_recorder_ring *ring, u32 kib,
				       u32 run);
/* Tells the reader that a work request has failed. The writer. */
void ur_recorder_count_failure(struct ur_recorder *rec);

/* Return the run and the number of failures. Any thread; the writer may say anything. */
u64 ur_recorder_ring_run(const struct ur_recorder_ring *ring);
u64 ur_recorder_ring_failures(const struct ur_recorder_ring *ring);
/* Copies as ur_recorder_copy(), out of a ring of kib KiB whose writer may write
 * anything into it at any time: never more than the ring. The copy is his word, no
 * more. Any thread. */
u32 ur_recorder_ring_copy(const struct ur_recorder_ring *ring, u32 kib,
			  void *to, u64 *lost);

#endif
