// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counts the available memory and each user's part of it. */
#include <unistd.h>
#include "device/cgroup.h"
#include "device/memory.h"
#include "device/quota.h"
#include "engine/ground/loop.h"

/* Interval of reading the limit again, since it may change. */
#define LOOK_NS 1000000000ull

static struct ur_quota memory = {.what = "KiB of memory", .everyone = true};

static struct ur_cgroup groups;

void ur_memory_init(void)
{
	ur_cgroup_find(&groups, "/proc/self/mountinfo");
	ur_cgroup_mount(&groups);
}

u64 ur_memory_total_kib(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	u64 bytes = pages > 0 ? (u64)pages * (u64)size : UINT64_MAX;
	u64 limit = ur_cgroup_memory(&groups, "/proc/self/cgroup");

	return ur_min_u64(bytes, limit) / 1024;
}

static u32 max_kib(void)
{
	u64 kib = ur_memory_total_kib() / 2;

	return kib < UINT32_MAX ? (u32)kib + !kib : UINT32_MAX;
}

int ur_memory_take(uid_t uid, u32 kib)
{
	static u64 look;
	u64 now = ur_loop_now();

	if (now >= look) {
		memory.max = max_kib();
		look = now + LOOK_NS;
	}
	return ur_quota_take(&memory, uid, kib);
}

void ur_memory_give(uid_t uid, u32 kib)
{
	ur_quota_give(&memory, uid, kib);
}
