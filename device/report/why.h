/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Failures of queue pairs and connections, explained in sentences. The engine keeps the
 * failure of an existing queue pair; this module keeps those of queue pairs that were
 * destroyed or reset, and of connections. Control lock held.
 */
#ifndef UR_DEVICE_REPORT_WHY_H
#define UR_DEVICE_REPORT_WHY_H

#include <stdio.h>
#include "device/listing.h"
#include "device/session.h"

/* Maximum number of records, of a user and of all users; the oldest is dropped. */
#define UR_WHY_PER_USER 64
#define UR_WHY_MAX	1024

struct ur_why {
	struct ur_list node; /* of the daemon's, oldest first */
	u64 id;
	uid_t uid;
	pid_t pid;
	char comm[17];
	char device[UR_DEVICE_NAME_MAX];
	bool gone; /* the queue pair was destroyed or reset */
	u32 qpn, dest_qpn, path_mtu;
	u8 type; /* enum ur_qp_type */
	bool have_path;
	struct ur_epath path;
	struct ur_failure failure;
	/* of rdma_cm: there is no queue pair, and failure has only its time */
	bool cm;
	u32 event; /* RDMA_CM_EVENT_* */
	int status;
	char dst[64];
};

struct ur_obj_qp;

/* Fills *y with the failure of the queue pair: of its own request, or, if peers, of the
 * peer's. Returns false if there is none. */
bool ur_why_of_qp(struct ur_obj_qp *qp, bool peers, struct ur_why *y);
/* Records the failure of a queue pair that is about to be destroyed or reset, charged to
 * its owner. Without memory it is dropped. */
void ur_why_keep_qp(struct ur_obj_qp *qp);
/* Adds a copy of *y to the records of the session's user. */
void ur_why_keep(struct ur_session *s, const struct ur_why *y);
/* Returns the oldest record whose id is greater than after, or NULL. */
const struct ur_why *ur_why_next(struct ur_daemon *daemon, u64 after);
/* Frees all records. */
void ur_why_forget_all(struct ur_daemon *daemon);

/* Writes the explanation in lines: what failed, why, and what asker may know of the other
 * end. */
void ur_why_story(FILE *out, struct ur_daemon *daemon,
		  const struct ur_session *asker, const struct ur_why *y);
/* why_peer.c. ur_why_device_at() returns this daemon's device with that GID (16 bytes).
 * ur_why_live_peer() returns the queue pair there that *y was connected to.
 * ur_why_of_peer() finds the failure record of that end. Each returns NULL or false if
 * there is none, or asker may not see it. */
struct ur_device *ur_why_device_at(struct ur_daemon *daemon, const u8 *gid);
struct ur_obj_qp *ur_why_live_peer(struct ur_device *dev,
				   const struct ur_session *asker,
				   const struct ur_why *y);
bool ur_why_of_peer(struct ur_daemon *daemon, struct ur_device *dev,
		    const struct ur_session *asker, const struct ur_why *y,
		    struct ur_why *found);
/* why_status.c: writes the explanation of the failure of queue pair number, or, for number
 * 0, of the last connection that failed for the process. Writes nothing if there is none
 * that the session's user may see. Returns 0 or -ENOMEM. Without the lock. */
int ur_why_write(FILE *f, struct ur_session *to_whom, const char *number);
/* why_status.c: steps through failures, those of existing queue pairs first. */
ur_listing_next ur_status_next_failure;
/* why_words.c: write the names of access flags, and what is wrong with an access to key, a
 * noun such as "it". */
void ur_why_flags(FILE *out, u32 access);
void ur_why_denied(FILE *out, const struct ur_denied *d, const char *key);
/* Writes a hint if a known program of others makes this mistake. */
void ur_why_known(FILE *out, const struct ur_failure *f);
/* Writes why the owner of this record refused its peer's request. */
void ur_why_refused(FILE *out, const struct ur_failure *f);
/* why_cm.c: writes the explanation for a connection that failed. */
void ur_why_cm_story(FILE *out, const struct ur_why *y);

#endif
