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

/* The type of what stands in a table for an object that is hidden. */
#define UR_OBJECT_GONE UINT32_MAX

struct ur_object_type {
	u32 id; /* UVERBS_OBJECT_* */
	size_t size;
	/* All files of the device together; 0: its attributes tell, or there is no
	 * limit. */
	u32 max;
	const char *name; /* plural; those with a limit */
	bool rings;	  /* takes mappings */
	u32 kib;	  /* device/memory.h; 0: UR_KIB_OBJECT */
	/* Undoes everything but the memory. Returns 0, or -EBUSY with nothing
	 * changed. */
	int (*destroy)(struct ur_object *obj);
	/* Fills the answer of its DESTROY command: how many events were
	 * reported. NULL: the answer is empty. */
	void (*report)(const struct ur_object *obj, void *resp);
};

struct ur_object {
	struct ur_ufile *file;
	const struct ur_object_type *type;
	u32 handle;
	u32 number; /* of its type and device, of all that ever were; may wrap */
	u32 users;
	u32 kib; /* charged */
	u64 user_handle;
};

struct ur_handles {
	struct ur_object **slot; /* by handle - 1 - base */
	u32 base;
	u32 cap, size,
		first_free; /* there is memory for cap, and size are used */
	u32 count;
};

/* Numbers handles so that a file that is the n-th in place of others (n from 1 on) has none of
 * theirs, as long as there are not a thousand between. It has no object yet. */
void ur_handles_begin(struct ur_handles *handles, u32 n);
/* Returns whether the file is in place of others. */
static inline bool ur_handles_follow(const struct ur_handles *handles)
{
	return handles->base;
}

/* Returns a new zeroed object with a handle, whose first member is struct
 * ur_object, or NULL where there is no memory, or the device or the user has
 * too many. */
void *ur_object_new(struct ur_ufile *file, const struct ur_object_type *type);
/* Does the same for an object that costs kib KiB, not what its type says. */
void *ur_object_new_of(struct ur_ufile *file, const struct ur_object_type *type,
		       u32 kib);
/* Nobody finds the object by its handle any more, which stays taken. Only
 * ur_object_abort() may follow. An object that is being destroyed is hidden. */
void ur_object_hide(struct ur_object *obj);
/* Undoes ur_object_new() for an object that nobody has used. */
void ur_object_abort(struct ur_object *obj);
/* Returns the object with that handle, or NULL where there is none of that
 * type. */
void *ur_object_get(struct ur_ufile *file, u32 type, u64 handle);
/* Destroys the object. Returns 0, or -EBUSY where it has users or its type says
 * so. */
int ur_object_destroy(struct ur_object *obj);
/* Does the same, and puts the report of its type into resp. */
int ur_object_destroy_report(struct ur_object *obj, void *resp);
/* Destroys all objects of the file, dependants first. */
void ur_object_destroy_all(struct ur_ufile *file);

/* Counts one more object that depends on obj. obj may be NULL. */
static inline void ur_object_use(void *obj)
{
	if (!obj)
		return;
	ur_assert(((struct ur_object *)obj)->users < UINT32_MAX);
	((struct ur_object *)obj)->users++;
}

/* Counts one less. obj may be NULL. */
static inline void ur_object_unuse(void *obj)
{
	if (!obj)
		return;
	ur_assert(((struct ur_object *)obj)->users);
	((struct ur_object *)obj)->users--;
}

#endif
