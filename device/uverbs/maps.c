// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mappings, addresses and memory of rings and regions, counted by user: what
 * the engine says a context has mapped, turned into units of quotas.
 */
#include <stdio.h>
#include <unistd.h>
#include "device/uverbs/maps.h"

/* Where there is no telling: what Linux has from the start. */
#define MAX_MAP_COUNT 65530
/* Bytes are counted in units of 2 MiB; of addresses a process has 47 bits. */
#define UNIT_BITS 21
#define MAX_UNITS (1u << (47 - UNIT_BITS))

static struct ur_quota maps = {.what = "mappings", .everyone = true};
static struct ur_quota rings = {.what = "2 MiB of memory for rings",
				.everyone = true};
static struct ur_quota regions = {
	.what = "2 MiB of mapped regions", .max = MAX_UNITS, .everyone = true};

static u32 max_map_count(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	u32 n = 0;

	if (f && fscanf(f, "%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n ? n : MAX_MAP_COUNT;
}

static u32 units_of(u64 bytes)
{
	u64 n = bytes >> UNIT_BITS;

	return n < MAX_UNITS ? (u32)n : MAX_UNITS;
}

static void init(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	maps.max = max_map_count();
	rings.max = pages > 0 ? units_of((u64)pages * (u64)size) : MAX_UNITS;
}

/* Count what there is now; false: more than the user may have. */
static bool settle(struct ur_quota *q, uid_t uid, u32 *had, u32 has)
{
	if (has < *had)
		ur_quota_give(q, uid, *had - has);
	else if (has > *had && ur_quota_take(q, uid, has - *had))
		return false;
	*had = has;
	return true;
}

static bool fits(struct ur_quota *q, uid_t uid, u32 n)
{
	if (ur_quota_take(q, uid, n))
		return false;
	ur_quota_give(q, uid, n);
	return true;
}

static bool settle_all(struct ur_ufile *file)
{
	struct ur_emapped now = ur_ectx_mapped(file->ectx);

	if (!maps.max)
		init();
	return settle(&maps, file->uid, &file->maps, now.n) &&
	       settle(&rings, file->uid, &file->ring_units,
		      units_of(now.ring_bytes)) &&
	       settle(&regions, file->uid, &file->region_units,
		      units_of(now.region_bytes));
}

bool ur_rings_room(struct ur_ufile *file)
{
	return !file->ectx || (settle_all(file) && fits(&maps, file->uid, 2) &&
			       fits(&rings, file->uid, 1));
}

bool ur_region_room(struct ur_ufile *file, u64 bytes)
{
	return settle_all(file) && fits(&maps, file->uid, 1) &&
	       fits(&regions, file->uid, units_of(bytes) + 1);
}

void ur_maps_close(struct ur_ufile *file)
{
	settle(&maps, file->uid, &file->maps, 0);
	settle(&rings, file->uid, &file->ring_units, 0);
	settle(&regions, file->uid, &file->region_units, 0);
}
