// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lists of objects as JSON: hides objects, and tracks lack of memory. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "device/listing.h"
#include "util/text.h"

/* A member is missing for lack of memory. Protected by the lock. */
static bool lacking;

struct json_object *ur_json_object(void)
{
	struct json_object *o = json_object_new_object();

	lacking |= !o;
	return o;
}

void ur_json_add(struct json_object *o, const char *key, struct json_object *v)
{
	if (o && v && !json_object_object_add(o, key, v))
		return;
	lacking = true;
	json_object_put(v);
}

void ur_json_int(struct json_object *o, const char *key, u64 v)
{
	ur_json_add(o, key, json_object_new_uint64(v));
}

void ur_json_text(struct json_object *o, const char *key, const char *v)
{
	char *clean = strdup(v);

	if (clean)
		ur_text_clean(clean, true);
	ur_json_add(o, key, clean ? json_object_new_string(clean) : NULL);
	free(clean);
}

void ur_json_append(struct json_object *array, struct json_object *v)
{
	if (array && v && !json_object_array_add(array, v))
		return;
	lacking = true;
	json_object_put(v);
}

bool ur_json_lacked(void)
{
	bool was = lacking;

	lacking = false;
	return was;
}

void ur_listing_hide(struct json_object *o)
{
	ur_json_add(o, "hidden", json_object_new_boolean(true));
}
