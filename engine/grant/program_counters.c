// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters of engines in programs, in shared memory: both sides. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/program_page.h"
#include "util/assert.h"
#include "util/os/clock.h"
#include "util/os/map_shared.h"

/* Fastest believable growth of a counter: twice the bandwidth of memory. */
#define MOST_PER_NS 64u

struct memory {
	int fd; /* -1: none */
	const struct ur_counter_page *page;
	u64 seen[UR_CNT_COUNT]; /* highest values read */
	u64 since; /* time of the last read; 0: an earlier uroced's memory */
};

struct ur_counter_grants {
	struct memory slot[UR_SLOTS];
	u64 gone[UR_CNT_COUNT]; /* sums of ended programs */
	bool sl_refused;	/* reported by an ended program */
};

/* ---- the device ---- */

static int make_memory(struct memory *memory)
{
	void *p;
	int err = ur_make_shared(
		"uroce-counters", sizeof(*memory->page), PROT_READ,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, &memory->fd, &p);

	if (!err) {
		memory->page = p;
		memory->since = ur_clock_ns(CLOCK_MONOTONIC);
	}
	return err;
}

static struct ur_kept counters_name(const struct ur_engine *engine, u32 slot)
{
	return (struct ur_kept){.kind = UR_KEPT_COUNTERS,
				.device = engine->local_device,
				.place = slot};
}

static struct ur_counter_grants *grants_of(struct ur_engine *engine)
{
	struct ur_counter_grants *l = engine->counter_grants;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	for (u32 i = 0; i < UR_SLOTS; i++)
		l->slot[i].fd = -1;
	return engine->counter_grants = l;
}

int ur_counters_grant(struct ur_engine *engine, u32 slot, int *fd)
{
	struct ur_counter_grants *l = grants_of(engine);
	const struct ur_kept what = counters_name(engine, slot);
	int err;

	ur_assert(slot && slot < UR_SLOTS);
	if (!l)
		return -ENOMEM;
	ur_counters_grant_end(engine, slot);
	err = make_memory(&l->slot[slot]);
	if (err)
		return err;
	*fd = l->slot[slot].fd;
	return ur_keep_put(&what, *fd);
}

int ur_counters_inherit(struct ur_engine *engine, u32 slot)
{
	struct ur_counter_grants *l = grants_of(engine);
	struct ur_kept what = counters_name(engine, slot);
	void *p;
	int fd, err;

	ur_assert(slot && slot < UR_SLOTS);
	if (!l)
		return -ENOMEM;
	fd = ur_keep_take(&what);
	if (fd < 0)
		return -ENOENT;
	err = ur_map_shared(fd, sizeof(struct ur_counter_page), PROT_READ, &p);
	if (err) {
		close(fd);
		ur_keep_drop(&what);
		return err;
	}
	l->slot[slot] = (struct memory){.fd = fd, .page = p};
	return 0;
}

/* Reads the counters. Ignores one that has fallen, and limits growth to what memory
 * bandwidth allows. */
static void read_memory(struct memory *memory)
{
	u64 values[UR_CNT_COUNT], now = ur_clock_ns(CLOCK_MONOTONIC);
	u64 most = (now - memory->since) * MOST_PER_NS;

	ur_counters_read(memory->page->port, values);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		if (values[i] > memory->seen[i])
			memory->seen[i] +=
				ur_min_u64(values[i] - memory->seen[i], most);
	memory->since = now;
}

static bool is_sl_refused(const struct memory *memory)
{
	return ur_shown_value(&memory->page->sl_refused);
}

bool ur_counters_programs_sl(const struct ur_engine *engine)
{
	const struct ur_counter_grants *l = engine->counter_grants;
	bool any = l && l->sl_refused;

	for (u32 slot = 0; l && slot < UR_SLOTS; slot++)
		if (l->slot[slot].fd >= 0)
			any |= is_sl_refused(&l->slot[slot]);
	return any;
}

void ur_counters_grant_end(struct ur_engine *engine, u32 slot)
{
	struct ur_counter_grants *l = engine->counter_grants;
	const struct ur_kept what = counters_name(engine, slot);
	struct memory *memory;

	if (!l || l->slot[slot].fd < 0)
		return;
	ur_keep_drop(&what);
	memory = &l->slot[slot];
	read_memory(memory);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		l->gone[i] += memory->seen[i];
	l->sl_refused |= is_sl_refused(memory);
	munmap((void *)(uintptr_t)memory->page, sizeof(*memory->page));
	close(memory->fd);
	*memory = (struct memory){.fd = -1};
}

void ur_counters_programs(struct ur_engine *engine, u64 *values)
{
	struct ur_counter_grants *l = engine->counter_grants;

	memset(values, 0, UR_CNT_COUNT * sizeof(*values));
	if (!l)
		return;
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		values[i] += l->gone[i];
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		if (l->slot[slot].fd < 0)
			continue;
		read_memory(&l->slot[slot]);
		for (u32 i = 0; i < UR_CNT_COUNT; i++)
			values[i] += l->slot[slot].seen[i];
	}
}

const struct ur_counter_page *ur_counters_page(const struct ur_engine *engine,
					       u32 slot)
{
	const struct ur_counter_grants *l = engine->counter_grants;

	return l && slot < UR_SLOTS && l->slot[slot].fd >= 0
		       ? l->slot[slot].page
		       : NULL;
}

bool ur_engine_shown_qp(const struct ur_engine *engine, u32 qpn, u64 *values)
{
	const struct ur_counter_page *page =
		ur_counters_page(engine, ur_slot_of(qpn));

	for (u32 i = 0; page && i < UR_SHOWN_PLACES; i++) {
		const struct ur_shown_qp *qp =
			&page->qp[ur_shown_place(qpn, i)];

		if (ur_shown_value(&qp->qpn) != qpn)
			continue;
		for (u32 w = 0; w < UR_QP_SHOWN; w++)
			values[w] = ur_shown_value(&qp->shown[w]);
		return true;
	}
	return false;
}

void ur_counters_grant_fini(struct ur_engine *engine)
{
	if (!engine->counter_grants)
		return;
	for (u32 slot = 1; slot < UR_SLOTS; slot++)
		ur_counters_grant_end(engine, slot);
	free(engine->counter_grants);
	engine->counter_grants = NULL;
}

/* ---- the program ---- */

int ur_counters_map(int fd, struct ur_counter_page **page)
{
	void *p;
	int err = ur_map_shared(fd, sizeof(**page), PROT_READ | PROT_WRITE, &p);

	if (!err)
		*page = p;
	return err;
}

u64 *ur_counters_of_port(struct ur_counter_page *page)
{
	return page->port;
}

u64 *ur_counters_of_qp(struct ur_counter_page *page, u32 qpn)
{
	for (u32 i = 0; i < UR_SHOWN_PLACES; i++) {
		struct ur_shown_qp *qp = &page->qp[ur_shown_place(qpn, i)];

		if (qp->qpn)
			continue;
		memset(qp->shown, 0, sizeof(qp->shown));
		__atomic_store_n(&qp->qpn, qpn, __ATOMIC_RELEASE);
		return qp->shown;
	}
	return NULL;
}

void ur_counters_qp_gone(struct ur_counter_page *page, u32 qpn)
{
	for (u32 i = 0; i < UR_SHOWN_PLACES; i++) {
		struct ur_shown_qp *qp = &page->qp[ur_shown_place(qpn, i)];

		if (qp->qpn == qpn)
			__atomic_store_n(&qp->qpn, 0, __ATOMIC_RELEASE);
	}
}

u64 *ur_counters_sl(struct ur_counter_page *page)
{
	return &page->sl_refused;
}

void ur_counters_unmap(struct ur_counter_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}
