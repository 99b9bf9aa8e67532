// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce cm: rdma_cm identifiers, and the connection manager's counters. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/status.h"

static void print_id(struct json_object *id)
{
	printf("%s %s %s src %s", ur_status_text(id, "port_space"),
	       ur_status_text(id, "state"), ur_status_text(id, "device"),
	       ur_status_text(id, "src"));
	if (*ur_status_text(id, "dst"))
		printf(" dst %s", ur_status_text(id, "dst"));
	if (ur_json_number(id, "qpn"))
		printf(" qpn %" PRId64, ur_json_number(id, "qpn"));
	printf(" pid %" PRId64 " %s\n", ur_json_number(id, "pid"),
	       ur_status_text(id, "comm"));
}

static void print_counters(struct json_object *status)
{
	struct json_object *counters;

	if (!json_object_object_get_ex(status, "cm", &counters) ||
	    !json_object_is_type(counters, json_type_object))
		return;
	json_object_object_foreach(counters, name, value)
	{
		int64_t n = json_object_get_int64(value);

		if (n)
			printf("    %-32s %" PRId64 "\n", name, n);
	}
}

int ur_cmd_cm(struct ur_options *options)
{
	struct json_object *status, *ids, *part, *out;

	if (options->rest_count)
		return ur_too_many("cm", options->rest[0]);
	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	ids = ur_json_array(status, "cm_ids");
	if (options->json) {
		out = json_object_new_object();
		json_object_object_add(out, "cm_ids", json_object_get(ids));
		if (json_object_object_get_ex(status, "cm", &part))
			json_object_object_add(out, "cm",
					       json_object_get(part));
		ur_json_print(out);
		json_object_put(out);
	} else {
		ur_json_each(id, ids)
			if (!ur_json_hidden(id))
				print_id(id);
		ur_status_print_hidden(status, "cm_ids", "cm_id");
		print_counters(status);
	}
	json_object_put(status);
	return 0;
}
