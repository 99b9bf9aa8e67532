/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Objects that a client holds: a handle in the table of its file, a type
 * (enum uverbs_default_objects) and a count of the objects that depend on it.
 * An object with dependants cannot be destroyed (-EBUSY).
 */
#ifndef UR_DEVICE_OBJECT_H
#define UR_DEVICE_OBJECT_H

#include "util/assert.h"
#include "device/device.h"

struct ur_ufile;
struct ur_object;

struct ur_object_type {
	u32 id; /* UVERBS_OBJECT_* */
	size_t size;
	u32 max;	  /* of the device, all files together; 0: no limit */
	const char *name; /* plural; those with a limit */
	bool rings;	  /* takes mappings */
	u32 kib;	  /* device/memory.h; 0: UR_KIB_OBJECT */
	/* Undo everything but the memory. -EBUSY: not now. */
	int (*destroy)(struct ur_object *obj);
	/* What its DESTROY command answers: how many events were reported.
	 * NULL: nothing. */
	void (*report)(const struct ur_object *obj, void *resp);
};

struct ur_object {
	struct ur_ufile *file;
	const struct ur_object_type *type;
	u32 handle;
	u32 users;
	u32 kib; /* charged */
	u64 user_handle;
};

struct ur_handles {
	struct ur_object **slot; /* by handle - 1 */
	u32 size, first_free;
	u32 count;
};

/* Zeroed object with a handle; the first member of what is made is struct
 * ur_object. NULL: no memory, or over the limit of all or of the user. */
void *ur_object_new(struct ur_ufile *file, const struct ur_object_type *type);
/* The same for one that costs more than its type says. */
void *ur_object_new_of(struct ur_ufile *file, const struct ur_object_type *type,
		       u32 kib);
/* Undo ur_object_new() where the object never came to life. */
void ur_object_abort(struct ur_object *obj);
/* NULL: no such handle, or of another type. */
void *ur_object_get(struct ur_ufile *file, u32 type, u64 handle);
/* -EBUSY: it has users, or its type says so. */
int ur_object_destroy(struct ur_object *obj);
/* The same, and its type's report into @resp. */
int ur_object_destroy_report(struct ur_object *obj, void *resp);
/* All, dependants first. */
void ur_object_destroy_all(struct ur_ufile *file);

static inline void ur_object_use(void *obj)
{
	if (obj)
		((struct ur_object *)obj)->users++;
}

static inline void ur_object_unuse(void *obj)
{
	if (!obj)
		return;
	ur_assert(((struct ur_object *)obj)->users);
	((struct ur_object *)obj)->users--;
}

#endif
