// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* User contexts: the doorbell page, its slots, the wake-up descriptor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "engine/faults/adverse.h"
#include "engine/core/engine_impl.h"
#include "engine/core/ringing.h"
#include "engine/core/transmit.h"
#include "engine/core/wait.h"
#include "engine/ground/user.h"
#include "util/assert.h"
#include "util/os/high_fd.h"

_Static_assert(UR_STAGE_BYTES == UR_BOUNCE_BYTES, "a stage is a port's bounce");

void ur_ectx_add_db_client(struct ur_ectx *ectx, struct ur_db_client *db_client)
{
	db_client->slot = ectx->next_slot++ % UROCE_DB_SLOTS;
	db_client->next = ectx->db_clients[db_client->slot];
	ectx->db_clients[db_client->slot] = db_client;
}

void ur_ectx_del_db_client(struct ur_ectx *ectx, struct ur_db_client *db_client)
{
	struct ur_db_client **at = &ectx->db_clients[db_client->slot];

	while (*at && *at != db_client)
		at = &(*at)->next;
	if (*at)
		*at = db_client->next;
}

int ur_ectx_alloc(struct ur_ectx *ectx, u64 bytes, struct ur_block *block)
{
	struct ur_arena_chunk *more;
	int err = ur_arena_alloc(&ectx->arena, bytes, block);

	if (err != -EAGAIN)
		return err;
	err = ectx->room ? ectx->room(ectx->room_arg,
				      ur_align_up(bytes, UR_ARENA_CHUNK))
			 : 0;
	if (err)
		return err;
	more = ur_arena_map(&ectx->arena, bytes);
	if (!more)
		return -ENOMEM;
	ur_arena_add(&ectx->arena, more);
	return ur_arena_alloc(&ectx->arena, bytes, block);
}

static void woken(struct ur_watch *watch, u32 events)
{
	struct ur_ectx *x = ur_container_of(watch, struct ur_ectx, wake_watch);

	/* The eventfd is edge triggered and never read. */
	ur_wait_ring(x->engine, x);
}

static int create(struct ur_engine *engine, struct ur_ectx *x)
{
	int err;

	ur_assert(x->engine == engine);
	err = ur_engine_watch(engine, x->wake_fd, EPOLLIN | EPOLLET,
			      &x->wake_watch);
	if (!err)
		ur_wait_add(engine, x);
	/* An engine in a program has one context. */
	if (!err && engine->config.inproc)
		ur_port_set_bounce(engine->port, x->mem->stage);
	return err;
}
UR_ENGINE_CALL(1, create, struct ur_ectx *);

int ur_ectx_create(struct ur_engine *engine, int memfd, struct ur_user_mem *mem,
		   u32 realm, struct ur_ectx **ectx, struct ur_ectx_info *info)
{
	struct ur_ectx *x = calloc(1, sizeof(*x));
	int err;

	if (!x)
		return -ENOMEM;
	x->engine = engine;
	x->realm = realm;
	ur_list_init(&x->node);
	ur_list_init(&x->ring_node);
	ur_list_init(&x->mrs);
	ur_list_init(&x->rung);
	ur_list_init(&x->to_drain);
	x->wake_watch.fn = woken;
	x->wake_fd = ur_high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (x->wake_fd < 0) {
		err = -errno;
		goto err_free;
	}
	err = ur_arena_init(&x->arena, memfd);
	if (err)
		goto err_close;
	err = ur_ectx_alloc(x, sizeof(*x->db), &x->db_block);
	if (err)
		goto err_arena;
	x->db = (struct uroce_db_page *)x->db_block.ptr;
	memset(x->db, 0, sizeof(*x->db));
	/* Before the call: from then on the engine's thread uses it. */
	x->mem = mem;
	err = call_create(x->engine, x);
	if (err)
		goto err_arena;
	ur_user_mem_get(mem);
	info->db_map_off = x->db_block.off;
	info->db_map_len = (u32)x->db_block.len;
	info->wake_fd = x->wake_fd;
	*ectx = x;
	return 0;
err_arena:
	ur_arena_fini(&x->arena);
err_close:
	close(x->wake_fd);
err_free:
	free(x);
	return err;
}

static int drain(struct ur_engine *engine, struct ur_ectx *x, u64 *run)
{
	return ur_transmit_drain_all(engine, x, run) ? -EAGAIN : 0;
}
UR_ENGINE_CALL(2, drain, struct ur_ectx *, u64 *);

bool ur_ectx_drain(struct ur_ectx *ectx, u64 *run)
{
	return call_drain(ectx->engine, ectx, run);
}

void ur_ectx_set_room(struct ur_ectx *ectx, int (*room)(void *arg, u64 bytes),
		      void *arg)
{
	ectx->room = room;
	ectx->room_arg = arg;
}

static int destroy(struct ur_engine *engine, struct ur_ectx *x)
{
	ur_assert(x->engine == engine);
	ur_list_del(&x->node);
	ur_ringing_del(engine, x);
	if (engine->config.inproc)
		ur_port_set_bounce(engine->port, NULL);
	ur_adverse_end(x);
	ur_idle_forget(&engine->idle, &x->predictor);
	ur_engine_unwatch(engine, x->wake_fd);
	return 0;
}
UR_ENGINE_CALL(1, destroy, struct ur_ectx *);

void ur_ectx_destroy(struct ur_ectx *ectx)
{
	call_destroy(ectx->engine, ectx);
	ur_arena_free(&ectx->arena, &ectx->db_block);
	ur_arena_fini(&ectx->arena);
	close(ectx->wake_fd);
	ur_user_mem_put(ectx->mem);
	free(ectx->ahs);
	free(ectx);
}
