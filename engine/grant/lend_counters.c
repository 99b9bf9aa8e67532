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
#include "engine/grant/lend_page.h"
#include "util/assert.h"
#include "util/os/clock.h"
#include "util/os/map_shared.h"

/* Fastest believable growth of a counter: twice the bandwidth of memory. */
#define MOST_PER_NS 64u

struct loan {
	int fd; /* -1: none */
	const struct ur_counter_page *page;
	u64 seen[UR_CNT_COUNT]; /* highest values read */
	u64 since; /* time of the last read; 0: an earlier uroced's memory */
};

struct ur_counter_loans {
	struct loan slot[UR_SLOTS];
	u64 gone[UR_CNT_COUNT]; /* sums of ended programs */
	bool sl_refused;	/* reported by an ended program */
};

/* ---- the device ---- */

static int make_loan(struct loan *loan)
{
	void *p;
	int err = ur_make_shared(
		"uroce-counters", sizeof(*loan->page), PROT_READ,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, &loan->fd, &p);

	if (!err) {
		loan->page = p;
		loan->since = ur_clock_ns(CLOCK_MONOTONIC);
	}
	return err;
}

static struct ur_kept counters_name(const struct ur_engine *engine, u32 slot)
{
	return (struct ur_kept){.kind = UR_KEPT_COUNTERS,
				.device = engine->lent_device,
				.place = slot};
}

static struct ur_counter_loans *loans_of(struct ur_engine *engine)
{
	struct ur_counter_loans *l = engine->counter_loans;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	for (u32 i = 0; i < UR_SLOTS; i++)
		l->slot[i].fd = -1;
	return engine->counter_loans = l;
}

int ur_counters_lend(struct ur_engine *engine, u32 slot, int *fd)
{
	struct ur_counter_loans *l = loans_of(engine);
	const struct ur_kept what = counters_name(engine, slot);
	int err;

	ur_assert(slot && slot < UR_SLOTS);
	if (!l)
		return -ENOMEM;
	ur_counters_lend_end(engine, slot);
	err = make_loan(&l->slot[slot]);
	if (err)
		return err;
	*fd = l->slot[slot].fd;
	return ur_keep_put(&what, *fd);
}

int ur_counters_inherit(struct ur_engine *engine, u32 slot)
{
	struct ur_counter_loans *l = loans_of(engine);
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
	l->slot[slot] = (struct loan){.fd = fd, .page = p};
	return 0;
}

/* Reads the counters. Ignores one that has fallen, and limits growth to what memory
 * bandwidth allows. */
static void read_loan(struct loan *loan)
{
	u64 values[UR_CNT_COUNT], now = ur_clock_ns(CLOCK_MONOTONIC);
	u64 most = (now - loan->since) * MOST_PER_NS;

	ur_counters_read(loan->page->port, values);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		if (values[i] > loan->seen[i])
			loan->seen[i] +=
				ur_min_u64(values[i] - loan->seen[i], most);
	loan->since = now;
}

static bool is_sl_refused(const struct loan *loan)
{
	return ur_shown_value(&loan->page->sl_refused);
}

bool ur_counters_lent_sl(const struct ur_engine *engine)
{
	const struct ur_counter_loans *l = engine->counter_loans;
	bool any = l && l->sl_refused;

	for (u32 slot = 0; l && slot < UR_SLOTS; slot++)
		if (l->slot[slot].fd >= 0)
			any |= is_sl_refused(&l->slot[slot]);
	return any;
}

void ur_counters_lend_end(struct ur_engine *engine, u32 slot)
{
	struct ur_counter_loans *l = engine->counter_loans;
	const struct ur_kept what = counters_name(engine, slot);
	struct loan *loan;

	if (!l || l->slot[slot].fd < 0)
		return;
	ur_keep_drop(&what);
	loan = &l->slot[slot];
	read_loan(loan);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		l->gone[i] += loan->seen[i];
	l->sl_refused |= is_sl_refused(loan);
	munmap((void *)(uintptr_t)loan->page, sizeof(*loan->page));
	close(loan->fd);
	*loan = (struct loan){.fd = -1};
}

void ur_counters_lent(struct ur_engine *engine, u64 *values)
{
	struct ur_counter_loans *l = engine->counter_loans;

	memset(values, 0, UR_CNT_COUNT * sizeof(*values));
	if (!l)
		return;
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		values[i] += l->gone[i];
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		if (l->slot[slot].fd < 0)
			continue;
		read_loan(&l->slot[slot]);
		for (u32 i = 0; i < UR_CNT_COUNT; i++)
			values[i] += l->slot[slot].seen[i];
	}
}

const struct ur_counter_page *ur_counters_page(const struct ur_engine *engine,
					       u32 slot)
{
	const struct ur_counter_loans *l = engine->counter_loans;

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

void ur_counters_lend_fini(struct ur_engine *engine)
{
	if (!engine->counter_loans)
		return;
	for (u32 slot = 1; slot < UR_SLOTS; slot++)
		ur_counters_lend_end(engine, slot);
	free(engine->counter_loans);
	engine->counter_loans = NULL;
}

/* ---- the program ---- */

int ur_counters_borrow(int fd, struct ur_counter_page **page)
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
