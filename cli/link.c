/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroce link: devices, their netdevs and GIDs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/status.h"

static void print_device(struct json_object *device)
{
	struct json_object *gids;
	size_t count;

	printf("%s: netdev %s state %s mtu %" PRId64 "\n",
	       ur_json_text(device, "name"), ur_json_text(device, "netdev"),
	       ur_json_text(device, "state"), ur_json_number(device, "mtu"));
	gids = ur_json_array(device, "gids", &count);
	for (size_t i = 0; i < count; i++) {
		struct json_object *gid = json_object_array_get_idx(gids, i);

		printf("    gid %" PRId64 " %s %s %s\n",
		       ur_json_number(gid, "index"), ur_json_text(gid, "gid"),
		       ur_json_text(gid, "type"), ur_json_text(gid, "netdev"));
	}
}

int ur_cmd_link(struct ur_options *options)
{
	struct json_object *status, *devices;
	size_t count;
	int err;

	if (options->rest_count && !strcmp(options->rest[0], "show")) {
		options->rest++;
		options->rest_count--;
	}
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
