/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How much there is of something, and how much of it each user has, so that
 * those who take all they can get leave others something: a user's part is of
 * what the others have left, so that however many have taken theirs, there is a
 * part of the rest for one more. A user is the uid that the connection's other
 * end had when it connected. All under the control lock.
 */
#ifndef UR_DEVICE_QUOTA_H
#define UR_DEVICE_QUOTA_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_quota_user;

/* Zero but for the first five is one with nothing taken. */
struct ur_quota {
	const char *what;  /* plural, for the log */
	const char *where; /* whose: a device's name; NULL: the daemon's */
	u32 max;	   /* of all users together; 0: no bound */
	/* Root and the daemon's own user are bounded too, each by half of what
	 * the others leave: it is the daemon itself that needs the rest. */
	bool everyone;
	/* Users have the same ones: together they may have more than max. */
	bool shared;
	u32 used;
	struct ur_quota_user *users;
};

/* The part of what others leave of each table, in percent from 1 to 100, that
 * one user may have: any but root and the daemon's own, who may have all. 50 until
 * it is called. */
void ur_quota_set_share(u32 percent);

/* n more for that user: 0, or -ENOMEM and, now and then, a line in the log. */
int ur_quota_take(struct ur_quota *q, uid_t uid, u32 n);
void ur_quota_give(struct ur_quota *q, uid_t uid, u32 n);
/* How many that user has. */
u32 ur_quota_of(const struct ur_quota *q, uid_t uid);

/*
 * Descriptors that the daemon holds because a client has asked for something:
 * event files, memberships of groups, files of XRC domains. The client can
 * close its own copy, so its limits do not bound them. -EMFILE.
 */
int ur_quota_take_fds(uid_t uid, u32 n);
void ur_quota_give_fds(uid_t uid, u32 n);

#endif
