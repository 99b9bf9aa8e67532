/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder of engines in programs: the ring of each slot
 * (ground/program_record.h). The ring of an ended program stays until its slot is granted
 * again, or a new recording begins. Control.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_RECORDS_H
#define UR_ENGINE_GRANT_PROGRAM_RECORDS_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_engine;

/* Makes the ring of a slot for a process (pid: ground/program_record.h), in place of an earlier one, and
 * puts its descriptor in *fd. The descriptor stays the engine's. Returns 0 or -errno. */
int ur_record_grant(struct ur_engine *engine, u32 slot, uid_t uid, pid_t pid,
		    int *fd);
/* Closes the descriptor of the slot's ring: its program has ended. */
void ur_record_grant_end(struct ur_engine *engine, u32 slot);
/* Begins a new recording with rings of kib KiB, or, with 0, ends recording. Drops old
 * records, and publishes that to programs. */
void ur_record_grant_begin(struct ur_engine *engine, u32 kib);
void ur_record_grant_fini(struct ur_engine *engine);

#endif
