/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which memory is moved under the shared file, and when it goes back.
 *
 * The registry lists every live registration of the process, moved or not.
 * A page is moved with the first registration that can have it and goes back
 * with the last one that covers it: so what the application does with memory
 * that is no longer registered (realloc, munmap, fork) meets plain memory.
 * Where anything is not as expected the memory stays as it is, and the
 * device reaches it by the slower way.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "maps.h"
#include "move.h"
#include "promote.h"
#include "util/list.h"

/* Not worth the move below this; small sends are inlined anyway. */
#define MIN_BYTES 4096
/* Each move may split a mapping, and the kernel allows 65530 of them. */
#define MAX_VMAS 16384
/* Some ten milliseconds of copying. */
#define STEP_BYTES (32ull << 20)
/* Pieces of one registration. */
#define MAX_PIECES 64

struct ur_promotion {
	struct ur_list node;
	u64 start, end; /* pages */
	bool shared;
};

static struct {
	pthread_mutex_t lock;
	struct ur_list live;
	bool started, enabled;
	bool dontfork; /* ibv_fork_init(): registered pages skip the child */
	int file;      /* -1 until first used */
	u64 file_dev, file_ino;
	int fork_pipe[2];
	bool forking; /* fork_pipe is open */
} reg = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.live = {&reg.live, &reg.live},
	.file = -1,
};

struct piece {
	u64 start, end;
};

static bool is_ours(const struct ur_vma *v)
{
	return reg.file >= 0 && v->inode == reg.file_ino &&
	       v->dev == reg.file_dev;
}

/* ---- fork: the child gets a copy of its own ---- */

struct shared_maps {
	struct ur_vma vma[32];
	unsigned int n;
};

static int collect_ours(const struct ur_vma *v, void *arg)
{
	struct shared_maps *m = arg;

	if (is_ours(v) && v->perms[3] == 's')
		m->vma[m->n++] = *v;
	return m->n == UR_ARRAY_SIZE(m->vma);
}

static int any_ours(const struct ur_vma *v, void *arg)
{
	return is_ours(v);
}

/* The parent stops until the child has copied, so that what the child sees
 * is what was there at the fork. */
static void before_fork(void)
{
	pthread_mutex_lock(&reg.lock);
	reg.forking = reg.file >= 0 && ur_maps_walk(any_ours, NULL) > 0 &&
		      !pipe2(reg.fork_pipe, O_CLOEXEC);
}

static void after_fork_parent(void)
{
	char c;

	if (reg.forking) {
		reg.forking = false;
		close(reg.fork_pipe[1]);
		/* End of file: the child is done, or gone. */
		while (read(reg.fork_pipe[0], &c, 1) < 0 && errno == EINTR)
			;
		close(reg.fork_pipe[0]);
	}
	pthread_mutex_unlock(&reg.lock);
}

static void after_fork_child(void)
{
	struct shared_maps m;
	unsigned int failed = 0;

	if (reg.file >= 0) {
		do {
			m.n = 0;
			ur_maps_walk(collect_ours, &m);
			for (unsigned int i = 0; i < m.n; i++)
				if (ur_copy_private(reg.file, m.vma[i].start,
						    m.vma[i].end,
						    m.vma[i].file_off))
					failed++;
		} while (m.n && !failed);
		close(reg.file);
		reg.file = -1;
	}
	if (reg.forking) {
		reg.forking = false;
		close(reg.fork_pipe[0]);
		close(reg.fork_pipe[1]);
	}
	/* The parent's registrations are not the child's. Their owners may
	 * still give them back: the list stays, with nothing shared. */
	ur_list_for_each(it, &reg.live)
		ur_list_entry(it, struct ur_promotion, node)->shared = false;
	pthread_mutex_init(&reg.lock, NULL);
}

/* ---- moving in ---- */

static bool start_up(void)
{
	const char *s;

	if (reg.started)
		return reg.enabled;
	reg.started = true;
	s = getenv("UROCE_MR_SHARED");
	if (s && !strcmp(s, "0"))
		return false;
	if (!ur_move_supported())
		return false;
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child))
		return false;
	/* It can be called before the first registration only. */
	reg.dontfork = ibv_is_fork_initialized() == IBV_FORK_ENABLED;
	reg.enabled = true;
	return true;
}

static int open_file(void)
{
	struct stat st;
	int fd;

	if (reg.file >= 0)
		return 0;
	fd = ur_shared_file();
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	reg.file = fd;
	reg.file_ino = st.st_ino;
	reg.file_dev = (u64)major(st.st_dev) << 32 | minor(st.st_dev);
	return 0;
}

struct plan {
	u64 start, end;
	u64 at; /* how far the range is known to be fine */
	unsigned int vmas;
	unsigned int n;
	struct piece piece[MAX_PIECES];
};

static bool is_private_memory(const struct ur_vma *v)
{
	return !v->inode && !v->dev && !memcmp(v->perms, "rw-p", 4) &&
	       (!v->name[0] || !strcmp(v->name, "[heap]") ||
		!strncmp(v->name, "[anon:", 6));
}

/* Anything that makes the range unfit stops the walk with 1. */
static int plan_vma(const struct ur_vma *v, void *arg)
{
	struct plan *p = arg;
	u64 sp = (u64)(uintptr_t)__builtin_frame_address(0);

	if (++p->vmas > MAX_VMAS)
		return 1;
	/* Our pages at an address that is not theirs: the application moved
	 * them (mremap). They must not be had twice. */
	if (is_ours(v) && v->file_off != v->start && v->file_off < p->end &&
	    v->file_off + (v->end - v->start) > p->start)
		return 1;
	if (v->end <= p->start || v->start >= p->end)
		return 0;
	if (v->start > p->at)
		return 1; /* a gap */
	if (is_ours(v)) {
		if (v->file_off != v->start || v->perms[3] != 's')
			return 1;
	} else {
		if (!is_private_memory(v) || (sp >= v->start && sp < v->end) ||
		    p->n == MAX_PIECES)
			return 1;
		p->piece[p->n].start = p->at;
		p->piece[p->n++].end = ur_min_u64(v->end, p->end);
	}
	p->at = ur_min_u64(v->end, p->end);
	return 0;
}

/* Another registration of these pages that the device reaches otherwise
 * would see faults in the middle of the move. */
static bool in_use_unshared(u64 start, u64 end)
{
	ur_list_for_each(it, &reg.live) {
		const struct ur_promotion *o =
			ur_list_entry(it, struct ur_promotion, node);

		if (!o->shared && o->start < end && start < o->end)
			return true;
	}
	return false;
}

/* Moves in steps, so that threads never wait long and no more than a step is
 * there twice. */
static int move_steps(int (*move)(int, u64, u64), u64 start, u64 end,
		      u64 *ret_done)
{
	int err = 0;

	for (*ret_done = start; *ret_done < end && !err;) {
		u64 to = ur_min_u64(*ret_done + STEP_BYTES, end);

		err = move(reg.file, *ret_done, to);
		if (!err)
			*ret_done = to;
	}
	return err;
}

static bool move_in(u64 start, u64 end)
{
	struct plan p = {.start = start, .end = end, .at = start};
	unsigned int i;
	u64 done, back;

	if (open_file() || ur_maps_walk(plan_vma, &p) || p.at != end ||
	    ur_move_hits_me(start, end) || in_use_unshared(start, end))
		return false;
	for (i = 0; i < p.n; i++) {
		if (move_steps(ur_move_to_file, p.piece[i].start,
			       p.piece[i].end, &done))
			break;
		if (reg.dontfork)
			madvise((void *)(uintptr_t)p.piece[i].start,
				p.piece[i].end - p.piece[i].start,
				MADV_DONTFORK);
	}
	if (i == p.n)
		return true;
	move_steps(ur_move_from_file, p.piece[i].start, done, &back);
	while (i--)
		move_steps(ur_move_from_file, p.piece[i].start, p.piece[i].end,
			   &back);
	return false;
}

struct ur_promotion *ur_promote(void *addr, size_t length,
				struct uroce_reg_mr_req *req)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 start = (u64)(uintptr_t)addr & ~(page - 1);
	u64 last = (u64)(uintptr_t)addr + length - 1;
	struct ur_promotion *p;

	if (!length || last < (u64)(uintptr_t)addr ||
	    last >= UR_SHARED_BYTES - page)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->start = start;
	p->end = (last & ~(page - 1)) + page;
	pthread_mutex_lock(&reg.lock);
	if (!start_up()) {
		pthread_mutex_unlock(&reg.lock);
		free(p);
		return NULL;
	}
	if (length >= MIN_BYTES)
		p->shared = move_in(p->start, p->end);
	if (p->shared) {
		req->flags |= UROCE_MR_F_SHARED;
		req->shm_fd = reg.file;
		req->shm_off = p->start;
	}
	ur_list_add_tail(&reg.live, &p->node);
	pthread_mutex_unlock(&reg.lock);
	return p;
}

/* ---- moving out ---- */

/* The first part of [start, end) that no live registration covers. */
static bool uncovered(u64 start, u64 end, struct piece *out)
{
	bool again = true;

	out->start = start;
	while (again) {
		again = false;
		ur_list_for_each(it, &reg.live) {
			const struct ur_promotion *o =
				ur_list_entry(it, struct ur_promotion, node);

			if (o->start <= out->start && out->start < o->end) {
				out->start = o->end;
				again = true;
			}
		}
	}
	out->end = end;
	ur_list_for_each(it, &reg.live) {
		const struct ur_promotion *o =
			ur_list_entry(it, struct ur_promotion, node);

		if (o->start > out->start && o->start < out->end)
			out->end = o->start;
	}
	return out->start < end;
}

/* What of the range is still mapped from the file, at its own address. */
static int plan_out(const struct ur_vma *v, void *arg)
{
	struct plan *p = arg;

	if (is_ours(v) && v->file_off == v->start && v->start < p->end &&
	    v->end > p->start && p->n < MAX_PIECES) {
		p->piece[p->n].start =
			v->start > p->start ? v->start : p->start;
		p->piece[p->n++].end = ur_min_u64(v->end, p->end);
	}
	return 0;
}

static void move_out(u64 start, u64 end)
{
	struct plan p = {.start = start, .end = end};
	u64 done;

	ur_maps_walk(plan_out, &p);
	for (unsigned int i = 0; i < p.n; i++)
		if (!ur_move_hits_me(p.piece[i].start, p.piece[i].end))
			move_steps(ur_move_from_file, p.piece[i].start,
				   p.piece[i].end, &done);
}

void ur_promotion_put(struct ur_promotion *p)
{
	struct piece piece;
	u64 at;

	if (!p)
		return;
	pthread_mutex_lock(&reg.lock);
	ur_list_del(&p->node);
	if (p->shared && reg.file >= 0)
		for (at = p->start; uncovered(at, p->end, &piece);
		     at = piece.end)
			move_out(piece.start, piece.end);
	pthread_mutex_unlock(&reg.lock);
	free(p);
}
