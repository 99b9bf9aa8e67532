/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines shared by contexts of several processes of one user, in the user's engine
 * process. They have the objects of XRC domains with an inode. A shared engine has a slot
 * of its own, and exists as long as a file uses it. Files of other users never do. Control
 * lock held.
 */
#ifndef UR_DEVICE_UVERBS_SHARED_ENGINE_H
#define UR_DEVICE_UVERBS_SHARED_ENGINE_H

#include "device/engine_process.h"
#include "device/uverbs/ufile.h"
#include "engine/engine.h"

struct ur_shared_engine;

/* Called when the engine's process has ended: the callee hangs up its files. */
typedef void ur_shared_engine_ended(const struct ur_shared_engine *engine);

struct ur_shared_engine {
	struct ur_list node;
	struct ur_device *dev;
	uid_t uid;
	enum ur_grant_mode mode; /* of all its contexts */
	/* NULL: it has ended, or was started by an earlier uroced */
	struct ur_engine_process *process;
	u32 number; /* as of struct uroce_apart_context */
	u32 slot;
	u32 rings;    /* as ur_ufile.rings */
	int liveness; /* closing it reports the end of the slot to the process */
	u32 files;
	bool guarded; /* as of ur_session, of all its contexts */
	/* left: started by an earlier uroced, so that no file can join; on_end reports its
	 * end. */
	bool left, ended;
	ur_shared_engine_ended *on_end;
};

/* A context of a file in its shared engine. */
struct ur_shared_part {
	/* its program, and that one's memory */
	pid_t pid;
	const struct ur_user_mem *mem;
	const struct ur_obj_async
		*async; /* NULL: the program tells the engine */
	/* file of n_listed regions with which it begins, or -1: see struct uroce_apart_context */
	int listed;
	u32 n_listed;
};

/* Adds the file to its user's shared engine, or to a new one, with that context. The file has a slot.
 * ended: as of ur_engine_process_get(). sock: as of ur_slot_give_context(). Returns 0 or -errno. */
int ur_shared_engine_join(struct ur_ufile *file,
			  const struct ur_shared_part *part,
			  ur_engine_process_ended *ended, int sock[2]);
/* Adds one more context of the file, whose rings and objects may take kib. Returns 0, -EOPNOTSUPP (the engine
 * takes no more) or -errno. */
int ur_shared_engine_add(const struct ur_ufile *file,
			 const struct ur_shared_part *part, u32 kib,
			 int sock[2]);
/* Does the same for the engine that got that slot from an earlier uroced. Returns 0,
 * -ENOENT or -errno. */
int ur_shared_engine_reattach(struct ur_ufile *file, u32 slot,
			      ur_shared_engine_ended *on_end);
/* Ends the file's use of its shared engine. */
void ur_shared_engine_put(struct ur_ufile *file);
/* Wakes the engine, so that it looks for changes. */
void ur_shared_engine_wake(const struct ur_shared_engine *engine);

#endif
