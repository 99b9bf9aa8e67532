/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorder of engines in programs: which slot has which ring
 * (ground/lent_record.h). The ring of a program that has ended stays until its slot is
 * lent again, or the recorder begun anew. Control.
 */
#ifndef UR_ENGINE_GRANT_LEND_RECORD_H
#define UR_ENGINE_GRANT_LEND_RECORD_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_engine;

/* Makes the ring of a slot, for a process, in place of what it had, and puts its
 * descriptor, which stays the engine's, in *fd. Returns 0 or -errno. */
int ur_record_lend(struct ur_engine *engine, u32 slot, uid_t uid, pid_t pid,
		   int *fd);
/* The program in the slot has ended. */
void ur_record_lend_end(struct ur_engine *engine, u32 slot);
/* The device records anew, with kib KiB, or with 0 no more: what was recorded is
 * forgotten, and programs are shown it. */
void ur_record_lend_begin(struct ur_engine *engine, u32 kib);
void ur_record_lend_fini(struct ur_engine *engine);

#endif
