// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How much memory there is, and who has what of it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "device/memory.h"
#include "device/quota.h"

static struct ur_quota memory = {.what = "KiB of memory", .everyone = true};

/* Of the cgroup that path (from /proc/self/cgroup, version 2) names; 0: it has
 * no bound. */
static u64 bound_of(const char *path)
{
	char name[PATH_MAX + 64];
	unsigned long long bytes = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.max", path);
	f = fopen(name, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &bytes) != 1) /* "max" */
		bytes = 0;
	fclose(f);
	return bytes / 1024;
}

static u64 cgroup_kib(void)
{
	char line[PATH_MAX];
	u64 kib = 0;
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::", 3))
			kib = bound_of(line + 3);
	}
	fclose(f);
	return kib;
}

u64 ur_memory_total_kib(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	u64 kib = pages > 0 ? (u64)pages * (u64)size / 1024 : 0;
	u64 bound = cgroup_kib();

	return bound && (!kib || bound < kib) ? bound : kib;
}

int ur_memory_take(uid_t uid, u32 kib)
{
	u64 max;

	if (!memory.max) {
		max = ur_memory_total_kib() / 2;
		memory.max = max && max < UINT32_MAX ? (u32)max : UINT32_MAX;
	}
	return ur_quota_take(&memory, uid, kib);
}

void ur_memory_give(uid_t uid, u32 kib)
{
	ur_quota_give(&memory, uid, kib);
}
