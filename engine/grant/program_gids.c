// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Addresses of the device for engines in programs: both sides. */
#include <string.h>
#include "engine/grant/program_gids.h"
#include "util/assert.h"

void ur_program_gids_set(struct ur_program_gids *gids, u32 index, const u8 *gid)
{
	/* It is already odd if a uroced was killed in this function. */
	u32 generation = atomic_load(&gids->generation) & ~1u;
	u64 half[2] = {0};

	ur_assert(index < UR_PROGRAM_GIDS);
	if (gid)
		memcpy(half, gid, sizeof(half));
	atomic_store(&gids->generation, generation + 1);
	for (u32 i = 0; i < 2; i++)
		atomic_store(&gids->half[index][i], half[i]);
	atomic_store(&gids->generation, generation + 2);
}

bool ur_program_gids_has(const struct ur_program_gids *gids, u32 index,
			 const u8 gid[16])
{
	u64 half[2];

	ur_assert(index < UR_PROGRAM_GIDS);
	for (u32 i = 0; i < 2; i++)
		half[i] = atomic_load(&gids->half[index][i]);
	return !memcmp(half, gid, sizeof(half));
}
