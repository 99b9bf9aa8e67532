// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce stat: counters and rates of the devices, or of their queue pairs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/rates.h"

/* The columns of a queue pair's counters, with their widths. */
static const struct {
	const char *title, *counter;
	int width;
} columns[] = {
	{"SENT-PKTS", "sent_pkts", 10}, {"SENT-BYTES", "sent_bytes", 13},
	{"RCVD-PKTS", "rcvd_pkts", 10}, {"RCVD-BYTES", "rcvd_bytes", 13},
	{"LOOP-MSGS", "loop_msgs", 10}, {"LOOP-BYTES", "loop_bytes", 13},
	{"RESENT", "resent_pkts", 7},	{"RETRIES", "retries", 7},
	{"TIMEOUT", "timeouts", 7},	{"RNR", "rnr_waits", 6},
	{"OOS", "out_of_sequence", 6},	{"DUP", "duplicates", 6},
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))

static void print_device(const struct ur_samples *s, struct json_object *device)
{
	struct json_object *counters, *before;

	printf("%s: netdev %s", ur_status_text(device, "name"),
	       ur_status_text(device, "netdev"));
	if (s->before)
		printf(", per second over %.2f s", s->seconds);
	putchar('\n');
	if (!json_object_object_get_ex(device, "counters", &counters) ||
	    !json_object_is_type(counters, json_type_object))
		return;
	before = s->before ? ur_status_device(s->before,
					      ur_status_text(device, "name"))
			   : NULL;
	json_object_object_foreach(counters, name, value)
	{
		printf("    %-32s %" PRId64, name,
		       json_object_get_int64(value));
		if (s->before)
			printf(" %.1f", ur_rate(s, before, device, name));
		putchar('\n');
	}
}

static void print_titles(void)
{
	printf("%-10s %8s %-7s %-5s %-16s %8s", "DEVICE", "QPN", "TYPE",
	       "STATE", "PROGRAM", "PID");
	for (size_t c = 0; c < COLUMNS; c++)
		printf(" %*s", columns[c].width, columns[c].title);
	putchar('\n');
}

static void print_qp(const struct ur_samples *s, struct json_object *qp)
{
	struct json_object *before =
		s->before ? ur_status_same_qp(s->before, qp) : NULL;

	printf("%-10s %8" PRId64 " %-7s %-5s %-16s %8" PRId64,
	       ur_status_text(qp, "device"), ur_json_number(qp, "qpn"),
	       ur_status_text(qp, "type"), ur_status_text(qp, "state"),
	       ur_status_text(qp, "comm"), ur_json_number(qp, "pid"));
	for (size_t c = 0; c < COLUMNS; c++) {
		if (s->before)
			printf(" %*.1f", columns[c].width,
			       ur_rate(s, before, qp, columns[c].counter));
		else
			printf(" %*" PRId64, columns[c].width,
			       ur_counter(qp, columns[c].counter));
	}
	putchar('\n');
}

/* Returns the queue pairs of the devices in status. */
static struct json_object *select_qps(struct json_object *status)
{
	struct json_object *kept = json_object_new_array();

	ur_json_each(qp, ur_json_array(status, "qps")) {
		if (ur_status_device(status, ur_status_text(qp, "device")))
			json_object_array_add(kept, json_object_get(qp));
	}
	return kept;
}

static void show_devices(const struct ur_samples *s, bool json)
{
	struct json_object *devices = ur_json_array(s->after, "devices");

	ur_json_each(one, devices) {
		if (!json)
			print_device(s, one);
		else if (s->before)
			ur_rates_add(
				s,
				ur_status_device(s->before,
						 ur_status_text(one, "name")),
				one);
	}
	if (json)
		ur_json_print(devices);
}

static void show_qps(const struct ur_samples *s, bool json)
{
	struct json_object *qps = select_qps(s->after);

	if (!json)
		print_titles();
	ur_json_each(one, qps) {
		if (ur_json_hidden(one))
			continue;
		if (!json)
			print_qp(s, one);
		else if (s->before)
			ur_rates_add(s, ur_status_same_qp(s->before, one), one);
	}
	if (json)
		ur_json_print(qps);
	else
		ur_status_print_hidden(s->after, "qps", "qp");
	json_object_put(qps);
}

int ur_cmd_stat(struct ur_options *options)
{
	int left = options->count ? options->count : 1, err;
	struct ur_samples samples;
	bool qps = options->rest_count && !strcmp(options->rest[0], "qp");

	if (qps) {
		options->rest++;
		options->rest_count--;
	}
	if (options->count && options->interval <= 0)
		options->interval = 1;
	err = ur_samples_first(&samples, options);
	while (!err && left--) {
		if (options->interval > 0)
			err = ur_samples_next(&samples, options);
		if (!err)
			err = ur_status_select(samples.after, options);
		if (err)
			break;
		if (qps)
			show_qps(&samples, options->json);
		else
			show_devices(&samples, options->json);
		fflush(stdout);
	}
	ur_samples_free(&samples);
	return err ? UR_EXIT_FAILED : 0;
}
