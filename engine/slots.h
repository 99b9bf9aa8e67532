/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slots: the queue pair numbers that are granted to one engine in a program, and sets of them.
 *
 * The first five bits of a number are a place, for which the kernel can deliver datagrams to a socket of its own
 * (wire/udp_group.h). A large slot is a whole place. The last places are divided into small slots, of 2048 numbers
 * each, which get no sockets: the device receives for all of a place, and copies into the rings of its slots
 * (local/udp_relay.h).
 */
#ifndef UR_ENGINE_SLOTS_H
#define UR_ENGINE_SLOTS_H

#include "util/bytes.h"

#define UR_PLACE_BITS  5u
#define UR_PLACES      (1u << UR_PLACE_BITS)
#define UR_SMALL_BITS  13u
#define UR_SMALL_FIRST UR_PLACES /* the first small slot */
/* Places that are divided: the last ones. */
#define UR_SHARED_PLACES 2u
#define UR_SHARED_FIRST	 (UR_PLACES - UR_SHARED_PLACES)
#define UR_SMALL_SLOTS	 (UR_SHARED_PLACES << (UR_SMALL_BITS - UR_PLACE_BITS))
/* Slots are numbered: large ones by their places, small ones behind them. */
#define UR_SLOTS (UR_SMALL_FIRST + UR_SMALL_SLOTS)

static inline bool ur_slot_is_small(u32 slot)
{
	return slot >= UR_SMALL_FIRST;
}

/* Returns how many bits all numbers of a slot begin with; ur_slot_prefix() returns these bits. */
static inline u32 ur_slot_bits(u32 slot)
{
	return ur_slot_is_small(slot) ? UR_SMALL_BITS : UR_PLACE_BITS;
}
static inline u32 ur_slot_prefix(u32 slot)
{
	return ur_slot_is_small(slot)
		       ? (UR_SHARED_FIRST << (UR_SMALL_BITS - UR_PLACE_BITS)) +
				 slot - UR_SMALL_FIRST
		       : slot;
}
/* Returns the first number of a slot. */
static inline u32 ur_slot_first(u32 slot)
{
	return ur_slot_prefix(slot) << (24 - ur_slot_bits(slot));
}
/* Return the place, and the slot, of a number of 24 bits. */
static inline u32 ur_place_of(u32 number)
{
	return number >> (24 - UR_PLACE_BITS);
}
static inline u32 ur_slot_of(u32 number)
{
	u32 place = ur_place_of(number);

	return place < UR_SHARED_FIRST
		       ? place
		       : UR_SMALL_FIRST + (number >> (24 - UR_SMALL_BITS)) -
				 (UR_SHARED_FIRST
				  << (UR_SMALL_BITS - UR_PLACE_BITS));
}

struct ur_slot_set {
	u64 word[(UR_SLOTS + 63) / 64];
};

static inline bool ur_slot_set_has(const struct ur_slot_set *set, u32 slot)
{
	return slot < UR_SLOTS && (set->word[slot / 64] >> slot % 64 & 1);
}
static inline void ur_slot_set_add(struct ur_slot_set *set, u32 slot)
{
	set->word[slot / 64] |= 1ull << slot % 64;
}
static inline void ur_slot_set_del(struct ur_slot_set *set, u32 slot)
{
	set->word[slot / 64] &= ~(1ull << slot % 64);
}
static inline bool ur_slot_set_any(const struct ur_slot_set *set)
{
	u64 any = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(set->word); i++)
		any |= set->word[i];
	return any;
}
/* Returns the first one from slot on, or UR_SLOTS. */
static inline u32 ur_slot_set_next(const struct ur_slot_set *set, u32 slot)
{
	u64 left;

	for (u32 i = slot / 64; i < UR_ARRAY_SIZE(set->word); i++) {
		left = set->word[i];
		if (i == slot / 64)
			left &= ~0ull << slot % 64;
		if (left)
			return i * 64 + (u32)__builtin_ctzll(left);
	}
	return UR_SLOTS;
}
#define ur_slot_set_for_each(slot, set)                              \
	for (u32 slot = ur_slot_set_next(set, 0); (slot) < UR_SLOTS; \
	     (slot) = ur_slot_set_next(set, (slot) + 1))

#endif
