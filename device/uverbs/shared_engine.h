/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines that contexts of several processes of one user have together, in his engine process: what is in XRC domains of
 * files. One has a slot of its own, and is there as long as a file has it. Nobody else's file gets it. Control lock held.
 */
#ifndef UR_DEVICE_UVERBS_SHARED_ENGINE_H
#define UR_DEVICE_UVERBS_SHARED_ENGINE_H

#include "device/uverbs/ufile.h"
#include "engine/engine_lend.h"

struct ur_engine_process;

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
	bool left;  /* by an earlier uroced: nobody can join */
	bool ended; /* with its process */
};

/* The file leaves its shared engine. */
void ur_shared_engine_put(struct ur_ufile *file);
/* Makes it look at what has changed. */
void ur_shared_engine_wake(const struct ur_shared_engine *engine);
/* The process has ended: nobody joins its engines. */
void ur_shared_engines_end(const struct ur_engine_process *process);

#endif
