// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of a slot's numbers is a pseudorandom permutation: an unbalanced Feistel network of four rounds of
 * SipHash (Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", 1988).
 */
#include "engine/grant/slot_numbers.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "util/assert.h"
#include "util/os/map_shared.h"
#include "util/secret.h"

#define ROUNDS 4u

/* Positions in the order, which count up for ever. */
struct numbers_of_slot {
	_Atomic u64 first;    /* first one of the present grant */
	_Atomic u64 next;     /* next one to draw */
	_Atomic u64 freed_at; /* value of "frees" when the slot was freed */
};

struct ur_slot_numbers {
	u64 key[2];
	_Atomic u64 frees;
	struct numbers_of_slot slot[UR_SLOTS];
};

/* ---- the order ---- */

/* Returns the value that a round combines with one part of a number, from the other part. */
static u32 mix(const struct ur_slot_numbers *n, u32 slot, u32 round, u32 part)
{
	struct ur_secret s = {.key = {n->key[0], n->key[1]},
			      .count = (u64)slot << 40 | (u64)round << 32 |
				       part};

	return (u32)ur_secret_u64(&s);
}

/* Returns the number of a slot's numbers, less one. */
static u32 last_of(u32 slot)
{
	return (1u << (24 - ur_slot_bits(slot))) - 1;
}

static u32 change(const struct ur_slot_numbers *n, u32 slot, u32 round, u32 v)
{
	const u32 low_bits = (24 - ur_slot_bits(slot)) / 2;
	const u32 mask = (1u << low_bits) - 1, high = v >> low_bits;

	if (round % 2)
		return v ^ (mix(n, slot, round, high) & mask);
	return v ^ (mix(n, slot, round, v & mask) << low_bits & last_of(slot));
}

static u32 number_at(const struct ur_slot_numbers *n, u32 slot, u32 place)
{
	for (u32 round = 0; round < ROUNDS; round++)
		place = change(n, slot, round, place);
	return place;
}

static u32 place_of(const struct ur_slot_numbers *n, u32 slot, u32 number)
{
	for (u32 round = ROUNDS; round--;)
		number = change(n, slot, round, number);
	return number;
}

/* ---- drawing ---- */

void ur_slot_numbers_begin(struct ur_slot_numbers *n, u32 slot)
{
	ur_assert(slot < UR_SLOTS);
	n->slot[slot].first = n->slot[slot].next;
}

u32 ur_engine_next_number(struct ur_engine *engine, u32 slot)
{
	struct ur_slot_numbers *n = engine->numbers;
	u32 qpn;

	ur_assert(slot < UR_SLOTS && n);
	do
		qpn = ur_slot_first(slot) |
		      number_at(n, slot, n->slot[slot].next++ & last_of(slot));
	while (qpn == UR_QPN_MULTICAST);
	return qpn;
}

bool ur_slot_numbers_has(const struct ur_slot_numbers *n, u32 qpn)
{
	u32 slot = ur_slot_of(qpn);
	const struct numbers_of_slot *s = &n->slot[slot];
	u64 first = s->first, had = s->next - first;

	return ((place_of(n, slot, qpn & last_of(slot)) - first) &
		last_of(slot)) < had;
}

void ur_slot_numbers_freed(struct ur_slot_numbers *n, u32 slot)
{
	ur_assert(slot < UR_SLOTS);
	n->slot[slot].freed_at = ++n->frees;
}

u32 ur_slot_numbers_oldest(const struct ur_slot_numbers *n,
			   const struct ur_slot_set *taken, u32 first, u32 end)
{
	u32 best = 0;

	for (u32 slot = first; slot < end; slot++)
		if (!ur_slot_set_has(taken, slot) &&
		    (!best || n->slot[slot].freed_at < n->slot[best].freed_at))
			best = slot;
	return best;
}

/* ---- their memory ---- */

static struct ur_kept numbers_name(const struct ur_engine *e)
{
	return (struct ur_kept){.kind = UR_KEPT_NUMBERS,
				.device = e->local_device};
}

int ur_slot_numbers_make(struct ur_engine *e)
{
	const struct ur_kept what = numbers_name(e);
	struct ur_secret secret = {
		.key = {~e->config.secret[0], e->config.secret[1]}};
	struct ur_slot_numbers *n;
	void *p;
	int fd, err;

	if (e->numbers)
		return 0;
	err = ur_make_shared(
		"uroce-numbers", sizeof(*n), PROT_READ | PROT_WRITE,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, &fd, &p);
	if (err)
		return err;
	n = p;
	for (u32 i = 0; i < 2; i++)
		n->key[i] = ur_secret_u64(&secret);
	err = ur_keep_put(&what, fd);
	close(fd);
	if (err)
		munmap(p, sizeof(*n));
	else
		e->numbers = n;
	return err;
}

int ur_slot_numbers_inherit(struct ur_engine *e)
{
	struct ur_kept what = numbers_name(e);
	int fd = ur_keep_take(&what), err;
	void *p;

	if (fd < 0)
		return -ENOENT;
	err = ur_map_shared(fd, sizeof(*e->numbers), PROT_READ | PROT_WRITE,
			    &p);
	close(fd);
	if (err)
		ur_keep_drop(&what);
	else
		e->numbers = p;
	return err;
}

void ur_slot_numbers_fini(struct ur_engine *e)
{
	const struct ur_kept what = numbers_name(e);

	if (!e->numbers)
		return;
	munmap(e->numbers, sizeof(*e->numbers));
	e->numbers = NULL;
	ur_keep_drop(&what);
}
