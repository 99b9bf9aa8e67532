/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Why did it fail: a memory of failed queue pairs and connections, reported in
 * sentences. A queue pair's own record lives with it, in the engine; here are
 * those whose queue pair is gone, or was reset. Control lock held.
 */
#ifndef UR_DEVICE_REPORT_WHY_H
#define UR_DEVICE_REPORT_WHY_H

#include <stdio.h>
#include "device/listing.h"
#include "device/session.h"

/* The most records of a user, and of all of them; the oldest goes. */
#define UR_WHY_PER_USER 64
#define UR_WHY_MAX	1024

struct ur_why {
	struct ur_list node; /* of the daemon's, oldest first */
	u64 id;
	uid_t uid;
	pid_t pid;
	char comm[17];
	char device[UR_DEVICE_NAME_MAX];
	bool gone; /* the queue pair is not there, or was reset */
	u32 qpn, dest_qpn, path_mtu;
	u8 type; /* enum ur_qp_type */
	bool have_path;
	struct ur_epath path;
	struct ur_failure failure;
	/* for rdma_cm: no queue pair, and failure is zero but for its time */
	bool cm;
	u32 event; /* RDMA_CM_EVENT_* */
	int status;
	char dst[64];
};

struct ur_obj_qp;

/* Fills *y with what the queue pair failed of: a request of its own, or of its
 * peer. Returns false where there is none. */
bool ur_why_of_qp(struct ur_obj_qp *qp, bool peers, struct ur_why *y);
/* The queue pair is about to go, or to be reset: remembers why it failed,
 * charged to its owner. Without memory it is forgotten. */
void ur_why_keep_qp(struct ur_obj_qp *qp);
/* Remembers *y, which is copied, of the session's user. */
void ur_why_keep(struct ur_session *s, const struct ur_why *y);
/* Returns the oldest record whose id is greater than after, or NULL. */
const struct ur_why *ur_why_next(struct ur_daemon *daemon, u64 after);
/* Forgets all of it. */
void ur_why_forget_all(struct ur_daemon *daemon);

/* Writes the story in lines: what failed, why, and of the other end what the
 * asker may know. */
void ur_why_story(FILE *out, struct ur_daemon *daemon,
		  const struct ur_session *asker, const struct ur_why *y);
/* why_peer.c: the device of this daemon that has the GID (16 bytes); the queue
 * pair there that *y was connected to, if the asker may know of it; the record
 * of that end, in *found. NULL or false where there is none. */
struct ur_device *ur_why_device_at(struct ur_daemon *daemon, const u8 *gid);
struct ur_obj_qp *ur_why_live_peer(struct ur_device *dev,
				   const struct ur_session *asker,
				   const struct ur_why *y);
bool ur_why_of_peer(struct ur_daemon *daemon, struct ur_device *dev,
		    const struct ur_session *asker, const struct ur_why *y,
		    struct ur_why *found);
/* why_status.c: writes the story of that queue pair's failure, or with number 0
 * of the last connection that the process did not get; nothing where there is
 * none that the session's user may know of. Returns 0 or -ENOMEM. Without the
 * lock. */
int ur_why_tell(FILE *f, struct ur_session *to_whom, const char *number);
/* why_status.c: failures, those of queue pairs that are there first. */
ur_listing_next ur_status_next_failure;
/* why_words.c: the names of access flags; what is wrong with the access, of
 * whom (such as "it"). */
void ur_why_flags(FILE *out, u32 access);
void ur_why_denied(FILE *out, const struct ur_denied *d, const char *key);
/* Writes a line where the request is one that others' programs are known for; else nothing. */
void ur_why_known(FILE *out, const struct ur_failure *f);
/* Writes why the end with this record refused a request of its peer. */
void ur_why_refused(FILE *out, const struct ur_failure *f);
/* why_cm.c: writes the same for a connection that was not made. */
void ur_why_cm_story(FILE *out, const struct ur_why *y);

#endif
