/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder's ring of an engine in a program. uroced makes the memory, the
 * program writes it (recorder.h), and uroced reads it, also after the program was killed.
 * The program may write anything there: its records count for its own queue pairs only.
 * With the control lock, unless a comment says otherwise.
 */
#ifndef UR_ENGINE_GROUND_PROGRAM_RECORD_H
#define UR_ENGINE_GROUND_PROGRAM_RECORD_H

#include <sys/types.h>
#include "engine/ground/recorder.h"

/* The largest ring of this kind, in KiB. */
#define UR_RECORDER_PROGRAM_KIB UR_RECORDER_KIB
#define UR_RECORDER_SMALL_KIB	64u

struct ur_program_record;

/* The process that has the ring. All records count as this process's, or nobody's. Records of queue
 * pairs outside first_qpn to last_qpn are dropped. pid is 0 for an engine that serves several processes of
 * the user: then each record names one, and may lie about it, but not about the user. */
struct ur_record_whose {
	u32 first_qpn, last_qpn;
	bool small; /* of a small slot: a smaller ring */
	uid_t uid;
	pid_t pid;
	u64 since; /* time of the grant: older records get this time. ns */
};

/* Makes a ring in *rec, with one reference. Returns 0 or -errno. */
int ur_program_record_create(const struct ur_record_whose *whose,
			     struct ur_program_record **rec);
/* Add and drop a reference; dropping the last frees the ring. rec may be NULL for a drop. */
void ur_program_record_keep(struct ur_program_record *rec);
void ur_program_record_put(struct ur_program_record *rec);
/* Returns the ring's descriptor, which stays the ring's, or -1 if it is closed. */
int ur_program_record_fd(const struct ur_program_record *rec);
/* Closes the descriptor, since the program has ended. */
void ur_program_record_close(struct ur_program_record *rec);
/* Returns whether a work request has failed since the last call. */
bool ur_program_record_failed(struct ur_program_record *rec);

/* Returns the size in KiB of a program's ring when the device's ring has kib. */
static inline u32 ur_program_record_kib(u32 kib, bool small)
{
	return ur_min_u32(kib, small ? UR_RECORDER_SMALL_KIB
				     : UR_RECORDER_PROGRAM_KIB);
}
/* Returns the same for that ring. */
u32 ur_program_record_kib_of(const struct ur_program_record *rec, u32 kib);
/* Copies the records of that run as ur_recorder_copy() does, without those that
 * ur_program_record_check() drops. kib: from ur_program_record_kib_of(). Any thread with a
 * reference. */
u32 ur_program_record_copy(const struct ur_program_record *rec, u32 run,
			   u32 kib, void *to, u64 *lost);

/* Drops invalid records from n slots, and corrects the owner and the times of the
 * others. Returns the number of slots left. now: CLOCK_MONOTONIC, ns. Any
 * thread. */
u32 ur_program_record_check(const struct ur_record_whose *whose, void *slots,
			    u32 n, u64 now);

/* In the program: maps its ring in *ring. fd stays the caller's. Returns 0 or -errno.
 * Any thread. */
int ur_program_record_map(int fd, struct ur_recorder_ring **ring);
void ur_program_record_unmap(struct ur_recorder_ring *ring);

#endif
