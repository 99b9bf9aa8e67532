/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lists of objects as JSON. Each folder that has objects walks them by steps, so
 * that the lock is free between two pages, and describes one at a time;
 * report/status.c makes the text. Control lock held.
 */
#ifndef UR_DEVICE_LISTING_H
#define UR_DEVICE_LISTING_H

#include "device/device.h"

struct json_object;
struct ur_session;

/* The place in a list; zero at its beginning. Objects that come or go during
 * the walk may be in it or not; objects that stay are in it once. */
struct ur_listing {
	struct ur_daemon *daemon;
	u64 *files; /* numbers of the uverbs files; the walk's owner frees them */
	u32 n_files, at, slot;
	u64 last;
	const struct ur_session *asker; /* who will read it */
	bool second; /* the walk has a second part, and is there */
};

/* Makes one step: sets *o to the next object, which is the caller's, or leaves
 * *o where the step found none. Returns false at the end of the list. */
typedef bool ur_listing_next(struct ur_listing *w, struct json_object **o);

/* Adds the member "hidden", true, to o, an object that the asker may not see
 * (ur_may_see()): together with its owner that is enough to count it. */
void ur_listing_hide(struct json_object *o);

/* Returns an object to add to, or NULL where there is no memory, which
 * ur_json_lacked() then reports. The functions below accept that NULL. */
struct json_object *ur_json_object(void);
/* Add a member to o. ur_json_add() takes v over; v NULL: no memory. */
void ur_json_add(struct json_object *o, const char *key, struct json_object *v);
void ur_json_int(struct json_object *o, const char *key, u64 v);
void ur_json_text(struct json_object *o, const char *key, const char *v);
/* Appends v, which it takes over, to the array; array NULL: no memory. */
void ur_json_append(struct json_object *array, struct json_object *v);
/* Returns whether anything was left out for want of memory since it was asked
 * last. */
bool ur_json_lacked(void);

#endif
