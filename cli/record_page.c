// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes records as a page: report/page.html, built into the program, with the data as
 * JSON. The JSON cannot end its HTML element, and the page inserts text as text only.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "cli/record.h"
#include "cli/status.h"

/* The text of report/page.html, as the build makes it. */
extern const char ur_report_page[];

#define PLACE "@DATA@"

static void add_index(struct json_object *o, const char *key, uint32_t v)
{
	if (v != UR_RECORD_NONE)
		ur_json_put_number(o, key, v);
}

static struct json_object *devices(const struct ur_record *record)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < record->n_devices; i++) {
		const struct ur_record_device *d = &record->devices[i];
		struct json_object *o = json_object_new_object();

		ur_json_put_text(o, "name", d->name);
		ur_json_put_text(o, "netdev", d->netdev);
		ur_json_put_number(o, "lost", d->lost);
		ur_json_put_number(o, "hidden", d->hidden);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *qps(const struct ur_record *record)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < record->n_qps; i++) {
		const struct ur_record_qp *qp = &record->qps[i];
		struct json_object *o = json_object_new_object();

		ur_json_put_number(o, "device", qp->device);
		ur_json_put_number(o, "qpn", qp->qpn);
		ur_json_put_number(o, "dest_qpn", qp->dest_qpn);
		add_index(o, "peer", qp->peer);
		ur_json_put_number(o, "pid", qp->pid);
		ur_json_put_text(o, "comm", qp->comm);
		ur_json_put_number(o, "sends", qp->sends);
		ur_json_put_number(o, "completions", qp->completions);
		ur_json_put_number(o, "out", qp->packets_out);
		ur_json_put_number(o, "in", qp->packets_in);
		ur_json_put_number(o, "resent", qp->resent);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *event(const struct ur_record *record,
				 const struct ur_record_event *e)
{
	struct json_object *o = json_object_new_object();
	char text[UR_RECORD_LINE], wr_id[24];

	/* Nanoseconds since the first event fit into a double. */
	ur_json_put_number(o, "t", e->ns - record->events[0].ns);
	ur_json_put_number(o, "qp", e->qp);
	ur_json_put_text(o, "kind", ur_record_kind(e->r.kind));
	ur_record_line(record, e, text, sizeof(text));
	ur_json_put_text(o, "text", text);
	if (e->r.kind == UROCE_RECORD_SEND || e->r.kind == UROCE_RECORD_RECV ||
	    e->r.kind == UROCE_RECORD_COMPLETION) {
		/* A string: 64 bits do not fit into a JavaScript number. */
		snprintf(wr_id, sizeof(wr_id), "%" PRIu64,
			 (uint64_t)e->r.wr_id);
		ur_json_put_text(o, "wr_id", wr_id);
	}
	if (e->r.kind == UROCE_RECORD_COMPLETION)
		ur_json_put_number(o, "status", e->r.status);
	if (e->packet)
		ur_json_put_number(o, "psn", e->r.psn);
	ur_json_put_number(o, "length", e->r.length);
	add_index(o, "send", e->send);
	add_index(o, "done", e->done);
	add_index(o, "other", e->other);
	if (e->resent)
		json_object_object_add(o, "resent",
				       json_object_new_boolean(true));
	if (e->vanished)
		json_object_object_add(o, "vanished",
				       json_object_new_boolean(true));
	return o;
}

struct json_object *ur_record_data(const struct ur_record *record)
{
	struct json_object *o = json_object_new_object();
	struct json_object *events = json_object_new_array();

	if (!o || !events)
		return NULL;
	for (uint32_t i = 0; i < record->n_events; i++)
		json_object_array_add(events,
				      event(record, &record->events[i]));
	ur_json_put_text(o, "version", UROCE_VERSION);
	ur_json_put_number(o, "began_ms",
			   record->n_events ? record->events[0].ns / 1000000
					    : 0);
	json_object_object_add(o, "devices", devices(record));
	json_object_object_add(o, "qps", qps(record));
	json_object_object_add(o, "events", events);
	json_object_object_add(o, "stories", ur_record_stories(record));
	return o;
}

/* Writes JSON for HTML: escapes characters with a meaning in HTML, which occur in strings
 * only. */
static void put_escaped(const char *text, FILE *f)
{
	for (; *text; text++)
		if (*text == '<' || *text == '>' || *text == '&')
			fprintf(f, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, f);
}

int ur_record_page(const struct ur_record *record, FILE *f)
{
	const char *place = strstr(ur_report_page, PLACE);
	struct json_object *data = ur_record_data(record);
	const char *text;

	if (!data || !place)
		return -ENOMEM;
	text = json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN);
	if (text) {
		fwrite(ur_report_page, 1, (size_t)(place - ur_report_page), f);
		put_escaped(text, f);
		fputs(place + strlen(PLACE), f);
	}
	json_object_put(data);
	return !text ? -ENOMEM : ferror(f) ? -EIO : 0;
}
