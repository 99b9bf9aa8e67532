/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A quota counts how much there is of something, and how much of it each user
 * has, so that users who take all they can get leave others something. A user's
 * part is a share of what the others have left. So however many users have
 * taken their part, there is a part of the rest for one more. A user is the uid
 * that the other end of the connection had when it connected. All under the
 * control lock.
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

/* Sets the share of what others leave of each table that one user may have, in
 * percent from 1 to 100. It is 50 before. Root and the daemon's own user may
 * have all. */
void ur_quota_set_share(u32 percent);

/* Takes n for that user. Returns 0, or -ENOMEM with, now and then, a line in
 * the log. */
int ur_quota_take(struct ur_quota *q, uid_t uid, u32 n);
/* Returns whether it would succeed. */
bool ur_quota_has_room(const struct ur_quota *q, uid_t uid, u32 n);
/* Gives n back, which were taken for that user. */
void ur_quota_give(struct ur_quota *q, uid_t uid, u32 n);
/* Returns how many that user has. */
u32 ur_quota_of(const struct ur_quota *q, uid_t uid);

/* ---- descriptors, what some things hold at most ---- */

/* A connection: its socket, its client's memory and maps, and one that is open
 * for a moment, or on its way to the client. Descriptors that are shown in the middle of a command are
 * charged apart. */
#define UR_FDS_SESSION 4
/* An answer to STATUS, and the stream that writes it. */
#define UR_FDS_ANSWER 2
/* An open file: of uverbs its memory and what wakes its engine; of rdma_cm a
 * socket pair and its page of changes; of umad a socket pair. */
#define UR_FDS_UVERBS 2
#define UR_FDS_UCMA   3
#define UR_FDS_UMAD   2

/*
 * Take and give back descriptors that the daemon holds because a client is
 * there, or has asked for something. The client can close its own copy, so its
 * own limits do not bound them. All users together have seven eighths of what
 * the daemon may open. Returns 0 or -EMFILE.
 */
int ur_quota_take_fds(uid_t uid, u32 n);
void ur_quota_give_fds(uid_t uid, u32 n);

#endif
