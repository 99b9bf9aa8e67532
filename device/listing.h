/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lists of objects as JSON. Each folder lists its objects in steps, one object at a time,
 * so that the lock can be released between two pages; report/status.c makes the text.
 * Control lock held.
 */
#ifndef UR_DEVICE_LISTING_H
#define UR_DEVICE_LISTING_H

#include "device/device.h"

struct json_object;
struct ur_session;

/* A position in a list; all zero at the beginning. An object that exists during the whole
 * walk is listed exactly once. */
struct ur_listing {
	struct ur_daemon *daemon;
	u64 *files; /* ids of the uverbs files; freed by the walk's owner */
	u32 n_files, at, slot;
	u64 last;
	const struct ur_session *asker; /* reader of the list */
	bool second; /* in the second part, if the list has one */
};

/* Makes one step: sets *o to the next object, which becomes the caller's, or leaves *o if
 * this step found none. Returns false at the end of the list. */
typedef bool ur_listing_next(struct ur_listing *w, struct json_object **o);

/* Adds the member "hidden": true to o, an object that the asker may not see (ur_may_see()).
 * Its owner is all that is needed to count it. */
void ur_listing_hide(struct json_object *o);

/* Returns a new object, or NULL without memory, which ur_json_lacked() then reports. The
 * functions below accept that NULL. */
struct json_object *ur_json_object(void);
/* Add a member to o. ur_json_add() takes v over; v may be NULL (no memory). */
void ur_json_add(struct json_object *o, const char *key, struct json_object *v);
void ur_json_int(struct json_object *o, const char *key, u64 v);
void ur_json_text(struct json_object *o, const char *key, const char *v);
/* Appends v to the array and takes v over. array may be NULL (no memory). */
void ur_json_append(struct json_object *array, struct json_object *v);
/* Returns whether anything was left out for lack of memory since the last call. */
bool ur_json_lacked(void);

#endif
