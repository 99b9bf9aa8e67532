/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers of protection and XRC domains. No two domains have the same number at a time,
 * however many have come and gone: this isolates users from each other. */
#ifndef UR_DEVICE_NUMBERS_H
#define UR_DEVICE_NUMBERS_H

#include "util/bytes.h"

/* From 1 to 64 * words; the number unused for longest is given first. */
struct ur_numbers {
	u64 *map; /* numbers in use; allocated with the first */
	u32 words, next;
};

/* Returns a free number, or 0: none is left, or no memory. */
u32 ur_numbers_take(struct ur_numbers *n);
/* Frees a number, which must be in use. */
void ur_numbers_give(struct ur_numbers *n, u32 number);
/* Frees the memory of the map. */
void ur_numbers_fini(struct ur_numbers *n);

#endif
