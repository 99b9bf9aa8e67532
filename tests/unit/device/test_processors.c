// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How many engines a device has by itself: by processors, of which control
 * groups leave some, the least of all that a process is in. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "device/processors.h"
#include "tests/check.h"

static char root[] = "/tmp/uroce-processors.XXXXXX";

/* Makes the file, and the folders that it is in. */
static void say(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	CHECK(snprintf(path, sizeof(path), "%s%s", root, name) <
	      (int)sizeof(path));
	for (char *at = path + sizeof(root); (at = strchr(at, '/')); at++) {
		*at = 0;
		CHECK(!mkdir(path, 0755) || errno == EEXIST);
		*at = '/';
	}
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static void test_engines(void)
{
	static const u32 engines[][2] = {
		{1, 1},	 {2, 1},  {3, 1},  {4, 1},  {7, 1},  {8, 2},  {11, 2},
		{12, 3}, {16, 4}, {31, 7}, {32, 8}, {33, 8}, {64, 8}, {256, 8}};

	for (u32 i = 0; i < UR_ARRAY_SIZE(engines); i++)
		CHECK_EQ(ur_processors_engines(engines[i][0]), engines[i][1]);
}

static void test_none(void)
{
	CHECK_EQ(ur_processors_quota("/nowhere"), UINT32_MAX);
	say("/proc/self/cgroup", "0::/a/b\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/a/b/cpu.max", "\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/a/b/cpu.max", "nan 100000\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/a/b/cpu.max", "100000 nan\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
}

static void test_v2(void)
{
	say("/proc/self/cgroup", "0::/a/b\n");
	say("/sys/fs/cgroup/a/b/cpu.max", "1250000 100000\n");
	CHECK_EQ(ur_processors_quota(root), 12);
	/* A part of one is one. */
	say("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
	CHECK_EQ(ur_processors_quota(root), 1);
	/* It holds for the groups above, too. */
	say("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	say("/sys/fs/cgroup/a/cpu.max", "800000 100000\n");
	CHECK_EQ(ur_processors_quota(root), 8);
	/* In a container it is the root. */
	say("/proc/self/cgroup", "0::/\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/cpu.max", "400000 100000\n");
	CHECK_EQ(ur_processors_quota(root), 4);
	say("/sys/fs/cgroup/cpu.max", "max 100000\n");
}

static void test_v1(void)
{
	say("/proc/self/cgroup", "9:memory:/x\n4:cpu,cpuacct:/x\n0::/\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
	say("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
	CHECK_EQ(ur_processors_quota(root), UINT32_MAX);
	say("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "900000\n");
	CHECK_EQ(ur_processors_quota(root), 9);
}

static void test_affinity(void)
{
	cpu_set_t all, one;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CHECK(ur_processors() >= 1 && ur_processors() <= (u32)CPU_COUNT(&all));
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(ur_processors(), 1);
}

int main(int argc, char **argv)
{
	char rm[64];

	cases(&argc, argv);
	CHECK(mkdtemp(root));
	STEP(test_engines());
	STEP(test_none());
	STEP(test_v2());
	STEP(test_v1());
	STEP(test_affinity());
	snprintf(rm, sizeof(rm), "rm -r %s", root);
	CHECK_EQ(system(rm), 0);
	return cases_status();
}
