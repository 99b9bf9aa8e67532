// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce metrics: the state of the devices in Prometheus text form. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/status.h"

static void print_label(const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void print_labels(struct json_object *device)
{
	fputs("{device=\"", stdout);
	print_label(ur_status_text(device, "name"));
	fputs("\",netdev=\"", stdout);
	print_label(ur_status_text(device, "netdev"));
	fputs("\"}", stdout);
}

static void print_gauge(struct json_object *devices, const char *metric,
			const char *help,
			int64_t (*value)(struct json_object *device))
{
	printf("# HELP uroce_%s %s\n# TYPE uroce_%s gauge\n", metric, help,
	       metric);
	ur_json_each(device, devices) {
		printf("uroce_%s", metric);
		print_labels(device);
		printf(" %" PRId64 "\n", value(device));
	}
}

static int64_t is_active(struct json_object *device)
{
	return !strcmp(ur_status_text(device, "state"), "ACTIVE");
}

static int64_t active_mtu(struct json_object *device)
{
	return ur_json_number(device, "active_mtu");
}

static int64_t gid_count(struct json_object *device)
{
	return (int64_t)ur_json_count(device, "gids");
}

/* The format requires all values of one counter together. */
static void print_counters(struct json_object *devices)
{
	struct json_object **any = ur_json_first(devices), *first, *counters;

	if (any == ur_json_past(devices) ||
	    !json_object_object_get_ex(*any, "counters", &first))
		return;
	json_object_object_foreach(first, name, unused)
	{
		(void)unused;
		printf("# TYPE uroce_%s_total counter\n", name);
		ur_json_each(device, devices) {
			if (!json_object_object_get_ex(device, "counters",
						       &counters))
				continue;
			printf("uroce_%s_total", name);
			print_labels(device);
			printf(" %" PRId64 "\n",
			       ur_json_number(counters, name));
		}
	}
}

static void print_objects(struct json_object *status)
{
	static const char *const lists[] = {"sessions", "qps", "cqs",
					    "mrs",	"pds", "cm_ids"};
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		printf("# TYPE uroce_%s gauge\nuroce_%s %zu\n", lists[i],
		       lists[i], ur_json_count(status, lists[i]));
}

int ur_cmd_metrics(struct ur_options *options)
{
	struct json_object *status, *devices;
	int err;

	status = ur_status_get(options, "");
	if (!status) {
		/* A scrape needs output; the reason is on stderr. */
		puts("# TYPE uroce_up gauge\nuroce_up 0");
		return UR_EXIT_FAILED;
	}
	err = ur_status_select(status, options);
	devices = ur_json_array(status, "devices");
	puts("# TYPE uroce_up gauge\nuroce_up 1");
	print_gauge(devices, "port_active", "1: the port is ACTIVE", is_active);
	print_gauge(devices, "port_mtu_bytes", "active MTU", active_mtu);
	print_gauge(devices, "gids", "entries of the GID table", gid_count);
	print_objects(status);
	print_counters(devices);
	json_object_put(status);
	return err ? UR_EXIT_FAILED : 0;
}
