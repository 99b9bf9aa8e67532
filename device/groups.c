// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Members of multicast groups: for each group of a device, how many queue pairs
 * of each user are in it.
 */
#include <errno.h>
#include <stdlib.h>
#include "device/groups.h"
#include "engine/engine.h"
#include "util/assert.h"

struct group {
	struct ur_list node;
	u8 gid[16];
	struct ur_quota members;
};

void ur_groups_init(struct ur_groups *g, const char *where)
{
	ur_list_init(&g->list);
	g->where = where;
	g->quota = (struct ur_quota){.what = "multicast groups",
				     .where = where,
				     .max = UR_MCAST_GROUPS_MAX,
				     .shared = true};
}

static struct group *find_group(struct ur_groups *g, const u8 *gid)
{
	ur_list_each(struct group, group, &g->list, node) {
		if (!memcmp(group->gid, gid, 16))
			return group;
	}
	return NULL;
}

static struct group *make(struct ur_groups *g, const u8 *gid)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	memcpy(group->gid, gid, 16);
	group->members =
		(struct ur_quota){.what = "queue pairs in a multicast group",
				  .where = g->where,
				  .max = UR_MCAST_MEMBERS_MAX};
	ur_list_add_tail(&g->list, &group->node);
	return group;
}

static void free_if_empty(struct group *group)
{
	if (group->members.used)
		return;
	ur_list_del(&group->node);
	free(group);
}

/* Charges the user for a group. */
static int take_group(struct ur_groups *g, uid_t uid)
{
	if (ur_quota_take(&g->quota, uid, 1))
		return -ENOMEM;
	if (!ur_quota_take_fds(uid, 1))
		return 0;
	ur_quota_give(&g->quota, uid, 1);
	return -ENOMEM;
}

int ur_groups_enter(struct ur_groups *g, uid_t uid, const u8 gid[16])
{
	struct group *group = find_group(g, gid);
	int err;

	if (!group)
		group = make(g, gid);
	if (!group)
		return -ENOMEM;
	err = ur_quota_take(&group->members, uid, 1);
	if (!err && ur_quota_of(&group->members, uid) == 1) {
		err = take_group(g, uid);
		if (err)
			ur_quota_give(&group->members, uid, 1);
	}
	free_if_empty(group);
	return err;
}

void ur_groups_leave(struct ur_groups *g, uid_t uid, const u8 gid[16])
{
	struct group *group = find_group(g, gid);

	ur_assert(group);
	ur_quota_give(&group->members, uid, 1);
	if (!ur_quota_of(&group->members, uid)) {
		ur_quota_give(&g->quota, uid, 1);
		ur_quota_give_fds(uid, 1);
	}
	free_if_empty(group);
}
