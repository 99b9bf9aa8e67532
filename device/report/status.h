/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of the daemon as JSON, for the command line. */
#ifndef UR_DEVICE_STATUS_H
#define UR_DEVICE_STATUS_H

#include "device/device.h"

struct json_object;
struct ur_obj_qp;
struct ur_session;

/*
 * Returns a memfd, the caller's, with *len bytes of text, -EFBIG (more than a
 * client takes), -ENOMEM (more than the session's user may have) or another
 * -errno. subject: "" for everything, or one of the top-level members
 * "devices", "sessions", "qps", "cqs", "mrs", "cm_ids", "cm" ..., or "story"
 * and a QPN, which is answered in plain text: see ur_why_tell(). What to_whom's
 * user may not know about objects of others is left out: see ur_may_see().
 * The text is charged to the session while it is written. Without the lock,
 * which is taken for a few objects at a time.
 */
int ur_status(struct ur_session *to_whom, const char *subject, u64 *len);

/* ---- what the parts add to it: under the lock ---- */

/* The place in a list; zero at its beginning. Objects that come or go during
 * the walk may be in it or not; objects that stay are in it once. */
struct ur_status_walk {
	struct ur_daemon *daemon;
	u64 *files; /* numbers of the uverbs files; freed by who has the walk */
	u32 n_files, at, slot;
	u64 last;
	uid_t asker; /* who will read it */
	bool second; /* the walk has a second part, and is there */
};

/* Adds the member "hidden", true, to o, an object that the asker may not see
 * (ur_may_see()): with whose it is, that is enough to count them. */
void ur_status_hide(struct json_object *o);

/* Makes one step: sets *o to the next object, which is the caller's, or leaves
 * *o where the step found none. Returns false at the end of the list. */
typedef bool ur_status_next(struct ur_status_walk *w, struct json_object **o);

/* uverbs_status.c */
ur_status_next ur_status_next_pd, ur_status_next_qp, ur_status_next_cq,
	ur_status_next_mr;
/* ucma_status.c */
ur_status_next ur_status_next_cm_id;
/* why_status.c: failures, those of queue pairs that are there first. */
ur_status_next ur_status_next_failure;
/* uverbs_status.c: the next queue pair, or NULL for now; false at the end. */
bool ur_status_next_obj_qp(struct ur_status_walk *w, struct ur_obj_qp **qp);

/* Returns an object to add to, or NULL where there is no memory; the status
 * then fails with ENOMEM. The functions below accept that NULL. */
struct json_object *ur_status_object(void);
/* Add a member to o. ur_status_add() takes v over; v NULL: no memory. */
void ur_status_add(struct json_object *o, const char *key,
		   struct json_object *v);
void ur_status_int(struct json_object *o, const char *key, u64 v);
void ur_status_text(struct json_object *o, const char *key, const char *v);

#endif
