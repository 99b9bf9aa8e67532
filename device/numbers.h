/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers of protection and XRC domains. No two domains have the same number at
 * a time, however many have come and gone: that keeps users apart. */
#ifndef UR_DEVICE_NUMBERS_H
#define UR_DEVICE_NUMBERS_H

#include "util/bytes.h"

/* 1 to 64 * words; the longest unused comes first. */
struct ur_numbers {
	u64 *map; /* of those in use; made with the first */
	u32 words, next;
};

/* Returns a free number, or 0 where none is left or there is no memory. */
u32 ur_numbers_take(struct ur_numbers *n);
/* Frees a number, which must be in use. */
void ur_numbers_give(struct ur_numbers *n, u32 number);
/* Frees the memory of the map. */
void ur_numbers_fini(struct ur_numbers *n);

#endif
