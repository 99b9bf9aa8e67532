/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroce link: devices, their netdevs and GIDs. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/status.h"

/* An IPv4 GID as people know it: ::ffff:10.0.0.1. */
static const char *short_gid(const char *gid, char *buf, socklen_t size)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET6, gid, &addr) != 1 ||
	    !inet_ntop(AF_INET6, &addr, buf, size))
		return gid;
	return buf;
}

static void print_device(struct json_object *device)
{
	char text[INET6_ADDRSTRLEN];
	struct json_object *gids;
	size_t count;

	printf("%s: netdev %s state %s mtu %" PRId64 " active_mtu %" PRId64
	       "\n",
	       ur_json_text(device, "name"), ur_json_text(device, "netdev"),
	       ur_json_text(device, "state"),
	       ur_json_number(device, "netdev_mtu"),
	       ur_json_number(device, "active_mtu"));
	gids = ur_json_array(device, "gids", &count);
	for (size_t i = 0; i < count; i++) {
		struct json_object *gid = json_object_array_get_idx(gids, i);

		printf("    gid %" PRId64 " %s %s netdev %s\n",
		       ur_json_number(gid, "index"),
		       short_gid(ur_json_text(gid, "gid"), text, sizeof(text)),
		       ur_json_text(gid, "type"),
		       ur_json_text(device, "netdev"));
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
