/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines that contexts of several processes of one user have together, in his engine process: what is in XRC domains of
 * files. One has a slot of its own, and is there as long as a file has it. Nobody else's file gets it. Control lock held.
 */
#ifndef UR_DEVICE_UVERBS_SHARED_ENGINE_H
#define UR_DEVICE_UVERBS_SHARED_ENGINE_H

#include "device/engine_process.h"
#include "device/uverbs/ufile.h"
#include "engine/engine.h"

struct ur_shared_engine;

/* Its process has ended: its files are to be hung up. */
typedef void ur_shared_engine_ended(const struct ur_shared_engine *engine);

struct ur_shared_engine {
	struct ur_list node;
	struct ur_device *dev;
	uid_t uid;
	enum ur_lend_way way; /* that of all its contexts */
	/* NULL: it has ended, or an earlier uroced has started it */
	struct ur_engine_process *process;
	u32 number; /* as of struct uroce_apart_context */
	u32 slot;
	u32 rings; /* as of a file */
	int life;  /* hangs up for the process with the slot */
	u32 files;
	/* By an earlier uroced: nobody can join, and its end is told so. */
	bool left, ended;
	ur_shared_engine_ended *tell;
};

/* Gives the file, which has a slot and a file of events, a part in its user's engine, or in a new one. ended: as of
 * ur_engine_process_get(). *sock: the program's end of a socket to the process, the caller's. Returns 0, -EOPNOTSUPP (its memory
 * cannot be reached) or -errno. */
int ur_shared_engine_join(struct ur_ufile *file, ur_engine_process_ended *ended,
			  int *sock);
/* The same for an engine that an earlier uroced has lent that slot to. Returns 0, -ENOENT or -errno. */
int ur_shared_engine_resume(struct ur_ufile *file, u32 slot,
			    ur_shared_engine_ended *tell);
/* The file leaves its shared engine. */
void ur_shared_engine_put(struct ur_ufile *file);
/* Makes it look at what has changed. */
void ur_shared_engine_wake(const struct ur_shared_engine *engine);

#endif
