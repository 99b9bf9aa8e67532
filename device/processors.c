// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Processors: the affinity mask, and the quotas of control groups, version 1 or 2, from the
 * process's group up to the root.
 */
#include "device/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/engine.h"

#define MAX_CPUS 8192

/* Reads the first line of a file, without its newline. */
static bool read_line(const char *path, char *text, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(text, size, f);

	if (f)
		fclose(f);
	if (ok)
		text[strcspn(text, "\n")] = 0;
	return ok;
}

static u32 whole(double quota, double period)
{
	/* This is false for NaN, too. */
	if (!(quota > 0 && period > 0 && quota / period < MAX_CPUS))
		return UINT32_MAX;
	return quota < period ? 1 : (u32)(quota / period);
}

/* Parses "max PERIOD" or "QUOTA PERIOD". */
static u32 quota_v2(const char *dir)
{
	char path[PATH_MAX + 32], text[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", dir);
	if (!read_line(path, text, sizeof(text)) ||
	    sscanf(text, "%lf %lf", &quota, &period) != 2)
		return UINT32_MAX;
	return whole(quota, period);
}

/* Reads two files; quota -1: no limit. */
static u32 quota_v1(const char *dir)
{
	char path[PATH_MAX + 32], quota[32], period[32];

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
	if (!read_line(path, quota, sizeof(quota)))
		return UINT32_MAX;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	if (!read_line(path, period, sizeof(period)))
		return UINT32_MAX;
	return whole(strtod(quota, NULL), strtod(period, NULL));
}

/* Returns the lowest quota of a group and its parents, up to the mount point. */
static u32 quota_up(const char *mount, const char *group,
		    u32 (*quota)(const char *dir))
{
	char dir[PATH_MAX];
	size_t root = strlen(mount);
	u32 least = UINT32_MAX;
	int n = snprintf(dir, sizeof(dir), "%s%s", mount, group);

	if (n < 0 || (size_t)n >= sizeof(dir))
		return least;
	for (;;) {
		char *slash;

		least = ur_min_u32(least, quota(dir));
		slash = strrchr(dir + root, '/');
		if (!slash)
			return least;
		*slash = 0;
	}
}

/* A line is "0::GROUP", or "N:cpu,cpuacct:GROUP" of the first version. */
static u32 quota_of_line(const char *root, char *line)
{
	char *kinds = strchr(line, ':'), *group, mount[PATH_MAX];

	group = kinds ? strchr(kinds + 1, ':') : NULL;
	if (!group)
		return UINT32_MAX;
	*group++ = 0;
	kinds++;
	if (!*kinds) {
		snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
		return quota_up(mount, group, quota_v2);
	}
	for (char *left, *kind = strtok_r(kinds, ",", &left); kind;
	     kind = strtok_r(NULL, ",", &left)) {
		if (strcmp(kind, "cpu"))
			continue;
		snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
		return quota_up(mount, group, quota_v1);
	}
	return UINT32_MAX;
}

u32 ur_processors_quota(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX];
	u32 least = UINT32_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		least = ur_min_u32(least, quota_of_line(root, line));
	}
	if (f)
		fclose(f);
	return least;
}

u32 ur_processors(void)
{
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	u32 n = 1;

	if (set && !sched_getaffinity(0, size, set))
		n = (u32)CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return ur_min_u32(n, ur_processors_quota(""));
}

u32 ur_processors_engines(u32 processors)
{
	if (processors <= 3)
		return 1;
	return ur_min_u32(processors / 4, UR_ENGINES_MAX);
}
