// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Administrators. A uid is that of the peer at connect(), as the kernel reports it in our
 * user namespace; the process is not examined afterwards.
 */
#include <stdio.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/session.h"

/* Default of /proc/sys/kernel/overflowuid (DEFAULT_OVERFLOWUID of the kernel). */
#define OVERFLOW_UID 65534u

static struct {
	bool all_known; /* our user namespace has a number for every user */
	uid_t anybody;	/* stands for users without a number */
} ours = {.all_known = true, .anybody = OVERFLOW_UID};

void ur_administrators_init(void)
{
	unsigned int from, to, count, overflow;
	FILE *f = fopen("/proc/self/uid_map", "re");

	ours.all_known = f && fscanf(f, "%u %u %u", &from, &to, &count) == 3 &&
			 !from && count == UINT32_MAX;
	if (f)
		fclose(f);
	f = fopen("/proc/sys/kernel/overflowuid", "re");
	if (f && fscanf(f, "%u", &overflow) == 1)
		ours.anybody = overflow;
	if (f)
		fclose(f);
}

static bool is_anybody(uid_t uid)
{
	return !ours.all_known && uid == ours.anybody;
}

static bool is_daemons(uid_t uid)
{
	return uid == geteuid() && !is_anybody(uid);
}

bool ur_is_administrator(const struct ur_session *s)
{
	return s->administers || (s->uid && is_daemons(s->uid));
}

bool ur_may_see(const struct ur_session *asker, uid_t owner)
{
	return (asker->uid == owner && !is_anybody(owner)) ||
	       ur_is_administrator(asker);
}

bool ur_is_one_user(uid_t uid)
{
	return !is_anybody(uid);
}

bool ur_is_unlimited(uid_t uid)
{
	return !uid || is_daemons(uid);
}
