/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences about the trouble of a device, for `uroce top`. */
#ifndef UR_CLI_TROUBLE_H
#define UR_CLI_TROUBLE_H

#include "cli/rates.h"

/* Returns an array of strings, which the caller puts; empty if the two samples show no
 * trouble. device: in samples->after. failures: those of `uroce why`, or NULL. */
struct json_object *ur_trouble(const struct ur_samples *samples,
			       struct json_object *device,
			       struct json_object *failures);

#endif
