// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce record, uroce report: starts, stops and reads flight recorders. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/link.h"
#include "cli/record.h"
#include "cli/status.h"

/* ---- on and off ---- */

static int set_one(const struct ur_options *options, const char *device,
		   const char *value)
{
	char name[] = "record";
	char *words[] = {(char *)(uintptr_t)device, name,
			 (char *)(uintptr_t)value, NULL};
	struct ur_options set = *options;

	set.rest = words;
	set.rest_count = 3;
	return ur_link_set(&set);
}

/* Sets the value for all devices, or for the named one. */
static int set_some(const struct ur_options *options, const char *value)
{
	struct json_object *status;
	int ret = UR_EXIT_FAILED;

	if (options->rest_count)
		return set_one(options, options->rest[0], value);
	status = ur_status_get(options, "");
	if (!status)
		return ret;
	ur_json_each(device, ur_json_array(status, "devices")) {
		ret = set_one(options, ur_status_text(device, "name"), value);
		if (ret)
			break;
	}
	json_object_put(status);
	return ret;
}

static int start(struct ur_options *options)
{
	if (options->rest_count > 2) {
		ur_complain("record start: [DEVICE [KIB]]");
		return UR_EXIT_USAGE;
	}
	return set_some(options,
			options->rest_count == 2 ? options->rest[1] : "on");
}

static int stop(struct ur_options *options)
{
	if (options->rest_count > 1) {
		ur_complain("record stop: [DEVICE]");
		return UR_EXIT_USAGE;
	}
	return set_some(options, "off");
}

/* ---- as text ---- */

static void print_event(const struct ur_record *record,
			const struct ur_record_event *e)
{
	const struct ur_record_qp *qp = &record->qps[e->qp];
	time_t seconds = (time_t)(e->ns / 1000000000u);
	char text[UR_RECORD_LINE], clock[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	ur_record_line(record, e, text, sizeof(text));
	printf("%s.%06" PRIu64 " %s 0x%06x %u %s: %s\n", clock,
	       e->ns / 1000 % 1000000, record->devices[qp->device].name,
	       qp->qpn, qp->pid, *qp->comm ? qp->comm : "-", text);
}

static int show_records(struct ur_options *options)
{
	struct ur_record record;
	struct json_object *data;
	int err = ur_record_read(&record, options, options->rest,
				 options->rest_count);

	if (!err && options->json) {
		data = ur_record_data(&record);
		puts(json_object_to_json_string_ext(data,
						    JSON_C_TO_STRING_PLAIN));
		json_object_put(data);
	} else if (!err) {
		for (uint32_t i = 0; i < record.n_devices; i++)
			if (record.devices[i].hidden)
				printf("%s: %" PRIu64
				       " of other users, not shown\n",
				       record.devices[i].name,
				       record.devices[i].hidden);
		for (uint32_t i = 0; i < record.n_events; i++)
			print_event(&record, &record.events[i]);
	}
	ur_record_free(&record);
	return err ? UR_EXIT_FAILED : 0;
}

/* ---- into a file ---- */

static int save_raw(const struct ur_record *record, FILE *f)
{
	for (int i = 0; i < record->n_texts; i++)
		fwrite(record->texts[i].bytes, 1, record->texts[i].len, f);
	return ferror(f) ? -EIO : 0;
}

static const struct format {
	const char *end;
	int (*save)(const struct ur_record *record, FILE *f);
} formats[] = {
	{".pcapng", ur_record_pcapng},
	{".json", ur_record_trace},
	{".html", ur_record_page},
	{"", save_raw},
};

static const struct format *format_of(const char *name)
{
	const struct format *f = formats;
	size_t len = strlen(name), end;

	for (;; f++) {
		end = strlen(f->end);
		if (len >= end && !strcmp(name + len - end, f->end))
			return f;
	}
}

/* Private mode: the file contains keys and addresses. */
static FILE *create_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int save_as(struct ur_options *options, const struct format *format)
{
	const char *name = options->rest[0];
	struct ur_record record;
	int err = ur_record_read(&record, options, options->rest + 1,
				 options->rest_count - 1);
	FILE *f;

	if (err) {
		ur_record_free(&record);
		return UR_EXIT_FAILED;
	}
	f = create_file(name);
	err = f ? format->save(&record, f) : -errno;
	if (f && fclose(f) && !err)
		err = -errno;
	if (err)
		ur_complain("%s: %s", name, strerror(-err));
	ur_record_free(&record);
	return err ? UR_EXIT_FAILED : 0;
}

static int save(struct ur_options *options)
{
	if (!options->rest_count) {
		ur_complain("record save: FILE[.pcapng|.json|.html] "
			    "[RECORD]...");
		return UR_EXIT_USAGE;
	}
	return save_as(options, format_of(options->rest[0]));
}

int ur_cmd_report(struct ur_options *options)
{
	if (!options->rest_count) {
		ur_complain("report: FILE.html [RECORD]...");
		return UR_EXIT_USAGE;
	}
	return save_as(options, format_of(".html"));
}

int ur_cmd_record(struct ur_options *options)
{
	static const struct ur_verb verbs[] = {{"show", show_records},
					       {"start", start},
					       {"stop", stop},
					       {"save", save},
					       {NULL, NULL}};
	const struct ur_verb *verb = ur_verb_take(options, verbs);

	if (verb)
		return verb->run(options);
	if (options->rest_count) {
		ur_complain("record: show, start, stop or save, not '%s'",
			    options->rest[0]);
		return UR_EXIT_USAGE;
	}
	return show_records(options);
}
