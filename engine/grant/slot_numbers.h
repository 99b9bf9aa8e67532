/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Queue pair numbers of programs with slots. Peers, such as those on other hosts, may use a program's
 * numbers after its end. So the slot's next program gets other numbers, and no packets to the old ones.
 *
 * The numbers of a slot are drawn in a secret order, so that nobody can guess one from others. The order
 * continues through all grants of the slot: a number comes again only after all others. Each grant has the
 * numbers from its first one on, so only positions in the order are stored (ground/keep.h).
 */
#ifndef UR_ENGINE_GRANT_SLOT_NUMBERS_H
#define UR_ENGINE_GRANT_SLOT_NUMBERS_H

#include "engine/slots.h"

struct ur_engine;
struct ur_slot_numbers;

/* Make the device's numbers, unless they exist; and take over those of an earlier uroced. engine: the device's first.
 * Return 0 or -errno. Control. */
int ur_slot_numbers_make(struct ur_engine *engine);
int ur_slot_numbers_inherit(struct ur_engine *engine);
void ur_slot_numbers_fini(struct ur_engine *engine);

/* Begins a new grant of the slot, without numbers yet. Control. */
void ur_slot_numbers_begin(struct ur_slot_numbers *numbers, u32 slot);
/* Returns whether that number was drawn for the present grant of its slot. Any thread. */
bool ur_slot_numbers_has(const struct ur_slot_numbers *numbers, u32 qpn);

/* ur_slot_numbers_freed() records that the slot was freed now. ur_slot_numbers_oldest() returns the slot in [first, end), but
 * for taken ones, that was freed longest ago; 0: there is none. Control. */
void ur_slot_numbers_freed(struct ur_slot_numbers *numbers, u32 slot);
u32 ur_slot_numbers_oldest(const struct ur_slot_numbers *numbers,
			   const struct ur_slot_set *taken, u32 first, u32 end);

#endif
