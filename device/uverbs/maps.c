// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mappings, addresses and memory of regions and device memory, counted by user: converts what a
 * context has mapped, as reported by the engine, into units of quotas.
 */
#include <errno.h>
#include <stdio.h>
#include "device/memory.h"
#include "device/uverbs/maps.h"

/* Linux's default, if the limit cannot be read. */
#define MAX_MAP_COUNT 65530
/* Bytes are counted in units of 2 MiB; addresses of a process have 47 bits. */
#define UNIT_BITS 21
#define MAX_UNITS (1u << (47 - UNIT_BITS))
/* Slack, since a region may begin and end within a page. */
#define ENDS (128u << 10)

static struct ur_quota maps = {.what = "mappings", .everyone = true};
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

static u32 kib_of(u64 bytes)
{
	u64 n = (bytes + 1023) / 1024;

	return n < UINT32_MAX ? (u32)n : UINT32_MAX;
}

/* Updates the charge to the present number. Returns false if that exceeds the quota. */
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

static bool settle_memory(struct ur_ufile *file, u32 has)
{
	if (has < file->kib)
		ur_memory_give(file->uid, file->kib - has);
	else if (has > file->kib && ur_memory_take(file->uid, has - file->kib))
		return false;
	file->kib = has;
	return true;
}

static bool settle_all(struct ur_ufile *file)
{
	struct ur_emapped now = ur_ectx_mapped(file->ectx);

	if (!maps.max)
		maps.max = max_map_count();
	return settle(&maps, file->uid, &file->maps, now.n) &&
	       settle(&regions, file->uid, &file->region_units,
		      units_of(now.region_bytes)) &&
	       settle_memory(file, kib_of(now.ring_bytes + now.region_bytes));
}

/* Charges the bytes in advance. */
static int charge(struct ur_ufile *file, u64 bytes)
{
	u32 kib = kib_of(bytes);

	if (kib > UINT32_MAX - file->kib || ur_memory_take(file->uid, kib))
		return -ENOMEM;
	file->kib += kib;
	return 0;
}

static int room_for(void *arg, u64 bytes)
{
	return charge(arg, bytes);
}

void ur_maps_open(struct ur_ufile *file)
{
	settle_all(file);
	ur_ectx_set_room(file->ectx, room_for, file);
}

bool ur_region_room(struct ur_ufile *file, u64 bytes)
{
	return settle_all(file) && fits(&maps, file->uid, 1) &&
	       fits(&regions, file->uid, units_of(bytes) + 1) &&
	       !charge(file, bytes + ENDS);
}

void ur_maps_settle(struct ur_ufile *file)
{
	struct ur_emapped now = ur_ectx_mapped(file->ectx);
	struct ur_loop *loop = file->dev->daemon->loop;

	if (kib_of(now.ring_bytes + now.region_bytes) == file->kib)
		return;
	ur_loop_lock(loop);
	settle_all(file);
	ur_loop_unlock(loop);
}

void ur_maps_close(struct ur_ufile *file)
{
	settle(&maps, file->uid, &file->maps, 0);
	settle(&regions, file->uid, &file->region_units, 0);
	settle_memory(file, 0);
}
