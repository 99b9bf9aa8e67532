/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of ioctl methods. */
#ifndef UR_DEVICE_UVERBS_UVERBS_METHODS_H
#define UR_DEVICE_UVERBS_UVERBS_METHODS_H

#include "device/uverbs/uverbs_cmd.h"

#define UR_METHOD_MAX_ATTRS 24
/* A list of SGEs is the longest input. */
#define UR_ATTR_MAX_BYTES 16384

enum ur_attr_kind {
	UR_A_IN,     /* bytes; up to 8 inline */
	UR_A_OUT,    /* user buffer */
	UR_A_OBJ,    /* handle of an existing object */
	UR_A_NEW,    /* handle of the new object */
	UR_A_FD,     /* descriptor of the client */
	UR_A_FD_NEW, /* descriptor installed in the client */
};

struct ur_attr_spec {
	u16 id;
	u8 kind;
	u8 object; /* UR_A_OBJ */
	bool mandatory;
	u16 min, max; /* bytes; max 0: any (UR_A_IN) */
};

struct ur_method {
	u16 object, method;
	bool without_context; /* allowed before GET_CONTEXT */
	/* The file's user's alone: what leads into the engine, or is charged for it. -EPERM for another user who
	 * has the file. */
	bool of_user;
	u16 n_specs;
	const struct ur_attr_spec *specs;
	UR_METHOD_HANDLER((*fn)); /* NULL: INVOKE_WRITE */
};

/* Returns the method, or NULL if there is none. */
const struct ur_method *ur_method_find(u16 object, u16 method);

#endif
