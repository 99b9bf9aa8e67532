// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "engine/gpu/gpu.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/gpu/runtime.h"
#include "transport/mem.h"
#include "util/assert.h"

/* Messages that are read ahead at a time, and pieces of each: together at most half of a lane's. */
#define READERS 8u
#define DEPTH	4u
/* A copy takes some microseconds. After so many looks, other threads may need the processor more. */
#define SPINS 200u

enum use {
	FREE,
	LEAVES, /* is copied to the GPU */
	COMES,	/* a reader's */
};

struct lane {
	struct lane *next;
	const struct ur_gpu_runtime *rt;
	void *context;
	void *lane; /* the runtime's */
	u8 *pieces;
	u8 use[UR_GPU_PIECES];	   /* enum use */
	u64 marked[UR_GPU_PIECES]; /* number of its last copy */
	u64 marks;		   /* of all copies */
	int last; /* piece of the last copy to the GPU; -1: all copies to it are done */
	u32 regions;
	bool dead; /* a copy has failed: mostly the context is lost */
};

/* A message that reads memory of the GPU in order, ahead of the transport. */
struct reader {
	struct ur_emr *mr; /* NULL: none */
	const void *who;   /* as the transport calls it */
	u64 next, end;	   /* what is to be read: offsets in mr */
	u64 asked;	   /* up to there it comes, or has come */
	u32 piece[DEPTH], len[DEPTH];
	u32 head, n;
	u32 taken; /* bytes of the first one */
	ur_time used;
};

struct ur_gpu {
	struct lane *lanes;   /* used by threads that register */
	struct lane *entered; /* the engine thread's current lane, or NULL */
	pid_t pid;
	struct reader readers[READERS];
};

struct ur_gpu_memory {
	struct ur_gpu *gpu;
	struct lane *lane;
	u64 id;
};

static const struct ur_gpu_runtime *const runtimes[] = {&ur_gpu_cuda};

/* ---- registration ---- */

static bool is_wanted(void)
{
	const char *wish = secure_getenv("UROCE_GPU");

	return !wish || strcmp(wish, "off") != 0;
}

bool ur_gpu_is_there(void)
{
	if (!is_wanted())
		return false;
	for (u32 i = 0; i < UR_ARRAY_SIZE(runtimes); i++)
		if (runtimes[i]->is_there())
			return true;
	return false;
}

static const struct ur_gpu_runtime *find(u64 addr, u64 length,
					 struct ur_gpu_allocation *place)
{
	if (!length || !is_wanted())
		return NULL;
	for (u32 i = 0; i < UR_ARRAY_SIZE(runtimes); i++)
		if (!runtimes[i]->find(addr, place))
			return addr >= place->base &&
					       addr - place->base <=
						       place->bytes &&
					       length <= place->bytes -
								 (addr -
								  place->base)
				       ? runtimes[i]
				       : NULL;
	return NULL;
}

int ur_gpu_check(u64 addr, u64 length)
{
	struct ur_gpu_allocation place;

	return find(addr, length, &place) ? 0 : -EFAULT;
}

static struct lane *find_lane(struct ur_gpu *gpu,
			      const struct ur_gpu_runtime *rt, void *context)
{
	for (struct lane *l = gpu->lanes; l; l = l->next)
		if (l->rt == rt && l->context == context &&
		    !__atomic_load_n(&l->dead, __ATOMIC_RELAXED) &&
		    rt->lives(l->lane))
			return l;
	return NULL;
}

static int make_lane(struct ur_gpu *gpu, const struct ur_gpu_runtime *rt,
		     void *context, struct lane **ret)
{
	struct lane *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	err = rt->open(context, &l->lane, &l->pieces);
	if (err) {
		free(l);
		return err;
	}
	l->rt = rt;
	l->context = context;
	l->last = -1;
	l->next = gpu->lanes;
	gpu->lanes = l;
	*ret = l;
	return 0;
}

static void free_lane(struct ur_gpu *gpu, struct lane *lane)
{
	struct lane **at = &gpu->lanes;

	while (*at != lane)
		at = &(*at)->next;
	*at = lane->next;
	/* In a child of fork nothing of a CUDA runtime works any more. */
	if (gpu->pid == getpid())
		lane->rt->close(lane->lane);
	free(lane);
}

/* As long as the engine. */
static struct ur_gpu *gpu_of(struct ur_engine *engine)
{
	if (!engine->gpu) {
		engine->gpu = calloc(1, sizeof(*engine->gpu));
		if (engine->gpu)
			engine->gpu->pid = getpid();
	}
	return engine->gpu;
}

int ur_gpu_attach(struct ur_emr *mr)
{
	struct ur_gpu *gpu = gpu_of(mr->ectx->engine);
	const struct ur_gpu_runtime *rt;
	struct ur_gpu_memory *g;
	struct ur_gpu_allocation place;
	int err = 0;

	if (!gpu)
		return -ENOMEM;
	rt = gpu->pid == getpid() ? find(mr->attr.addr, mr->attr.length, &place)
				  : NULL;
	if (!rt)
		return -EFAULT;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->gpu = gpu;
	g->id = place.id;
	g->lane = find_lane(gpu, rt, place.context);
	if (!g->lane)
		err = make_lane(gpu, rt, place.context, &g->lane);
	if (err) {
		free(g);
		return err;
	}
	g->lane->regions++;
	mr->gpu = g;
	return 0;
}

void ur_gpu_detach(struct ur_emr *mr)
{
	struct ur_gpu_memory *g = mr->gpu;

	ur_assert(g->lane->regions);
	if (!--g->lane->regions)
		free_lane(g->gpu, g->lane);
	free(g);
	mr->gpu = NULL;
}

/* ---- copies ---- */

static void kill(struct lane *lane)
{
	__atomic_store_n(&lane->dead, true, __ATOMIC_RELAXED);
}

/* Waits for the copy of that piece, and all started before it. Returns 0 or -EFAULT. */
static int await(struct lane *lane, u32 piece)
{
	int err;

	for (u32 i = 0; (err = lane->rt->is_done(lane->lane, piece)) == -EAGAIN;
	     i++)
		if (i >= SPINS)
			sched_yield();
	if (err)
		kill(lane);
	return err ? -EFAULT : 0;
}

static void drop_reader(struct reader *r)
{
	struct lane *lane;

	if (!r->mr)
		return;
	/* A copy into a piece may still be under way. The piece can be given out all the same: its
	 * next copy comes later in the same stream. */
	lane = r->mr->gpu->lane;
	for (u32 i = 0; i < r->n; i++)
		lane->use[r->piece[(r->head + i) % DEPTH]] = LEAVES;
	r->mr = NULL;
}

/* Also if all readers, and the one on the stack of read_pieces(), hold their pieces, some are left. */
_Static_assert((READERS + 1) * DEPTH < UR_GPU_PIECES, "pieces");

/* Returns the first free piece: a few pieces that are used again and again stay in the processor's
 * cache. If none is free, returns the piece whose copy ends first. */
static u32 next_piece(const struct lane *lane)
{
	u32 best = UR_GPU_PIECES;

	for (u32 i = 0; i < UR_GPU_PIECES; i++) {
		if (lane->use[i] == FREE)
			return i;
		if (lane->use[i] == LEAVES &&
		    (best == UR_GPU_PIECES ||
		     lane->marked[i] < lane->marked[best]))
			best = i;
	}
	return best;
}

static int take_piece(struct lane *lane, u32 *piece)
{
	u32 at = next_piece(lane);

	*piece = at;
	if (lane->use[at] == LEAVES && await(lane, at))
		return -EFAULT;
	lane->use[at] = FREE;
	return 0;
}

static bool is_same(const struct ur_emr *mr)
{
	const struct ur_gpu_memory *g = mr->gpu;

	return g->lane->rt->is_same(mr->attr.addr, g->id);
}

/* Selects the region's lane for this thread. Returns the region's memory, or NULL if nothing can be
 * copied; the caller also checks is_same(). */
static struct ur_gpu_memory *enter(const struct ur_emr *mr)
{
	struct ur_gpu_memory *g = mr->gpu;
	struct lane *lane = g->lane;

	if (lane->dead || g->gpu->pid != getpid())
		return NULL;
	if (g->gpu->entered != lane && lane->rt->enter(lane->lane)) {
		kill(lane);
		return NULL;
	}
	g->gpu->entered = lane;
	return g;
}

/* Marks the copy of the piece. Without a mark nobody could know when the piece may be used again. */
static int mark(struct lane *lane, u32 piece)
{
	lane->marked[piece] = ++lane->marks;
	if (!lane->rt->mark(lane->lane, piece))
		return 0;
	kill(lane);
	return -EFAULT;
}

static u8 *bytes_of(const struct lane *lane, u32 piece)
{
	return lane->pieces + (size_t)piece * UR_GPU_PIECE_BYTES;
}

/* ---- from the GPU ---- */

static int ask_piece(struct reader *r)
{
	struct ur_gpu_memory *g = r->mr->gpu;
	struct lane *lane = g->lane;
	u32 len = (u32)ur_min_u64(r->end - r->asked, UR_GPU_PIECE_BYTES);
	u32 at = (r->head + r->n) % DEPTH, piece;
	int err = take_piece(lane, &piece);

	if (err)
		return err;
	if (lane->rt->to_host(lane->lane, bytes_of(lane, piece),
			      r->mr->attr.addr + r->asked, len))
		return -EFAULT;
	err = mark(lane, piece);
	if (err)
		return err;
	lane->use[piece] = COMES;
	r->piece[at] = piece;
	r->len[at] = len;
	r->asked += len;
	r->n++;
	return 0;
}

static int ask_all(struct reader *r)
{
	int err = 0;

	while (!err && r->n < DEPTH && r->asked < r->end)
		err = ask_piece(r);
	return err;
}

/* Copies at most len bytes of the first piece. Returns how many, or -EFAULT. */
static int take_bytes(struct reader *r, u8 *to, u32 len)
{
	struct ur_gpu_memory *g = r->mr->gpu;
	struct lane *lane = g->lane;
	u32 piece = r->piece[r->head];

	if (!r->taken && (await(lane, piece) || !is_same(r->mr)))
		return -EFAULT;
	len = ur_min_u32(len, r->len[r->head] - r->taken);
	memcpy(to, bytes_of(lane, piece) + r->taken, len);
	r->taken += len;
	r->next += len;
	if (r->taken == r->len[r->head]) {
		lane->use[piece] = FREE;
		r->head = (r->head + 1) % DEPTH;
		r->n--;
		r->taken = 0;
	}
	return (int)len;
}

static int take_run(struct reader *r, u8 *to, u32 len)
{
	int n = 0;

	for (; len; to += n, len -= (u32)n) {
		if (ask_all(r))
			return -EFAULT;
		n = take_bytes(r, to, len);
		if (n < 0)
			return n;
	}
	return 0;
}

/* Begins again at off: the transport repeats packets. What was read ahead is dropped. */
static void rewind_reader(struct reader *r, u64 off)
{
	struct ur_emr *mr = r->mr;

	drop_reader(r);
	r->mr = mr;
	r->next = r->asked = off;
	r->n = r->taken = 0;
}

/* Returns the reader of that message, if it reads ahead. Others must not use its pieces: the bytes
 * may be older than their requests. */
static struct reader *find_reader(struct ur_emr *mr, u64 off, u64 len,
				  const void *who)
{
	for (u32 i = 0; who && i < READERS; i++) {
		struct reader *r = &mr->gpu->gpu->readers[i];

		if (r->mr != mr || r->who != who)
			continue;
		if (off > r->end || len > r->end - off) {
			drop_reader(r);
			return NULL;
		}
		if (r->next != off)
			rewind_reader(r, off);
		return r;
	}
	return NULL;
}

static int read_pieces(void *mem, u64 off, const struct ur_pieces *to)
{
	struct ur_emr *mr = mem;
	u64 len = (u64)to->len * to->n;
	struct reader own = {.mr = mr, .next = off, .asked = off}, *r = &own;
	int err = 0;

	if (!len)
		return 0;
	own.end = off + len;
	if (!enter(mr) || !is_same(mr))
		return -EFAULT;
	r = find_reader(mr, off, len, to->reader);
	if (!r)
		r = &own;
	r->used = mr->ectx->engine->now;
	for (u32 i = 0; i < to->n && !err; i++)
		err = take_run(r, to->first + (size_t)i * to->stride, to->len);
	if (err || r->next == r->end || ask_all(r))
		drop_reader(r);
	return err;
}

static int read_bytes(void *mem, u64 off, void *dst, u32 len)
{
	const struct ur_pieces to = {
		.first = dst, .stride = len, .len = len, .n = 1};

	return read_pieces(mem, off, &to);
}

/* Returns the reader of that message; else a free one; else the one that was used least recently. */
static struct reader *reader_for(struct ur_gpu *gpu, const void *who)
{
	struct reader *best = &gpu->readers[0];

	for (u32 i = 0; i < READERS; i++) {
		struct reader *r = &gpu->readers[i];

		if (r->mr && r->who == who)
			return r;
		if (best->mr && (!r->mr || r->used < best->used))
			best = r;
	}
	return best;
}

static void ahead(void *mem, u64 off, u64 len, const void *who)
{
	struct ur_emr *mr = mem;
	struct reader *r;

	if (!enter(mr) || !is_same(mr))
		return;
	r = reader_for(mr->gpu->gpu, who);
	drop_reader(r);
	*r = (struct reader){.mr = mr,
			     .who = who,
			     .next = off,
			     .asked = off,
			     .end = off + len,
			     .used = mr->ectx->engine->now};
	if (ask_all(r))
		drop_reader(r);
}

/* ---- to the GPU ---- */

/* Returns 0 when all copies to the GPU are done. Copies from the GPU for a dropped reader may still
 * be under way. */
static int finish_copies(struct lane *lane)
{
	u32 last = (u32)lane->last;
	int err;

	if (lane->last < 0)
		return 0;
	err = await(lane, last);
	if (err)
		return err;
	for (u32 i = 0; i < UR_GPU_PIECES; i++)
		if (lane->use[i] == LEAVES &&
		    lane->marked[i] <= lane->marked[last])
			lane->use[i] = FREE;
	lane->last = -1;
	return 0;
}

/* Copies len bytes to a piece, from position at in the packets' payloads. */
static void gather(u8 *to, const struct ur_pieces *from, u64 at, u32 len)
{
	while (len) {
		u32 inside = (u32)(at % from->len);
		u32 n = ur_min_u32(len, from->len - inside);

		memcpy(to, from->first + at / from->len * from->stride + inside,
		       n);
		to += n;
		at += n;
		len -= n;
	}
}

static int write_piece(const struct ur_emr *mr, u64 addr,
		       const struct ur_pieces *from, u64 at, u32 len)
{
	const struct ur_gpu_memory *g = mr->gpu;
	struct lane *lane = g->lane;
	u32 piece;

	if (take_piece(lane, &piece))
		return -EFAULT;
	gather(bytes_of(lane, piece), from, at, len);
	/* While a piece was awaited, the program may have freed the memory, and another allocation
	 * may have its address. */
	if (!is_same(mr) ||
	    lane->rt->from_host(lane->lane, addr, bytes_of(lane, piece), len))
		return -EFAULT;
	lane->use[piece] = LEAVES;
	lane->last = (int)piece;
	return mark(lane, piece);
}

static int write_pieces(void *mem, u64 off, const struct ur_pieces *from)
{
	struct ur_emr *mr = mem;
	u64 len = (u64)from->len * from->n, addr = mr->attr.addr + off;
	struct ur_gpu_memory *g = enter(mr);
	u32 n;

	if (!g)
		return -EFAULT;
	for (u64 at = 0; at < len; at += n) {
		n = (u32)ur_min_u64(len - at, UR_GPU_PIECE_BYTES);
		if (write_piece(mr, addr + at, from, at, n))
			return -EFAULT;
	}
	if (from->more)
		return 0;
	return is_same(mr) ? finish_copies(g->lane) : -EFAULT;
}

static int write_some(void *mem, u64 off, const void *src, u32 len, bool more)
{
	const struct ur_pieces from = {.first = (u8 *)(uintptr_t)src,
				       .stride = len,
				       .len = len,
				       .n = 1,
				       .more = more};

	return write_pieces(mem, off, &from);
}

static int write_last(void *mem, u64 off, const void *src, u32 len)
{
	return write_some(mem, off, src, len, false);
}

static int write_more(void *mem, u64 off, const void *src, u32 len)
{
	return write_some(mem, off, src, len, true);
}

/* ---- words ---- */

/* Serializes atomics of all engines of the process, since two may have the same memory. */
static pthread_mutex_t words = PTHREAD_MUTEX_INITIALIZER;

static int cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
	       u64 swap_mask, u64 *old)
{
	u64 v;
	int err;

	pthread_mutex_lock(&words);
	err = read_bytes(mem, off, old, sizeof(*old));
	if (!err && !((*old ^ compare) & compare_mask)) {
		v = (*old & ~swap_mask) | (swap & swap_mask);
		err = write_last(mem, off, &v, sizeof(v));
	}
	pthread_mutex_unlock(&words);
	return err;
}

static int faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	u64 v;
	int err;

	pthread_mutex_lock(&words);
	err = read_bytes(mem, off, old, sizeof(*old));
	if (!err) {
		v = ur_masked_add(*old, add, boundary_mask);
		err = write_last(mem, off, &v, sizeof(v));
	}
	pthread_mutex_unlock(&words);
	return err;
}

static int flush(void *mem, u64 off, u64 len, u32 type)
{
	const struct ur_gpu_memory *g = enter(mem);

	return !g || !is_same(mem) || finish_copies(g->lane) ? -EFAULT : 0;
}

const struct ur_mem_ops ur_gpu_mem_ops = {
	.read = read_bytes,
	.write = write_last,
	.read_pieces = read_pieces,
	.write_pieces = write_pieces,
	.write_more = write_more,
	.ahead = ahead,
	.cas = cas,
	.faa = faa,
	.flush = flush,
};

/* ---- in the engine ---- */

void ur_gpu_finish(struct ur_emr *mr)
{
	struct ur_gpu *gpu = mr->gpu->gpu;
	struct lane *lane = mr->gpu->lane;

	for (u32 i = 0; i < READERS; i++)
		if (gpu->readers[i].mr == mr)
			drop_reader(&gpu->readers[i]);
	/* A piece must not be freed while a copy into it may come; the last region frees the
	 * pieces. */
	if (gpu->pid == getpid() && lane->rt->lives(lane->lane))
		for (u32 i = 0; i < UR_GPU_PIECES; i++)
			if (lane->use[i] == LEAVES && !await(lane, i))
				lane->use[i] = FREE;
	lane->last = -1;
	if (gpu->entered == lane)
		gpu->entered = NULL;
}

void ur_gpu_fini(struct ur_engine *engine)
{
	free(engine->gpu);
	engine->gpu = NULL;
}
