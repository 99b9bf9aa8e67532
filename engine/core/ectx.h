/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A user context: one open uverbs file, its doorbells and its memory. */
#ifndef UR_ENGINE_CORE_ECTX_H
#define UR_ENGINE_CORE_ECTX_H

#include "engine/core/arena.h"
#include "engine/engine.h"
#include "engine/core/spin_predictor.h"
#include "engine/core/watch.h"
#include "kernel-abi/uroce-ring.h"
#include "util/list.h"

struct ur_adverse;

/* A queue that has a doorbell slot. */
struct ur_db_client {
	struct ur_db_client *next; /* others of the same slot */
	u32 slot;
	void (*ring)(struct ur_db_client *db_client);
};

struct ur_ectx {
	struct ur_engine *engine;
	struct ur_list node;	  /* engine->ectxs */
	struct ur_list ring_node; /* engine->ringing, or in no list */
	ur_time rung_at;	  /* while there: when it rang last */
	u32 realm;		  /* as of queue pairs, for address handles */
	struct ur_arena arena;
	/* ur_ectx_set_room() */
	int (*room)(void *arg, u64 bytes);
	void *room_arg;
	struct ur_user_mem *mem;
	struct ur_block db_block;
	struct uroce_db_page *db;
	int wake_fd;
	struct ur_watch wake_watch;
	struct ur_spin_predictor
		predictor; /* waiting after this one's doorbell */
	bool complained;   /* a corrupt ring was reported */
	bool moves;	   /* to another engine, at this moment. Control */
	u32 next_slot;
	struct ur_db_client *db_clients[UROCE_DB_SLOTS];
	struct ur_eah **ahs; /* by number - 1 */
	u32 ah_cap, ah_hint;
	bool own_ecn; /* its program sets the ECN bits of datagrams itself */
	/* transmit.c: queue pairs with requests that were not fetched when last
	 * looked at, and those that the present run has not come to. */
	struct ur_list rung, to_settle;
	u64 settle_run; /* the present one's number, or the last one's */
	bool settling;
	struct ur_list mrs;	    /* ur_emr */
	struct ur_list asyncs;	    /* ur_easync; the control thread's */
	struct ur_list chans;	    /* ur_echan; the control thread's */
	struct ur_adverse *adverse; /* adverse.h; NULL: an ordinary card */
	/* The regions: number of mappings, their bytes. The control
	 * thread's. */
	u32 n_maps;
	u64 mapped;
	u32 n_files; /* that regions have open for neighbours */
};

/* Gives a new queue a doorbell slot (db_client->slot). When all slots are given
 * out, queues share them. */
void ur_ectx_add_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/* Takes the queue off its slot, if it is there. */
void ur_ectx_del_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/*
 * Release the control lock around work that takes long and uses memory of this
 * client alone, so that nobody else waits, and take it again. The objects of
 * the context stay as they are meanwhile, since its commands come one at a
 * time.
 */
void ur_ectx_unlock(struct ur_ectx *ectx);
void ur_ectx_relock(struct ur_ectx *ectx);
/* Does so where the thread acts for a user (ur_loop_step_aside()), and returns
 * whether it did. */
bool ur_ectx_step_aside(struct ur_ectx *ectx);
/* Lets others have the control lock between two pieces of a command, which goes
 * on when its user's turn comes again. */
void ur_ectx_pause(struct ur_ectx *ectx);
/* Allocates a block of the context's arena, as ur_arena_alloc() does; the lock is
 * released while more of the file is mapped. Returns 0 or -ENOMEM. */
int ur_ectx_alloc(struct ur_ectx *ectx, u64 bytes, struct ur_block *block);
/* Clears the first bytes of a block that nobody else knows yet, without the lock: the
 * client may have taken its page away, and holds up who wants it. */
void ur_ectx_clear(struct ur_ectx *ectx, const struct ur_block *block,
		   size_t bytes);
/* Logs once for each context why its memory is not to be trusted. */
void ur_ectx_complain(struct ur_ectx *ectx, const char *what, u32 number);

#endif
