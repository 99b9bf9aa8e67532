// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes records as JSON for Chrome's trace viewer and Perfetto: a program is a process, a
 * queue pair a thread, each event a short slice. Flows lead from a work request through its
 * packets to its completion. An asynchronous slice spans the same time, since work requests
 * overlap and slices of a thread may not.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>

#include "cli/record.h"
#include "cli/status.h"
#include "util/verbs_words.h"

/* The duration, in microseconds, of an instant event: wide enough for a flow to end in. */
#define POINT_US 0.2

static double since(const struct ur_record *record,
		    const struct ur_record_event *e)
{
	return (double)(e->ns - record->events[0].ns) / 1000;
}

static struct json_object *entry(const char *ph, const char *name, double ts)
{
	struct json_object *o = json_object_new_object();

	ur_json_put_text(o, "ph", ph);
	ur_json_put_text(o, "name", name);
	json_object_object_add(o, "ts", json_object_new_double(ts));
	return o;
}

static void put_event(FILE *f, struct json_object *o, uint32_t pid,
		      uint32_t tid, bool *first)
{
	ur_json_put_number(o, "pid", pid);
	ur_json_put_number(o, "tid", tid);
	fprintf(f, "%s\n%s", *first ? "" : ",",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	*first = false;
	json_object_put(o);
}

static void put_names(const struct ur_record *record, FILE *f, bool *first)
{
	char text[100];

	for (uint32_t i = 0; i < record->n_qps; i++) {
		const struct ur_record_qp *qp = &record->qps[i];
		struct json_object *o, *args;

		for (int thread = 0; thread < 2; thread++) {
			if (thread)
				snprintf(text, sizeof(text), "%s QP 0x%06x",
					 record->devices[qp->device].name,
					 qp->qpn);
			else
				snprintf(text, sizeof(text), "%s",
					 *qp->comm ? qp->comm : "device");
			o = entry("M", thread ? "thread_name" : "process_name",
				  0);
			args = json_object_new_object();
			ur_json_put_text(args, "name", text);
			json_object_object_add(o, "args", args);
			put_event(f, o, qp->pid, i + 1, first);
		}
	}
}

static void put_flow(const struct ur_record *record, FILE *f, const char *ph,
		     uint32_t id, const struct ur_record_event *e, bool *first)
{
	struct json_object *o = entry(ph, "request", since(record, e));

	ur_json_put_text(o, "cat", "wr");
	ur_json_put_number(o, "id", id);
	if (*ph == 'f')
		ur_json_put_text(o, "bp", "e");
	put_event(f, o, record->qps[e->qp].pid, e->qp + 1, first);
}

static void name_of(const struct ur_record_event *e, char *buf, size_t size)
{
	if (e->r.kind == UROCE_RECORD_SEND)
		snprintf(buf, size, "%s wr_id %" PRIu64,
			 ur_wqe_opcode_name(e->r.op), (uint64_t)e->r.wr_id);
	else if (e->r.kind == UROCE_RECORD_COMPLETION)
		snprintf(buf, size, "%s %s", ur_wc_opcode_name(e->r.op),
			 ur_wc_status_str(e->r.status));
	else
		snprintf(buf, size, "%s", ur_record_kind(e->r.kind));
}

static void put_slice(const struct ur_record *record, FILE *f,
		      const struct ur_record_event *e, bool *first)
{
	char name[100], text[UR_RECORD_LINE];
	struct json_object *o, *args = json_object_new_object();

	ur_record_line(record, e, text, sizeof(text));
	name_of(e, name, sizeof(name));
	/* A packet's slice has the full text. */
	o = entry("X", e->packet ? text : name, since(record, e));
	json_object_object_add(o, "dur", json_object_new_double(POINT_US));
	ur_json_put_text(o, "cat", ur_record_kind(e->r.kind));
	ur_json_put_text(args, "what", text);
	json_object_object_add(o, "args", args);
	put_event(f, o, record->qps[e->qp].pid, e->qp + 1, first);
}

static void put_request(const struct ur_record *record, FILE *f, uint32_t i,
			bool *first)
{
	const struct ur_record_event *e = &record->events[i], *at[2];
	struct json_object *o;
	char name[100];

	if (e->r.kind != UROCE_RECORD_SEND || e->done == UR_RECORD_NONE)
		return;
	at[0] = e;
	at[1] = &record->events[e->done];
	name_of(e, name, sizeof(name));
	for (int end = 0; end < 2; end++) {
		o = entry(end ? "e" : "b", name, since(record, at[end]));
		ur_json_put_text(o, "cat", "request");
		ur_json_put_number(o, "id", i + 1);
		put_event(f, o, record->qps[e->qp].pid, e->qp + 1, first);
	}
}

/* Returns the work request of event i, which is none itself, or UR_RECORD_NONE. A flow ends
 * with the completion: a later event, such as the response to a retransmission, does not
 * belong to it. */
static uint32_t request_of(const struct ur_record *record, uint32_t i)
{
	const struct ur_record_event *e = &record->events[i];
	uint32_t send = e->send;

	if (send == UR_RECORD_NONE && e->r.kind == UROCE_RECORD_PACKET_IN &&
	    e->other != UR_RECORD_NONE)
		send = record->events[e->other].send;
	if (send == UR_RECORD_NONE || record->events[send].done < i)
		return UR_RECORD_NONE;
	return send;
}

static void put_flows(const struct ur_record *record, FILE *f, uint32_t i,
		      bool *first)
{
	const struct ur_record_event *e = &record->events[i];
	uint32_t send;

	if (e->r.kind == UROCE_RECORD_SEND) {
		put_flow(record, f, "s", i + 1, e, first);
		return;
	}
	send = request_of(record, i);
	if (send != UR_RECORD_NONE)
		put_flow(record, f, e->packet ? "t" : "f", send + 1, e, first);
}

int ur_record_trace(const struct ur_record *record, FILE *f)
{
	bool first = true;

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
	put_names(record, f, &first);
	for (uint32_t i = 0; i < record->n_events; i++) {
		put_slice(record, f, &record->events[i], &first);
		put_request(record, f, i, &first);
		put_flows(record, f, i, &first);
	}
	fputs("\n]}\n", f);
	return ferror(f) ? -EIO : 0;
}
