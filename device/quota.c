// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Quotas: counts each user's part of a resource. A quota has a list of the users with a
 * nonzero count.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "device/administrator.h"
#include "engine/ground/log.h"
#include "engine/ground/loop.h"
#include "device/quota.h"
#include "util/assert.h"

/* A user's count in one quota. */
struct ur_quota_user {
	struct ur_quota_user *next;
	uid_t uid;
	u32 n;
};

static u32 share = 50;
static struct ur_quota fds = {.what = "descriptors", .everyone = true};

void ur_quota_set_share(u32 percent)
{
	share = percent;
}

static struct ur_quota_user **find_user(struct ur_quota *q, uid_t uid)
{
	struct ur_quota_user **p = &q->users;

	while (*p && (*p)->uid != uid)
		p = &(*p)->next;
	return p;
}

/* Returns how many the user may have in all, at least one. had: what the user has. */
static u32 part(const struct ur_quota *q, uid_t uid, u32 had)
{
	u32 percent = q->everyone ? 50 : ur_is_unlimited(uid) ? 100 : share;
	u32 others = q->shared ? 0 : q->used - had, n;

	n = q->max > others ? (u32)((u64)(q->max - others) * percent / 100) : 0;
	return n ? n : 1;
}

/*
 * Limits the log to a line a minute per slot; users and quotas hash to slots. So neither
 * one client nor many can fill the log.
 */
static bool may_log(const struct ur_quota *q, uid_t uid)
{
	static u64 next[64];
	u64 now = ur_loop_now();
	u32 hash = uid;

	for (const char *p = q->what; *p; p++)
		hash = hash * 31 + (u8)*p;
	for (const char *p = q->where; p && *p; p++)
		hash = hash * 31 + (u8)*p;
	if (now < next[hash % UR_ARRAY_SIZE(next)])
		return false;
	next[hash % UR_ARRAY_SIZE(next)] = now + 60 * 1000000000ull;
	return true;
}

static void log_refusal(const struct ur_quota *q, uid_t uid, u32 n, u32 limit)
{
	const char *where = q->where ? q->where : "uroced";

	if (!may_log(q, uid))
		return;
	if (!q->shared && n > q->max - ur_min_u32(q->used, q->max))
		ur_log("%s: user %u asks for more %s, but there are %u and "
		       "%u are taken",
		       where, uid, q->what, q->max, q->used);
	else if (ur_is_unlimited(uid) || q->everyone)
		ur_log("%s: user %u has met the limit of %u %s for one user, "
		       "half of what others leave",
		       where, uid, limit, q->what);
	else
		ur_log("%s: user %u has met the limit of %u %s for one user; "
		       "user-share in uroce.conf(5), or --user-share, "
		       "changes it",
		       where, uid, limit, q->what);
}

static bool fits(const struct ur_quota *q, u32 n, u32 had, u32 limit)
{
	if (n > limit || had > limit - n)
		return false;
	return q->shared || (n <= q->max && q->used <= q->max - n);
}

int ur_quota_take(struct ur_quota *q, uid_t uid, u32 n)
{
	struct ur_quota_user **p = find_user(q, uid), *u = *p;
	u32 had = u ? u->n : 0, limit = part(q, uid, had);

	if (q->max && !fits(q, n, had, limit)) {
		log_refusal(q, uid, n, limit);
		return -ENOMEM;
	}
	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		u->uid = uid;
	} else {
		*p = u->next;
	}
	/* To the front: a user who has taken something is likely to take more. */
	u->next = q->users;
	q->users = u;
	u->n += n;
	q->used += n;
	return 0;
}

bool ur_quota_has_room(const struct ur_quota *q, uid_t uid, u32 n)
{
	u32 had = ur_quota_of(q, uid);

	return !q->max || fits(q, n, had, part(q, uid, had));
}

void ur_quota_give(struct ur_quota *q, uid_t uid, u32 n)
{
	struct ur_quota_user **p = find_user(q, uid), *u = *p;

	ur_assert(u && u->n >= n && q->used >= n);
	u->n -= n;
	q->used -= n;
	if (u->n)
		return;
	*p = u->next;
	free(u);
}

u32 ur_quota_of(const struct ur_quota *q, uid_t uid)
{
	const struct ur_quota_user *u = *find_user((struct ur_quota *)q, uid);

	return u ? u->n : 0;
}

int ur_quota_take_fds(uid_t uid, u32 n)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return -errno;
	fds.max = rl.rlim_cur < UINT32_MAX ? (u32)rl.rlim_cur : UINT32_MAX;
	/* Reserves an eighth for the daemon itself. */
	fds.max -= fds.max / 8;
	return ur_quota_take(&fds, uid, n) ? -EMFILE : 0;
}

void ur_quota_give_fds(uid_t uid, u32 n)
{
	ur_quota_give(&fds, uid, n);
}
