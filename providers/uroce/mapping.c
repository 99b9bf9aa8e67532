// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mappings of memory that a context shares with an engine. The rings of many
 * queues share one window, a mapping of part of the sparse file: with a mapping
 * for each ring, 65,000 queues would use all that a process may have
 * (vm.max_map_count). A ring that crosses windows, or is larger, has a mapping
 * of its own; so has each where a limit of address space or locked memory
 * leaves no room for a window.
 */
#include <sys/mman.h>

#include "uroce.h"

#define WINDOW_BYTES (2ull << 20)

struct window {
	struct ur_list node;
	/* The file: of which context (NULL once it has gone), whose, and after
	 * how many recoveries. */
	const struct uroce_context *ctx;
	enum ur_whose whose;
	u32 recoveries;
	u64 off;
	u8 *at;
	u32 users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list windows = {&windows, &windows};

static void *map_file(int fd, u64 off, u64 len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)off);

	return p == MAP_FAILED ? NULL : p;
}

/* ---- with the lock held ---- */

static struct window *find_window(const struct window *like)
{
	ur_list_for_each(it, &windows) {
		struct window *w = ur_list_entry(it, struct window, node);

		if (w->ctx == like->ctx && w->whose == like->whose &&
		    w->recoveries == like->recoveries && w->off == like->off)
			return w;
	}
	return NULL;
}

static struct window *open_window(int fd, const struct window *like)
{
	struct window *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	*w = *like;
	w->at = map_file(fd, w->off, WINDOW_BYTES);
	if (!w->at) {
		free(w);
		return NULL;
	}
	ur_list_add_head(&windows, &w->node);
	return w;
}

static struct window *window_at(const u8 *map)
{
	ur_list_for_each(it, &windows) {
		struct window *w = ur_list_entry(it, struct window, node);

		if (map >= w->at && map < w->at + WINDOW_BYTES)
			return w;
	}
	return NULL;
}

/* Returns whether map was in a window; unmaps the window with its last ring. */
static bool leave_window(const u8 *map)
{
	struct window *w = window_at(map);

	if (!w)
		return false;
	ur_list_del(&w->node);
	if (--w->users) {
		/* Its neighbours are likely to follow. */
		ur_list_add_head(&windows, &w->node);
		return true;
	}
	munmap(w->at, WINDOW_BYTES);
	free(w);
	return true;
}

/* ---- */

static int file_of(const struct uroce_context *ctx, enum ur_whose whose)
{
	return whose == UR_OF_DEVICE   ? ctx->ibv.cmd_fd
	       : whose == UR_OF_SHARED ? ctx->shared_fd
				       : ctx->engine_fd;
}

static void *map(const struct uroce_context *ctx, enum ur_whose whose, u64 off,
		 u64 len)
{
	const struct window like = {
		.ctx = ctx,
		.whose = whose,
		.recoveries =
			__atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE),
		.off = off - off % WINDOW_BYTES,
	};
	int fd = file_of(ctx, whose);
	struct window *w;
	void *p = NULL;

	if (len > WINDOW_BYTES - off % WINDOW_BYTES)
		return map_file(fd, off, len);
	pthread_mutex_lock(&lock);
	w = find_window(&like);
	if (!w)
		w = open_window(fd, &like);
	if (w) {
		w->users++;
		p = w->at + off % WINDOW_BYTES;
	}
	pthread_mutex_unlock(&lock);
	return p ? p : map_file(fd, off, len);
}

void *ur_map(struct ibv_context *context, u64 off, u64 len)
{
	return map(ur_to_ctx(context), UR_OF_HERE, off, len);
}

void *ur_map_at(struct ibv_context *context, enum ur_whose whose, u64 off,
		u64 len)
{
	return map(ur_to_ctx(context), whose, off, len);
}

void ur_unmap(void *map, u64 len)
{
	bool left;

	if (!map)
		return;
	pthread_mutex_lock(&lock);
	left = leave_window(map);
	pthread_mutex_unlock(&lock);
	if (!left)
		munmap(map, len);
}

void ur_map_end(const struct uroce_context *ctx)
{
	pthread_mutex_lock(&lock);
	ur_list_for_each(it, &windows) {
		struct window *w = ur_list_entry(it, struct window, node);

		if (w->ctx == ctx)
			w->ctx = NULL;
	}
	pthread_mutex_unlock(&lock);
}
