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
	struct ur_db_client *next; /* next queue with the same slot */
	u32 slot;
	void (*ring)(struct ur_db_client *db_client);
};

struct ur_ectx {
	struct ur_engine *engine;
	struct ur_list node;	  /* engine->ectxs */
	struct ur_list ring_node; /* engine->ringing, or in no list */
	ur_time rung_at;	  /* last doorbell, while in that list */
	u32 realm;		  /* of its address handles: ur_qp_init */
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
		predictor; /* for waits after this context's doorbell */
	u32 next_slot;
	struct ur_db_client *db_clients[UROCE_DB_SLOTS];
	struct ur_eah **ahs; /* by number - 1 */
	u32 ah_cap, ah_hint;
	bool own_ecn; /* the program sets the ECN bits of datagrams itself */
	/* transmit.c. rung: queue pairs that may have unfetched requests.
	 * to_drain: those that the current draining run has not reached. */
	struct ur_list rung, to_drain;
	u64 drain_run;		    /* number of the last run begun */
	bool draining;		    /* that run has not ended */
	struct ur_list mrs;	    /* ur_emr */
	struct ur_adverse *adverse; /* adverse.h; NULL: an ordinary card */
	u32 n_files; /* files of regions that are open for export */
};

/* Assigns a doorbell slot to a new queue (db_client->slot). When no slot is
 * free, queues share one. */
void ur_ectx_add_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/* Removes the queue from its slot. Does nothing if it has none. */
void ur_ectx_del_db_client(struct ur_ectx *ectx,
			   struct ur_db_client *db_client);
/* Allocates a block of the context's arena, as ur_arena_alloc() does. Returns 0, -ENOMEM or what
 * ur_ectx_set_room()'s function returns. */
int ur_ectx_alloc(struct ur_ectx *ectx, u64 bytes, struct ur_block *block);

#endif
