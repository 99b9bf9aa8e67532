/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A quota counts how much of a resource is used in all and by each user, so that greedy
 * users leave some for others. A user may take a share of what the others have left. So
 * however many users have taken their part, another one still gets a part of the rest. A
 * user is the uid of the peer when it connected. Control lock held.
 */
#ifndef UR_DEVICE_QUOTA_H
#define UR_DEVICE_QUOTA_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_quota_user;

/* A new quota is zero but for the first five fields. */
struct ur_quota {
	const char *what;  /* plural, for the log */
	const char *where; /* a device's name; NULL: the daemon */
	u32 max;	   /* for all users together; 0: no bound */
	/* Root and the daemon's own user are bounded too, each by half of what the others
	 * leave: the daemon itself needs the rest. */
	bool everyone;
	/* Users can hold the same units, so their sum may exceed max. */
	bool shared;
	u32 used;
	struct ur_quota_user *users;
};

/* Sets the share, in percent from 1 to 100, that one user may take of what the others
 * leave; 50 by default. Root and the daemon's own user may take all. */
void ur_quota_set_share(u32 percent);

/* Takes n for that user. Returns 0 or -ENOMEM, which is logged at a limited rate. */
int ur_quota_take(struct ur_quota *q, uid_t uid, u32 n);
/* Returns whether ur_quota_take() would succeed. */
bool ur_quota_has_room(const struct ur_quota *q, uid_t uid, u32 n);
/* Gives back n that were taken for that user. */
void ur_quota_give(struct ur_quota *q, uid_t uid, u32 n);
/* Returns how many the user has. */
u32 ur_quota_of(const struct ur_quota *q, uid_t uid);

/* ---- descriptors, what some things hold at most ---- */

/* A connection: its socket, its client's memory and maps, and one that is open for a moment
 * or on its way to the client. Descriptors that the client sends in the middle of a command
 * are charged separately. */
#define UR_FDS_SESSION 4
/* A reply to STATUS, and the stream that writes it. */
#define UR_FDS_ANSWER 2
/* An open file. uverbs: its memory and the eventfd that wakes its engine; rdma_cm: a socket
 * pair and the page of changes; umad: a socket pair. */
#define UR_FDS_UVERBS 2
#define UR_FDS_UCMA   3
#define UR_FDS_UMAD   2

/*
 * Take and give back descriptors that the daemon holds for a client. The client can close
 * its own copy, so its own limits do not bound ours. All users together get seven eighths
 * of what the daemon may open. Returns 0 or -EMFILE.
 */
int ur_quota_take_fds(uid_t uid, u32 n);
void ur_quota_give_fds(uid_t uid, u32 n);

#endif
