// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "device/quota.h"
#include "util/list.h"

struct user {
	struct ur_list node;
	uid_t uid;
	u32 n;
};

static struct ur_list users = {&users, &users};

static struct user *find(uid_t uid)
{
	ur_list_for_each(it, &users) {
		struct user *u = ur_list_entry(it, struct user, node);

		if (u->uid == uid)
			return u;
	}
	return NULL;
}

int ur_quota_take(uid_t uid, u32 n)
{
	struct user *u = find(uid);
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return -errno;
	if ((u ? u->n : 0) + (rlim_t)n > rl.rlim_cur / 2)
		return -EMFILE;
	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		u->uid = uid;
		ur_list_add_tail(&users, &u->node);
	}
	u->n += n;
	return 0;
}

void ur_quota_give(uid_t uid, u32 n)
{
	struct user *u = find(uid);

	u->n -= n;
	if (u->n)
		return;
	ur_list_del(&u->node);
	free(u);
}
