/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of the daemon as JSON, for the command line. */
#ifndef UR_DEVICE_STATUS_H
#define UR_DEVICE_STATUS_H

#include "device/device.h"

struct json_object;
struct ur_session;

/*
 * A memfd (the caller's) with *len bytes of text, or -errno; -EFBIG: more than
 * a client takes. subject: "" for everything, or one of the top-level members
 * "devices", "sessions", "qps", "cqs", "mrs", "cm_ids", "cm" ... What to_whom's
 * user may not know of others' objects is left out: see ur_status_tells().
 * Without the lock, which is taken for a few objects at a time. The text is
 * charged to the session while it is written; -ENOMEM: more than its user may
 * have.
 */
int ur_status(struct ur_session *to_whom, const char *subject, u64 *len);

/* ---- what the parts tell: under the lock ---- */

/* Where a list is; zero at its beginning. What comes and goes meanwhile may be
 * in it or not, what stays is in it once. */
struct ur_status_walk {
	struct ur_daemon *daemon;
	u64 *files; /* numbers of the uverbs files; freed by who has the walk */
	u32 n_files, at, slot;
	u64 last;
	uid_t asker; /* who will read it */
};

/*
 * May the asker know more of owner's objects than that there are any? Keys,
 * addresses and numbers of queue pairs are what somebody needs to write into
 * another's memory, so they are the owner's, root's, and the user's as whom
 * this daemon runs. Of others' objects a list has a member "hidden", true, and
 * whose they are, which is all that counting needs.
 */
bool ur_status_tells(const struct ur_status_walk *w,
		     const struct ur_session *owner);
/* An object of which no more is told: o gets the member that says so. */
void ur_status_hide(struct json_object *o);

/* A step: *o is set to the next one (the caller's), or left where the step
 * came upon none. False: that was all. */
typedef bool ur_status_next(struct ur_status_walk *w, struct json_object **o);

/* uverbs_status.c */
ur_status_next ur_status_next_pd, ur_status_next_qp, ur_status_next_cq,
	ur_status_next_mr;
/* ucma_status.c */
ur_status_next ur_status_next_cm_id;

/* An object to add to; NULL, and status says ENOMEM, for want of memory. All
 * that adds takes that NULL as well. */
struct json_object *ur_status_object(void);
/* Takes v over. */
void ur_status_add(struct json_object *o, const char *key,
		   struct json_object *v);
void ur_status_int(struct json_object *o, const char *key, u64 v);
void ur_status_text(struct json_object *o, const char *key, const char *v);

#endif
