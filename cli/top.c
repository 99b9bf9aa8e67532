// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce top: rates of the devices, their trouble, and the programs on them, live. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/rates.h"
#include "cli/status.h"
#include "cli/trouble.h"

/* The columns of a line: each is a counter per second, divided by unit. */
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

static void rates_of(const struct ur_samples *s, struct json_object *device,
		     double *rates)
{
	struct json_object *old =
		ur_status_device(s->before, ur_status_text(device, "name"));

	for (size_t c = 0; c < COLUMNS; c++)
		rates[c] = ur_rate(s, old, device, columns[c].counter) /
			   columns[c].unit;
}

/* Sums over all queue pairs of a session. hidden: the session is another user's, and its
 * rates are not shown. */
struct work {
	size_t qps;
	bool hidden;
	double tx, rx, loop; /* MB/s */
};

static struct work work_of(const struct ur_samples *s, int64_t session)
{
	struct work w = {0};

	ur_json_each(qp, ur_json_array(s->after, "qps")) {
		struct json_object *old;

		if (ur_json_number(qp, "session") != session)
			continue;
		w.qps++;
		if (ur_json_hidden(qp)) {
			w.hidden = true;
			continue;
		}
		old = ur_status_same_qp(s->before, qp);
		w.tx += ur_rate(s, old, qp, "sent_bytes") / 1e6;
		w.rx += ur_rate(s, old, qp, "rcvd_bytes") / 1e6;
		w.loop += ur_rate(s, old, qp, "loop_bytes") / 1e6;
	}
	return w;
}

static void print_programs(const struct ur_samples *s)
{
	printf("\n%-16s %8s %-10s %-8s %6s %6s %10s %10s %10s\n", "PROGRAM",
	       "PID", "DEVICE", "FILE", "OBJS", "QPS", "tx MB/s", "rx MB/s",
	       "loop MB/s");
	ur_json_each(one, ur_json_array(s->after, "sessions")) {
		struct work w;

		if (!strcmp(ur_status_text(one, "file"), "none"))
			continue;
		w = work_of(s, ur_json_number(one, "id"));
		printf("%-16s %8" PRId64 " %-10s %-8s %6" PRId64 " %6zu",
		       ur_status_text(one, "comm"), ur_json_number(one, "pid"),
		       ur_status_text(one, "device"),
		       ur_status_text(one, "file"),
		       ur_json_number(one, "objects"), w.qps);
		if (w.hidden)
			printf(" %10s %10s %10s\n", "-", "-", "-");
		else
			printf(" %10.1f %10.1f %10.1f\n", w.tx, w.rx, w.loop);
	}
}

/* Prints the trouble of all devices, or that there is none. */
static void print_trouble(const struct ur_samples *s,
			  struct json_object *failures)
{
	size_t all = 0;

	putchar('\n');
	ur_json_each(d, ur_json_array(s->after, "devices")) {
		struct json_object *said = ur_trouble(s, d, failures);
		ur_json_each(line, said)
			printf("%s: %s\n", ur_status_text(d, "name"),
			       json_object_get_string(line));
		all += json_object_array_length(said);
		json_object_put(said);
	}
	if (!all)
		puts("no trouble: ports up; nothing failed, is sent again, "
		     "refused, waits");
}

static void print_text(const struct ur_samples *s, struct json_object *failures)
{
	double rates[COLUMNS];

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	printf("%-10s %-10s %-7s", "DEVICE", "NETDEV", "STATE");
	for (size_t c = 0; c < COLUMNS; c++)
		printf(" %10s", columns[c].title);
	putchar('\n');
	ur_json_each(d, ur_json_array(s->after, "devices")) {
		rates_of(s, d, rates);
		printf("%-10s %-10s %-7s", ur_status_text(d, "name"),
		       ur_status_text(d, "netdev"), ur_status_text(d, "state"));
		for (size_t c = 0; c < COLUMNS; c++)
			printf(" %10.*f", columns[c].unit > 1 ? 1 : 0,
			       rates[c]);
		putchar('\n');
	}
	print_trouble(s, failures);
	print_programs(s);
	fflush(stdout);
}

/* Prints one object per line, for programs that read a stream. */
static void print_json(const struct ur_samples *s, struct json_object *failures)
{
	struct json_object *all = json_object_new_array();
	double rates[COLUMNS];

	ur_json_each(d, ur_json_array(s->after, "devices")) {
		struct json_object *one = json_object_new_object();

		rates_of(s, d, rates);
		ur_json_put_text(one, "device", ur_status_text(d, "name"));
		for (size_t c = 0; c < COLUMNS; c++)
			json_object_object_add(
				one, columns[c].title,
				json_object_new_double(rates[c]));
		ur_json_put_text(one, "state", ur_status_text(d, "state"));
		json_object_object_add(one, "trouble",
				       ur_trouble(s, d, failures));
		json_object_array_add(all, one);
	}
	puts(json_object_to_json_string_ext(
		all, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(all);
}

int ur_cmd_top(struct ur_options *options)
{
	struct json_object *failures = NULL;
	struct ur_samples samples;
	int err = 0;
	long left;

	/* SECONDS and COUNT as bare words too. */
	if (options->rest_count > 2)
		return ur_too_many("top", options->rest[2]);
	if (options->rest_count > 0)
		err = ur_option_take(options, "top", "interval",
				     options->rest[0]);
	if (!err && options->rest_count > 1)
		err = ur_option_take(options, "top", "count", options->rest[1]);
	if (err)
		return err;
	if (options->interval <= 0)
		options->interval = 1;
	left = options->count ? options->count : -1;
	err = ur_samples_first(&samples, options);
	while (!err && left) {
		err = ur_samples_next(&samples, options);
		if (err)
			break;
		json_object_put(failures);
		failures = ur_status_get(options, "failures");
		if (options->json)
			print_json(&samples, failures);
		else
			print_text(&samples, failures);
		left -= left > 0;
	}
	json_object_put(failures);
	ur_samples_free(&samples);
	return err ? UR_EXIT_FAILED : 0;
}
