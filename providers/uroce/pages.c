// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the mappings of a range that can live in the shared file, by
 * /proc/self/maps, and moves ranges into it and out of it in bounded steps.
 * migrate.c moves one range; page_share.c knows why.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel.h"
#include "maps.h"
#include "migrate.h"
#include "pages.h"
#include "shared_file.h"

/* Each move may split a mapping, and the kernel allows 65530 of them. */
#define MAX_VMAS 16384
/* Some ten milliseconds of copying. */
#define STEP_BYTES (32ull << 20)
/* Pieces of one registration. */
#define MAX_PIECES 64

static struct {
	int fd; /* -1 until first used */
	u64 dev, ino;
} file = {.fd = -1};

struct piece {
	u64 start, end;
	int prot;
};

static int prot_of(const struct ur_vma *v)
{
	return (v->perms[0] == 'r' ? PROT_READ : 0) |
	       (v->perms[1] == 'w' ? PROT_WRITE : 0) |
	       (v->perms[2] == 'x' ? PROT_EXEC : 0);
}

static bool is_ours(const struct ur_vma *v)
{
	return file.fd >= 0 && v->inode == file.ino && v->dev == file.dev;
}

static int open_file(void)
{
	struct stat st;
	int fd;

	if (file.fd >= 0)
		return 0;
	fd = ur_shared_file();
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	file.fd = fd;
	file.ino = st.st_ino;
	file.dev = (u64)major(st.st_dev) << 32 | minor(st.st_dev);
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
		if (v->file_off != v->start || memcmp(v->perms, "rw-s", 4))
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

/* Moves in steps, so that threads never wait long and no more than a step is
 * there twice. */
static int steps_in(u64 start, u64 end, u64 *ret_done)
{
	int err = 0;

	for (*ret_done = start; *ret_done < end && !err;) {
		u64 to = ur_min_u64(*ret_done + STEP_BYTES, end);

		err = ur_migrate_to_file(file.fd, *ret_done, to);
		if (!err)
			*ret_done = to;
	}
	return err;
}

static int steps_out(u64 start, u64 end, int prot)
{
	int err = 0;

	for (; start < end && !err; start += STEP_BYTES)
		err = ur_migrate_from_file(file.fd, start,
					   ur_min_u64(start + STEP_BYTES, end),
					   prot);
	return err;
}

int ur_pages_in(u64 start, u64 end, bool dontfork)
{
	struct plan p = {.start = start, .end = end, .at = start};
	unsigned int i;
	int undone = 0;
	u64 done;

	if (open_file() || ur_maps_walk(plan_vma, &p) || p.at != end ||
	    ur_migrate_hits_me(start, end))
		return 0;
	for (i = 0; i < p.n; i++) {
		if (steps_in(p.piece[i].start, p.piece[i].end, &done))
			break;
		if (dontfork)
			ur_sys_madvise(p.piece[i].start,
				       p.piece[i].end - p.piece[i].start,
				       MADV_DONTFORK);
	}
	if (i == p.n)
		return 1;
	undone = steps_out(p.piece[i].start, done, PROT_READ | PROT_WRITE);
	while (i--)
		undone |= steps_out(p.piece[i].start, p.piece[i].end,
				    PROT_READ | PROT_WRITE);
	return undone ? -EAGAIN : 0;
}

/* Plans the pieces of the range that are still mapped from the file, at their
 * own addresses. */
static int plan_out(const struct ur_vma *v, void *arg)
{
	struct plan *p = arg;

	if (is_ours(v) && v->file_off == v->start && v->perms[3] == 's' &&
	    v->start < p->end && v->end > p->at) {
		p->piece[p->n].start = v->start > p->at ? v->start : p->at;
		p->piece[p->n].end = ur_min_u64(v->end, p->end);
		p->piece[p->n].prot = prot_of(v);
		p->n++;
	}
	return p->n == MAX_PIECES;
}

bool ur_pages_out(u64 start, u64 end)
{
	struct plan p = {.start = start, .end = end, .at = start};
	bool all = true;

	do {
		p.n = 0;
		ur_maps_walk(plan_out, &p);
		for (unsigned int i = 0; i < p.n; i++) {
			const struct piece *o = &p.piece[i];

			if (ur_migrate_hits_me(o->start, o->end) ||
			    steps_out(o->start, o->end, o->prot))
				all = false;
			p.at = o->end;
		}
	} while (p.n == MAX_PIECES);
	return all;
}

/* ---- fork ---- */

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

int ur_pages_file(void)
{
	return file.fd;
}

bool ur_pages_any(void)
{
	return file.fd >= 0 && ur_maps_walk(any_ours, NULL) > 0;
}

void ur_pages_child(void)
{
	struct shared_maps m;
	unsigned int failed = 0;

	if (file.fd < 0)
		return;
	do {
		m.n = 0;
		ur_maps_walk(collect_ours, &m);
		for (unsigned int i = 0; i < m.n; i++)
			if (ur_copy_private(file.fd, m.vma[i].start,
					    m.vma[i].end, m.vma[i].file_off,
					    prot_of(&m.vma[i])))
				failed++;
	} while (m.n && !failed);
	close(file.fd);
	file.fd = -1;
}
