/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroce stat: counters. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/status.h"

static void print_device(struct json_object *device)
{
	struct json_object *counters;

	printf("%s: netdev %s\n", ur_json_text(device, "name"),
	       ur_json_text(device, "netdev"));
	if (!json_object_object_get_ex(device, "counters", &counters) ||
	    !json_object_is_type(counters, json_type_object))
		return;
	json_object_object_foreach(counters, name, value) printf(
		"    %-32s %" PRId64 "\n", name, json_object_get_int64(value));
}

int ur_cmd_stat(struct ur_options *options)
{
	struct json_object *status, *devices;
	size_t count;
	int err;

	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	err = ur_status_select(status, options);
	devices = ur_json_array(status, "devices", &count);
	if (options->json)
		ur_json_print(devices);
	else
		for (size_t i = 0; i < count; i++)
			print_device(json_object_array_get_idx(devices, i));
	json_object_put(status);
	return err ? UR_EXIT_FAILED : 0;
}
