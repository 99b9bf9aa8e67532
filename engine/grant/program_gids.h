/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's addresses for engines in programs: memory that only uroced writes. A program
 * closes its granted socket of an address that the device has lost, so that another device, or
 * this one when the address returns, can bind the port.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_GIDS_H
#define UR_ENGINE_GRANT_PROGRAM_GIDS_H

#include <stdatomic.h>
#include "util/bytes.h"

#define UR_PROGRAM_GIDS 1024u

/* The generation is odd while an entry changes. A zero entry is empty. */
struct ur_program_gids {
	_Atomic u32 generation;
	u32 rsv;
	_Atomic u64 half[UR_PROGRAM_GIDS][2];
};

/* Sets an entry of the GID table. gid NULL: it is free, or not for programs. One thread at
 * a time. */
void ur_program_gids_set(struct ur_program_gids *gids, u32 index,
			 const u8 *gid);
/* Returns whether that entry has that address. The result is valid if the generation was even
 * before and is the same afterwards. */
bool ur_program_gids_has(const struct ur_program_gids *gids, u32 index,
			 const u8 gid[16]);

#endif
