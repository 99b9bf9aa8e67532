// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* As many objects as the device says, of all its files together, and no more;
 * what is given up can be had again; and no user has more than his part. */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "engine/ground/limits.h"
#include "device/memory.h"
#include "device/session.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/ufile.h"
#include "tests/check.h"

#define STRANGER 4711
#define OTHER	 4712

static int destroy(struct ur_object *obj)
{
	return 0;
}

static const struct ur_object_type type = {
	.id = UVERBS_OBJECT_PD,
	.name = "protection domains",
	.size = sizeof(struct ur_object),
	.max = UR_MAX_PD,
	.destroy = destroy,
};

/* A file that ends asks for its loop. */
static struct ur_daemon nobody;
static struct ur_device dev = {.daemon = &nobody};
static struct ur_session session;

static u32 fill(struct ur_ufile *file, struct ur_object **last)
{
	struct ur_object *obj;
	u32 n = 0;

	while ((obj = ur_object_new(file, &type))) {
		*last = obj;
		n++;
	}
	return n;
}

static void test_all(void)
{
	struct ur_ufile a = {.session = &session,
			     .dev = &dev,
			     .uid = geteuid()},
			b = a;
	struct ur_object *last = NULL;
	u32 handle;

	for (u32 i = 0; i < 1000; i++)
		CHECK(ur_object_new(&a, &type));
	CHECK_EQ(fill(&b, &last), UR_MAX_PD - 1000);
	CHECK(!ur_object_new(&a, &type));
	handle = last->handle;
	CHECK_EQ(handle, UR_MAX_PD - 1000);
	CHECK(ur_object_get(&b, type.id, handle) == last);
	CHECK(!ur_object_get(&b, type.id, handle + 1));
	CHECK(!ur_object_get(&a, type.id, handle));
	CHECK(!ur_object_destroy(last));
	CHECK(!ur_object_get(&b, type.id, handle));
	CHECK((last = ur_object_new(&b, &type)));
	CHECK_EQ(last->handle, handle);
	CHECK(!ur_object_new(&b, &type));
	/* A file that ends makes room for another. */
	ur_object_destroy_all(&a);
	for (u32 i = 0; i < 1000; i++)
		CHECK(ur_object_new(&b, &type));
	CHECK(!ur_object_new(&a, &type));
	ur_object_destroy_all(&a);
	ur_object_destroy_all(&b);
	CHECK_EQ(dev.objects[type.id].used, 0);
	CHECK(!dev.objects[type.id].users);
}

/* Each user has half of the part that the others leave, and root all of it. */
static void test_users(void)
{
	struct ur_ufile a = {.session = &session, .dev = &dev, .uid = STRANGER},
			again = a,
			b = {.session = &session, .dev = &dev, .uid = OTHER},
			root = {.session = &session, .dev = &dev, .uid = 0};
	struct ur_object *last = NULL;
	u32 left, has;

	CHECK_EQ(fill(&a, &last), UR_MAX_PD / 2);
	CHECK(!ur_object_new(&again, &type));
	ur_object_destroy(last);
	CHECK(ur_object_new(&again, &type));
	CHECK(!ur_object_new(&a, &type));
	CHECK_EQ(ur_quota_of(&dev.objects[type.id], STRANGER), UR_MAX_PD / 2);
	for (u32 i = 0; i < 1000; i++)
		CHECK(ur_object_new(&root, &type));
	left = UR_MAX_PD / 2 - 1000;
	has = fill(&b, &last);
	CHECK_EQ(has, left / 2);
	CHECK_EQ(fill(&root, &last), left / 2);
	CHECK(!ur_object_new(&b, &type));
	CHECK(!ur_object_new(&root, &type));
	/* As soon as there is more, it is shared in the same way. */
	ur_object_destroy_all(&a);
	left = UR_MAX_PD - 1 - 1000 - left / 2;
	CHECK_EQ(has + fill(&b, &last), left / 2);
	ur_object_destroy_all(&again);
	ur_object_destroy_all(&b);
	ur_object_destroy_all(&root);
	CHECK_EQ(dev.objects[type.id].used, 0);
	CHECK(!dev.objects[type.id].users);
}

static void test_share(void)
{
	static const u8 gid[16] = {0xff, 0x0e};
	struct ur_quota few = {.what = "few", .max = 7},
			own = {.what = "own", .max = 10, .everyone = true};
	struct ur_groups groups;

	ur_quota_set_share(1);
	CHECK_EQ(ur_quota_take(&few, STRANGER, 2), -ENOMEM);
	CHECK_EQ(ur_quota_take(&few, STRANGER, 1), 0);
	CHECK_EQ(ur_quota_take(&few, STRANGER, 1), -ENOMEM);
	ur_quota_set_share(100);
	CHECK_EQ(ur_quota_take(&few, STRANGER, UINT32_MAX), -ENOMEM);
	CHECK_EQ(ur_quota_take(&few, STRANGER, 6), 0);
	CHECK_EQ(ur_quota_take(&few, OTHER, 1), -ENOMEM);
	ur_quota_give(&few, STRANGER, 7);
	CHECK(!few.users);
	/* The daemon's own needs. */
	CHECK_EQ(ur_quota_take(&own, STRANGER, 6), -ENOMEM);
	CHECK_EQ(ur_quota_take(&own, 0, 6), -ENOMEM);
	CHECK_EQ(ur_quota_take(&own, 0, 5), 0);
	CHECK_EQ(ur_quota_take(&own, STRANGER, 3), -ENOMEM);
	CHECK_EQ(ur_quota_take(&own, STRANGER, 2), 0);
	CHECK_EQ(ur_quota_take(&own, OTHER, 2), -ENOMEM);
	CHECK_EQ(ur_quota_take(&own, OTHER, 1), 0);
	ur_quota_give(&own, OTHER, 1);
	ur_quota_give(&own, STRANGER, 2);
	ur_quota_give(&own, 0, 5);
	/* A group is one of each user's that is in it, however often. */
	ur_groups_init(&groups, "uroce0");
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(ur_groups_enter(&groups, STRANGER, gid), 0);
		CHECK_EQ(ur_groups_enter(&groups, OTHER, gid), 0);
	}
	CHECK_EQ(ur_quota_of(&groups.quota, STRANGER), 1);
	CHECK_EQ(ur_quota_of(&groups.quota, OTHER), 1);
	for (int i = 0; i < 3; i++) {
		ur_groups_leave(&groups, STRANGER, gid);
		CHECK_EQ(ur_quota_of(&groups.quota, STRANGER), i < 2);
		ur_groups_leave(&groups, OTHER, gid);
	}
	CHECK(!groups.quota.users && ur_list_empty(&groups.list));
	ur_quota_set_share(50);
}

static char doc[1 << 16];

static void check_row(const char *fmt, u32 n)
{
	char row[256];

	snprintf(row, sizeof(row), fmt, n);
	if (!strstr(doc, row))
		printf("doc/limits.md has no \"%s\"\n", row);
	CHECK(strstr(doc, row));
}

/* The document has the numbers of the code. */
static void test_doc(void)
{
	FILE *f = fopen(LIMITS_MD, "re");

	CHECK(f);
	CHECK(fread(doc, 1, sizeof(doc) - 1, f) > 0);
	fclose(f);
	check_row("| connections \\* | %u |", UR_MAX_SESSIONS);
	check_row("| rdma_cm ids | %u |", UCMA_ID_MAX);
	check_row("| rdma_cm joins | %u |", UCMA_ID_MAX);
	check_row("| protection domains | | %u |", UR_MAX_PD);
	check_row("| queue pairs | | %u |", UR_MAX_QP);
	check_row("| completion queues | | %u |", UR_MAX_CQ);
	check_row("| shared receive queues | | %u |", UR_MAX_SRQ);
	check_row("| memory regions | | %u |", UR_MAX_MR);
	check_row("| memory windows | | %u |", UR_MAX_MW);
	check_row("| address handles | | %u |", UR_MAX_AH);
	check_row("| XRC domains | | %u |", UR_MAX_XRCD);
	check_row("among them | | %u; 64 |", UR_MAX_FLOW);
	check_row("| counters objects | | %u |", UR_MAX_COUNTERS);
	check_row("| bytes of device memory | | %u |", UR_MAX_DM_BYTES);
	check_row("in each | | 8192; %u |", UR_MCAST_MEMBERS_MAX);
	check_row("in each | | %u; 56 |", UR_MCAST_GROUPS_MAX);
	check_row("shared receive queue | %u |", UR_KIB_OBJECT);
	check_row("| completion queue | %u |", UR_KIB_CQ);
	check_row("| work queues | | %u |", UR_MAX_WQ);
	check_row("| indirection tables; entries of each | | %u;",
		  UR_MAX_RWQ_TABLE);
	check_row("| | 65536; %u | ENOMEM; EOPNOTSUPP |", UR_RSS_TABLE_MAX);
	check_row("| indirection table | %u |", UR_KIB_RWQ_TABLE);
	check_row("| queue pair, work queue | %u |", UR_KIB_QP);
	check_row("asynchronous event file | %u |", UR_KIB_EVENTS);
	check_row("| connection | %u |", UR_KIB_SESSION);
	check_row("| open file | %u |", UR_KIB_FILE);
	check_row("| rdma_cm id | %u |", UR_KIB_CM_ID);
	check_row("| umad file | %u |", UR_KIB_UMAD);
	check_row("| connection | %u | its socket", UR_FDS_SESSION);
	check_row("| answer to STATUS | %u |", UR_FDS_ANSWER);
	check_row("| uverbs file | %u |", UR_FDS_UVERBS);
	check_row("| rdma_cm file | %u |", UR_FDS_UCMA);
	check_row("asynchronous event file | %u | a socket", UR_FDS_UMAD);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_doc());
	CASE(test_all());
	CASE(test_users());
	CASE(test_share());
	return cases_status();
}
