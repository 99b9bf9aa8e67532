// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Limits of control groups, of both versions, on machines that are made up. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/cgroup.h"
#include "tests/check.h"

static char top[] = "/tmp/uroce-cgroup.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *at = path + sizeof(top); (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	f = fopen(path, "we");
	CHECK(f);
	CHECK(fputs(text, f) >= 0);
	CHECK(!fclose(f));
}

/* Both files as they are in /proc; %s in mounts is the folder of the test. */
static u64 limit_of(const char *mounts, const char *groups)
{
	char text[3 * PATH_MAX], info[PATH_MAX], own[PATH_MAX];
	static struct ur_cgroup cg;

	snprintf(text, sizeof(text), mounts, top, top);
	put("mountinfo", text);
	put("cgroup", groups);
	snprintf(info, sizeof(info), "%s/mountinfo", top);
	snprintf(own, sizeof(own), "%s/cgroup", top);
	ur_cgroup_find(&cg, info);
	return ur_cgroup_memory(&cg, own);
}

#define V2_MOUNT "30 20 0:26 / %s/v2 rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                         \
	"31 20 0:27 / %s/v1cpu rw shared:5 master:1 - cgroup cgroup rw," \
	"cpu,cpuacct\n"                                                  \
	"32 20 0:28 / %s/v1 rw - cgroup cgroup rw,memory\n"

static void test_v2(void)
{
	put("v2/cgroup.procs", "");
	put("v2/memory.max", "max\n"); /* in a container the top has one */
	put("v2/a/memory.max", "3000000\n");
	put("v2/a/b/memory.max", "max\n");
	put("v2/a/b/c/memory.max", "4000000\n");
	CHECK_EQ(limit_of(V2_MOUNT, "0::/a/b/c\n"), 3000000);
	CHECK_EQ(limit_of(V2_MOUNT, "0::/a/b\n"), 3000000);
	put("v2/a/b/c/memory.max", "2000000\n");
	CHECK_EQ(limit_of(V2_MOUNT, "0::/a/b/c\n"), 2000000);
	/* A group that is slowed down beyond some bytes has no more. */
	put("v2/a/b/memory.high", "1000000\n");
	CHECK_EQ(limit_of(V2_MOUNT, "0::/a/b/c\n"), 1000000);
	/* The group itself, seen from within, and one of above. */
	CHECK_EQ(limit_of(V2_MOUNT, "0::/\n"), UINT64_MAX);
	put("v2/memory.max", "5000000\n");
	CHECK_EQ(limit_of(V2_MOUNT, "0::/\n"), 5000000);
	CHECK_EQ(limit_of(V2_MOUNT, "0::/../other\n"), 5000000);
}

static void test_v1(void)
{
	const char *groups = "12:cpu,cpuacct:/a\n"
			     "4:hugetlb,memory:/a/b\n1:name=systemd:/c\n";

	put("v1/cgroup.procs", "");
	put("v1cpu/a/memory.limit_in_bytes", "1\n");
	put("v1/memory.limit_in_bytes", "9223372036854771712\n");
	put("v1/a/memory.limit_in_bytes", "800000\n");
	put("v1/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	CHECK_EQ(limit_of(V1_MOUNT, groups), 800000);
	put("v1/a/b/memory.limit_in_bytes", "700000\n");
	CHECK_EQ(limit_of(V1_MOUNT, groups), 700000);
	/* Both versions: the controller is in one of them. */
	CHECK_EQ(limit_of(V1_MOUNT, "4:memory:/a\n0::/a\n"), 800000);
	CHECK_EQ(limit_of(V1_MOUNT, "4:cpu:/a\n"), UINT64_MAX);
}

/* A container that sees its own part of the hierarchy alone, by a bind mount, and
 * still the whole path in /proc. */
static void test_part(void)
{
	static const char mounts[] =
		"32 20 0:28 /docker/1234 %s/part rw - cgroup cgroup "
		"rw,memory\n";

	put("part/cgroup.procs", "");
	put("part/memory.limit_in_bytes", "600000\n");
	put("part/inner/memory.limit_in_bytes", "900000\n");
	CHECK_EQ(limit_of(mounts, "4:memory:/docker/1234\n"), 600000);
	CHECK_EQ(limit_of(mounts, "4:memory:/docker/1234/inner\n"), 600000);
	CHECK_EQ(limit_of(mounts, "4:memory:/docker/12345\n"), 600000);
}

static void test_nothing(void)
{
	static struct ur_cgroup cg;

	CHECK_EQ(limit_of("30 20 0:26 / /tmp rw - tmpfs tmpfs rw\n", "0::/a\n"),
		 UINT64_MAX);
	CHECK_EQ(limit_of("", ""), UINT64_MAX);
	/* Something else is mounted there since. */
	put("over/memory.max", "1\n");
	CHECK_EQ(limit_of("30 20 0:26 / %s/over rw - cgroup2 cgroup2 rw\n",
			  "0::/\n"),
		 UINT64_MAX);
	CHECK_EQ(limit_of("\n - \n- cgroup2\n", ":\n\n0::\n"), UINT64_MAX);
	ur_cgroup_find(&cg, "/nonexistent");
	CHECK_EQ(ur_cgroup_memory(&cg, "/nonexistent"), UINT64_MAX);
}

int main(int argc, char **argv)
{
	char command[sizeof(top) + 16];

	cases(&argc, argv);
	CHECK(mkdtemp(top));
	CASE(test_v2());
	CASE(test_v1());
	CASE(test_part());
	CASE(test_nothing());
	snprintf(command, sizeof(command), "rm -rf %s", top);
	CHECK(!system(command));
	return cases_status();
}
