// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides which memory is moved under the shared file, and when it goes back.
 *
 * Nothing is, unless UROCE_MR_SHARED=1 asks for it: a card leaves memory where
 * it is, and a move is seen by fork, by futexes and by system calls of other
 * threads (README.md). Then the registry lists every live registration of the
 * process, moved or not. A page is moved with the first registration that can
 * have it and goes back with the last one that covers it: so what the
 * application does with memory that is no longer registered (realloc, munmap)
 * meets plain memory. Where anything is not as expected the memory stays as it
 * is, and the device reaches it by the slower way.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "migrate.h"
#include "pages.h"
#include "page_share.h"
#include "shared_file.h"
#include "util/list.h"

/* Not worth the move below this; small sends are inlined anyway. */
#define MIN_BYTES 4096

struct ur_page_share {
	struct ur_list node;
	u64 start, end; /* pages */
	bool shared;
	bool left; /* not shared, but parts may be in the file */
};

static struct {
	pthread_mutex_t lock;
	struct ur_list live;
	struct ur_list stuck; /* given back, but their pages would not go */
	bool started, enabled;
	bool dontfork; /* ibv_fork_init(): registered pages skip the child */
	int fork_pipe[2];
	bool forking; /* fork_pipe is open */
} reg = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.live = {&reg.live, &reg.live},
	.stuck = {&reg.stuck, &reg.stuck},
};

/* ---- fork: the child gets a copy of its own ---- */

/* The parent stops until the child has copied, so that what the child sees
 * is what was there at the fork. */
static void before_fork(void)
{
	pthread_mutex_lock(&reg.lock);
	reg.forking = ur_pages_any() && !pipe2(reg.fork_pipe, O_CLOEXEC);
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
	ur_pages_child();
	if (reg.forking) {
		reg.forking = false;
		close(reg.fork_pipe[0]);
		close(reg.fork_pipe[1]);
	}
	/* The parent's registrations are not the child's. Their owners may
	 * still give them back: the list stays, with nothing shared. */
	ur_list_for_each(it, &reg.live)
		ur_list_entry(it, struct ur_page_share, node)->shared = false;
	pthread_mutex_init(&reg.lock, NULL);
}

static bool start_up(void)
{
	const char *s;

	if (reg.started)
		return reg.enabled;
	reg.started = true;
	s = secure_getenv("UROCE_MR_SHARED");
	if (!s || strcmp(s, "1") || !ur_migrate_supported())
		return false;
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child))
		return false;
	/* It can be called before the first registration only. */
	reg.dontfork = ibv_is_fork_initialized() == IBV_FORK_ENABLED;
	reg.enabled = true;
	return true;
}

/* ---- moving out ---- */

struct page_range {
	u64 start, end;
};

/* The first part of [start, end) that no live registration covers. */
static bool uncovered(u64 start, u64 end, struct page_range *out)
{
	bool again = true;

	out->start = start;
	while (again) {
		again = false;
		ur_list_for_each(it, &reg.live) {
			const struct ur_page_share *o =
				ur_list_entry(it, struct ur_page_share, node);

			if (o->start <= out->start && out->start < o->end) {
				out->start = o->end;
				again = true;
			}
		}
	}
	out->end = end;
	ur_list_for_each(it, &reg.live) {
		const struct ur_page_share *o =
			ur_list_entry(it, struct ur_page_share, node);

		if (o->start > out->start && o->start < out->end)
			out->end = o->start;
	}
	return out->start < end;
}

static bool move_out_uncovered(const struct ur_page_share *p)
{
	struct page_range r;
	bool all = true;

	for (u64 at = p->start; uncovered(at, p->end, &r); at = r.end)
		if (!ur_pages_out(r.start, r.end))
			all = false;
	return all;
}

/*
 * Pages that would not go: another userfaultfd has them (a registration
 * cache's that watches for unmapping), or memory ran out. They are the
 * application's as they are, but what it does with them should meet plain
 * memory: one such range is tried again with each registration.
 */
static void retry_stuck(void)
{
	struct ur_page_share *p;

	if (ur_list_empty(&reg.stuck))
		return;
	p = ur_list_entry(reg.stuck.next, struct ur_page_share, node);
	ur_list_del(&p->node);
	if (ur_pages_file() < 0 || move_out_uncovered(p))
		free(p);
	else
		ur_list_add_tail(&reg.stuck, &p->node);
}

static bool is_stuck(const struct ur_page_share *p)
{
	ur_list_for_each(it, &reg.stuck) {
		const struct ur_page_share *o =
			ur_list_entry(it, struct ur_page_share, node);

		if (o->start <= p->start && p->end <= o->end)
			return true;
	}
	return false;
}

/* ---- giving and taking ---- */

/* Another registration of these pages that the device reaches otherwise
 * would see faults in the middle of the move. */
static bool in_use_unshared(u64 start, u64 end)
{
	ur_list_for_each(it, &reg.live) {
		const struct ur_page_share *o =
			ur_list_entry(it, struct ur_page_share, node);

		if (!o->shared && o->start < end && start < o->end)
			return true;
	}
	return false;
}

/* Moves the pages in if they can be. */
static void move_in(struct ur_page_share *p)
{
	int in;

	if (in_use_unshared(p->start, p->end))
		return;
	in = ur_pages_in(p->start, p->end, reg.dontfork);
	p->shared = in > 0;
	p->left = in < 0;
}

struct ur_page_share *ur_share_pages(void *addr, size_t length,
				     struct uroce_reg_mr_req *req)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 start = (u64)(uintptr_t)addr & ~(page - 1);
	u64 last = (u64)(uintptr_t)addr + length - 1;
	struct ur_page_share *p;

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
	retry_stuck();
	if (length >= MIN_BYTES)
		move_in(p);
	if (p->shared) {
		req->flags |= UROCE_MR_F_SHARED;
		req->shm_fd = ur_pages_file();
		req->shm_off = p->start;
	}
	ur_list_add_tail(&reg.live, &p->node);
	pthread_mutex_unlock(&reg.lock);
	return p;
}

void ur_page_share_put(struct ur_page_share *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&reg.lock);
	ur_list_del(&p->node);
	if ((p->shared || p->left) && ur_pages_file() >= 0) {
		retry_stuck();
		if (!move_out_uncovered(p) && !is_stuck(p)) {
			ur_list_add_tail(&reg.stuck, &p->node);
			p = NULL;
		}
	}
	pthread_mutex_unlock(&reg.lock);
	free(p);
}
