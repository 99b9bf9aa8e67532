/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences about a device that is in trouble: `uroce top`'s answer to "is it us?". */
#ifndef UR_CLI_TROUBLE_H
#define UR_CLI_TROUBLE_H

#include "cli/rates.h"

/* Returns an array of strings, which the caller puts; empty where the two samples
 * show none. device: in samples->after. failures: what `uroce why` shows, or NULL. */
struct json_object *ur_trouble(const struct ur_samples *samples,
			       struct json_object *device,
			       struct json_object *failures);

#endif
