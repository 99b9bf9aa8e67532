/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder's ring of an engine in a program: memory that uroced makes,
 * the program writes (recorder.h) and uroced reads, so that it is there when the
 * program has been killed. The program may write there whatever it likes: uroced takes it for
 * that program's word about its own queue pairs, and of nobody else's. With the control
 * lock, but where a comment says otherwise.
 */
#ifndef UR_ENGINE_GROUND_LENT_RECORD_H
#define UR_ENGINE_GROUND_LENT_RECORD_H

#include <sys/types.h>
#include "engine/ground/recorder.h"

/* The largest ring of this kind, in KiB. */
#define UR_RECORDER_LENT_KIB  UR_RECORDER_KIB
#define UR_RECORDER_SMALL_KIB 64u

struct ur_lent_record;

/* The process that has it: all of its records are taken as this process's, or nobody's, and those
 * of other numbers than from first_qpn to last_qpn are left out. */
struct ur_record_whose {
	u32 first_qpn, last_qpn;
	bool small; /* one of many */
	uid_t uid;
	pid_t pid;
	u64 since; /* CLOCK_MONOTONIC, ns: no record is older */
};

/* Makes one in *rec. Returns 0 or -errno. */
int ur_lent_record_create(const struct ur_record_whose *whose,
			  struct ur_lent_record **rec);
/* One more keeps it. The last to give it back frees it; NULL is fine. */
void ur_lent_record_keep(struct ur_lent_record *rec);
void ur_lent_record_put(struct ur_lent_record *rec);
/* Returns the descriptor, which stays its own, or -1 where it is closed. */
int ur_lent_record_fd(const struct ur_lent_record *rec);
/* Closes that: the program has ended. */
void ur_lent_record_close(struct ur_lent_record *rec);
/* Returns whether a work request has failed since this was asked last. */
bool ur_lent_record_failed(struct ur_lent_record *rec);

/* Returns the KiB of such a ring where the device's is of kib. */
static inline u32 ur_lent_record_kib(u32 kib, bool small)
{
	return ur_min_u32(kib,
			  small ? UR_RECORDER_SMALL_KIB : UR_RECORDER_LENT_KIB);
}
/* Returns the same of that one. */
u32 ur_lent_record_kib_of(const struct ur_lent_record *rec, u32 kib);
/* Copies what it has of that run as ur_recorder_copy(), with kib as returned
 * above, and only records that ur_lent_record_check() leaves. Any thread that has it
 * kept. */
u32 ur_lent_record_copy(const struct ur_lent_record *rec, u32 run, u32 kib,
			void *to, u64 *lost);

/* Leaves those records in n slots that make sense, with the owner and times
 * that they may have. Returns how many slots are left. now: CLOCK_MONOTONIC, ns.
 * Any thread. */
u32 ur_lent_record_check(const struct ur_record_whose *whose, void *slots,
			 u32 n, u64 now);

/* Maps such a ring in the program, in *ring. fd stays the caller's. Returns 0 or
 * -errno. Any thread. */
int ur_lent_record_map(int fd, struct ur_recorder_ring **ring);
void ur_lent_record_unmap(struct ur_recorder_ring *ring);

#endif
