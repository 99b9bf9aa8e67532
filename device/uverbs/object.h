/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Objects that a client holds: a handle in the table of its file, a type
 * (enum uverbs_default_objects) and a count of the objects that depend on it.
 * An object with dependants cannot be destroyed (-EBUSY). Control lock held.
 */
#ifndef UR_DEVICE_UVERBS_OBJECT_H
#define UR_DEVICE_UVERBS_OBJECT_H

#include "util/assert.h"
#include "device/device.h"

struct ur_ufile;
struct ur_object;

/* The type id of the placeholder of a hidden object. */
#define UR_OBJECT_GONE UINT32_MAX

struct ur_object_type {
	u32 id; /* UVERBS_OBJECT_* */
	size_t size;
	/* Limit of all files of the device together; 0: the device's attributes give it, or
	 * there is none. */
	u32 max;
	const char *name; /* plural; for types with a limit */
	u32 kib;	  /* device/memory.h; 0: UR_KIB_OBJECT */
	/* Destroys the object except for its memory. Returns 0, or -EBUSY with nothing
	 * changed. */
	int (*destroy)(struct ur_object *obj);
};

struct ur_object {
	struct ur_ufile *file;
	const struct ur_object_type *type;
	u32 handle;
	/* counts the objects of its type made on the device; may wrap */
	u32 number;
	u32 users;
	u32 kib; /* charged */
	u64 user_handle;
};

struct ur_handles {
	struct ur_object **slot; /* by handle - 1 - base */
	u32 base;
	u32 cap, size,
		/* slot has room for cap entries; size are initialized */
		first_free;
	u32 count;
};

/* Sets the base of the handles of a file that replaces an earlier one of the same context.
 * n counts the replacements, from 1 on: handles of the last thousand replacements do not
 * collide. The file has no object yet. */
void ur_handles_begin(struct ur_handles *handles, u32 n);
/* Returns whether the file replaces an earlier one. */
static inline bool ur_handles_follow(const struct ur_handles *handles)
{
	return handles->base;
}

/* Returns a new zeroed object with a handle, or NULL without memory, or if the device or
 * the user has too many. Its first member is a struct ur_object. */
void *ur_object_new(struct ur_ufile *file, const struct ur_object_type *type);
/* Does the same for an object charged with kib KiB in place of its type's. */
void *ur_object_new_of(struct ur_ufile *file, const struct ur_object_type *type,
		       u32 kib);
/* Hides the object from lookups; its handle stays reserved. Only ur_object_abort() may
 * follow. An object that is being destroyed is hidden. */
void ur_object_hide(struct ur_object *obj);
/* Undoes ur_object_new() for an unused object. */
void ur_object_abort(struct ur_object *obj);
/* Returns the object with that handle, or NULL if there is none of that type. */
void *ur_object_get(struct ur_ufile *file, u32 type, u64 handle);
/* Destroys the object. Returns 0, or -EBUSY if it has users or its destroy() returns that. A response to
 * DESTROY says that no events were reported: the program's engine counts them. */
int ur_object_destroy(struct ur_object *obj);
/* Destroys all objects of the file, dependants first. */
void ur_object_destroy_all(struct ur_ufile *file);

/* Adds a user of obj. obj may be NULL. */
static inline void ur_object_use(void *obj)
{
	if (!obj)
		return;
	ur_assert(((struct ur_object *)obj)->users < UINT32_MAX);
	((struct ur_object *)obj)->users++;
}

/* Removes a user of obj. obj may be NULL. */
static inline void ur_object_unuse(void *obj)
{
	if (!obj)
		return;
	ur_assert(((struct ur_object *)obj)->users);
	((struct ur_object *)obj)->users--;
}

#endif
