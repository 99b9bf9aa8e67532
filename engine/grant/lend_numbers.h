/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers of the queue pairs of programs that have slots. Peers that do not know of a program's end, on
 * other hosts, say, go on with its numbers: so the next program in the slot has none of them, and gets
 * nothing that is for them.
 *
 * The numbers of a slot are in an order that a secret gives, so that nobody can guess one from others, and are
 * given out by that order, through all loans of the slot: each comes again when all the others have been
 * somebody's. A loan's are the ones from its beginning on. That is all that is kept (ground/keep.h).
 */
#ifndef UR_ENGINE_GRANT_LEND_NUMBERS_H
#define UR_ENGINE_GRANT_LEND_NUMBERS_H

#include "engine/slots.h"

struct ur_engine;
struct ur_lent_numbers;

/* Make them for the device of its first engine, unless they are there; and take those of an earlier uroced over.
 * Return 0 or -errno. Control. */
int ur_lent_numbers_make(struct ur_engine *engine);
int ur_lent_numbers_inherit(struct ur_engine *engine);
void ur_lent_numbers_fini(struct ur_engine *engine);

/* Says that the slot is lent anew: no number is its owner's. Control. */
void ur_lent_numbers_begin(struct ur_lent_numbers *numbers, u32 slot);
/* Returns the next number, which is the owner's from now on, as long as the loan lasts. Control. */
u32 ur_lent_numbers_next(struct ur_lent_numbers *numbers, u32 slot);
/* Returns whether the owner of its slot has had that number. Any thread. */
bool ur_lent_numbers_has(const struct ur_lent_numbers *numbers, u32 qpn);

/* Say that the slot was given back now, and return which of those from first to before end, taken ones left out, was
 * longest ago; 0: there are none. Control. */
void ur_lent_numbers_rest(struct ur_lent_numbers *numbers, u32 slot);
u32 ur_lent_numbers_rested(const struct ur_lent_numbers *numbers,
			   const struct ur_slot_set *taken, u32 first, u32 end);

#endif
