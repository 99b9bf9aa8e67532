/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroce top: rates of the devices, and the programs on them, live. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/status.h"

/* What a line shows: a counter per second, divided. */
static const struct {
	const char *title, *counter;
	double unit;
} columns[] = {
	/* port_*_data count words of four bytes, as InfiniBand has it. */
	{"tx MB/s", "port_xmit_data", 250e3},
	{"rx MB/s", "port_rcv_data", 250e3},
	{"loop MB/s", "loop_bytes", 1e6},
	{"tx pkt/s", "sent_pkts", 1},
	{"rx pkt/s", "rcvd_pkts", 1},
	{"retries/s", "completer_retry_err", 1},
	{"naks/s", "packet_seq_err", 1},
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int64_t counter(struct json_object *device, const char *name)
{
	struct json_object *counters;

	if (!device ||
	    !json_object_object_get_ex(device, "counters", &counters))
		return 0;
	return ur_json_number(counters, name);
}

static struct json_object *same_device(struct json_object *status,
				       const char *name)
{
	struct json_object *devices;
	size_t count;

	devices = ur_json_array(status, "devices", &count);
	for (size_t i = 0; i < count; i++) {
		struct json_object *device =
			json_object_array_get_idx(devices, i);

		if (!strcmp(ur_json_text(device, "name"), name))
			return device;
	}
	return NULL;
}

static void rates_of(struct json_object *before, struct json_object *device,
		     double seconds, double *rates)
{
	struct json_object *old =
		same_device(before, ur_json_text(device, "name"));

	for (size_t c = 0; c < COLUMNS; c++) {
		int64_t delta = counter(device, columns[c].counter) -
				counter(old, columns[c].counter);

		/* A device that has been replaced starts again. */
		rates[c] = !old || delta < 0
				   ? 0
				   : (double)delta / seconds / columns[c].unit;
	}
}

static void print_programs(struct json_object *status)
{
	struct json_object *sessions, *qps;
	size_t n, m;

	sessions = ur_json_array(status, "sessions", &n);
	qps = ur_json_array(status, "qps", &m);
	printf("\n%-16s %8s %-10s %-8s %6s %6s\n", "PROGRAM", "PID", "DEVICE",
	       "FILE", "OBJS", "QPS");
	for (size_t i = 0; i < n; i++) {
		struct json_object *s = json_object_array_get_idx(sessions, i);
		size_t own = 0;

		if (!strcmp(ur_json_text(s, "file"), "none"))
			continue;
		for (size_t q = 0; q < m; q++)
			own += ur_json_number(json_object_array_get_idx(qps, q),
					      "session") ==
			       ur_json_number(s, "id");
		printf("%-16s %8" PRId64 " %-10s %-8s %6" PRId64 " %6zu\n",
		       ur_json_text(s, "comm"), ur_json_number(s, "pid"),
		       ur_json_text(s, "device"), ur_json_text(s, "file"),
		       ur_json_number(s, "objects"), own);
	}
}

static void print_text(struct json_object *before, struct json_object *status,
		       double seconds)
{
	struct json_object *devices;
	double rates[COLUMNS];
	size_t count;

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	printf("%-10s %-10s", "DEVICE", "NETDEV");
	for (size_t c = 0; c < COLUMNS; c++)
		printf(" %10s", columns[c].title);
	putchar('\n');
	devices = ur_json_array(status, "devices", &count);
	for (size_t i = 0; i < count; i++) {
		struct json_object *d = json_object_array_get_idx(devices, i);

		rates_of(before, d, seconds, rates);
		printf("%-10s %-10s", ur_json_text(d, "name"),
		       ur_json_text(d, "netdev"));
		for (size_t c = 0; c < COLUMNS; c++)
			printf(" %10.*f", columns[c].unit > 1 ? 1 : 0,
			       rates[c]);
		putchar('\n');
	}
	print_programs(status);
	fflush(stdout);
}

/* One object a line, for programs that read as it comes. */
static void print_json(struct json_object *before, struct json_object *status,
		       double seconds)
{
	struct json_object *devices, *all = json_object_new_array();
	double rates[COLUMNS];
	size_t count;

	devices = ur_json_array(status, "devices", &count);
	for (size_t i = 0; i < count; i++) {
		struct json_object *d = json_object_array_get_idx(devices, i);
		struct json_object *one = json_object_new_object();

		rates_of(before, d, seconds, rates);
		json_object_object_add(
			one, "device",
			json_object_new_string(ur_json_text(d, "name")));
		for (size_t c = 0; c < COLUMNS; c++)
			json_object_object_add(
				one, columns[c].title,
				json_object_new_double(rates[c]));
		json_object_array_add(all, one);
	}
	puts(json_object_to_json_string_ext(
		all, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(all);
}

int ur_cmd_top(struct ur_options *options)
{
	double interval = options->rest_count > 0 ? atof(options->rest[0]) : 1;
	long left = options->rest_count > 1 ? atol(options->rest[1]) : -1;
	struct json_object *before, *status;
	double start, end;

	if (interval < 0.05 || interval > 3600 || left == 0) {
		ur_complain("top: seconds (0.05 to 3600) and a count");
		return UR_EXIT_USAGE;
	}
	before = ur_status_get(options, "");
	start = now();
	while (before) {
		poll(NULL, 0, (int)(interval * 1000));
		status = ur_status_get(options, "");
		end = now();
		if (!status) {
			json_object_put(before);
			break;
		}
		if (options->json)
			print_json(before, status, end - start);
		else
			print_text(before, status, end - start);
		json_object_put(before);
		before = status;
		start = end;
		if (left > 0 && --left == 0) {
			json_object_put(before);
			return 0;
		}
	}
	return UR_EXIT_FAILED;
}
