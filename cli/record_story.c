// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Explains failures as far as recorded: a headline and a few lines for each failed work
 * request, with the records of both ends if available. */
#include <json-c/json.h>

#include "cli/record.h"
#include "cli/status.h"
#include "util/verbs_words.h"

#define STATUS_FLUSH   5  /* enum ibv_wc_status */
#define STATUS_RETRY   12 /* transport retry counter exceeded */
#define STATUS_RNR     13 /* RNR retry counter exceeded */
#define EVENT_COMM_EST 4  /* enum ibv_event_type */
#define EVENT_SRQ_ERR  14
/* Maximum number of explanations, and of events examined for one. */
#define MAX_STORIES 1000
#define LOOK_BACK   20000

struct story {
	const struct ur_record *record;
	const struct ur_record_event *failed;
	const struct ur_record_qp *qp;
	struct json_object *lines;
};

static uint32_t index_of(const struct ur_record *record,
			 const struct ur_record_event *e)
{
	return (uint32_t)(e - record->events);
}

/* The attempts of the requester at the work request. */
struct tries {
	uint32_t sent, resent, vanished, timeouts, rnr_waits;
	int nak; /* the last syndrome that was no ACK, or -1 */
	uint64_t first_ns, last_ns;
};

static struct tries count_tries(const struct story *s)
{
	const struct ur_record *record = s->record;
	uint32_t end = index_of(record, s->failed), i;
	struct tries t = {.nak = -1};

	i = s->failed->send != UR_RECORD_NONE ? s->failed->send
	    : end > LOOK_BACK		      ? end - LOOK_BACK
					      : 0;
	for (; i < end; i++) {
		const struct ur_record_event *e = &record->events[i];
		int syndrome;

		if (&record->qps[e->qp] != s->qp)
			continue;
		if (e->r.kind == UROCE_RECORD_RETRY) {
			t.timeouts += e->r.op == UROCE_RECORD_TIMEOUT;
			t.rnr_waits += e->r.op == UROCE_RECORD_RNR_WAIT;
		}
		syndrome = ur_record_syndrome_of(e);
		if (e->r.kind == UROCE_RECORD_PACKET_IN && syndrome >= 0 &&
		    (syndrome & 0x60))
			t.nak = syndrome;
		if (e->r.kind != UROCE_RECORD_PACKET_OUT ||
		    e->send != s->failed->send)
			continue;
		if (!t.sent++)
			t.first_ns = e->ns;
		t.last_ns = e->ns;
		t.resent += e->resent;
		t.vanished += e->vanished;
	}
	return t;
}

static void print_tries(struct story *s)
{
	struct tries t = count_tries(s);

	if (t.sent && s->failed->send != UR_RECORD_NONE)
		ur_json_line(
			s->lines,
			"Its packets left %u times, %u of them again, over %.3f ms.",
			t.sent, t.resent,
			(double)(t.last_ns - t.first_ns) / 1e6);
	if (t.vanished)
		ur_json_line(s->lines,
			     "%u of them did not come in at the other end.",
			     t.vanished);
	if (t.timeouts)
		ur_json_line(s->lines,
			     "%u timeouts: nothing was answered in time.",
			     t.timeouts);
	if (t.rnr_waits)
		ur_json_line(s->lines,
			     "%u waits for a receive at the other end.",
			     t.rnr_waits);
	if (t.nak >= 0)
		ur_json_line(s->lines,
			     "The other end answered %s (syndrome 0x%02x).",
			     ur_record_syndrome((uint8_t)t.nak), t.nak);
}

/* Finds the last refusal of the other end before the failure. */
static void print_peer(struct story *s)
{
	const struct ur_record *record = s->record;
	uint32_t i = index_of(record, s->failed), peer = s->qp->peer;
	const struct ur_record_qp *qp;

	if (peer == UR_RECORD_NONE) {
		if (s->qp->dest_qpn)
			ur_json_line(
				s->lines,
				"The other end, QP 0x%06x, is not recorded here.",
				s->qp->dest_qpn);
		return;
	}
	qp = &record->qps[peer];
	ur_json_line(s->lines, "The other end is QP 0x%06x of pid %u %s.",
		     qp->qpn, qp->pid, qp->comm);
	for (uint32_t n = 0; i-- > 0 && n < LOOK_BACK; n++) {
		const struct ur_record_event *e = &record->events[i];

		if (e->qp != peer)
			continue;
		if (e->r.kind == UROCE_RECORD_STATE) {
			ur_json_line(s->lines,
				     "It went from %s to %s %.3f ms before.",
				     ur_qp_state_name(e->r.status),
				     ur_qp_state_name(e->r.op),
				     (double)(s->failed->ns - e->ns) / 1e6);
			return;
		}
		if (e->r.kind == UROCE_RECORD_VERDICT &&
		    e->r.op > UROCE_RECORD_NAK_SEQUENCE) {
			ur_json_line(s->lines, "It did not accept PSN %u: %s.",
				     e->r.psn, ur_record_verdict(e->r.op));
			return;
		}
	}
}

static void print_advice(struct story *s)
{
	switch (s->failed->r.status) {
	case STATUS_RETRY:
		ur_json_line(
			s->lines,
			"Look at: is the peer alive and in RTR or RTS; its QPN, "
			"address and the path's MTU; firewalls (UDP 4791); "
			"timeout and retry_cnt of the queue pair.");
		break;
	case STATUS_RNR:
		ur_json_line(s->lines,
			     "Look at: receives posted too late or too few; "
			     "rnr_retry and min_rnr_timer.");
		break;
	default:
		break;
	}
}

static void print_flushed(struct story *s)
{
	const struct ur_record *record = s->record;
	uint32_t n = 0;

	for (uint32_t i = index_of(record, s->failed) + 1; i < record->n_events;
	     i++) {
		const struct ur_record_event *e = &record->events[i];

		n += e->qp == s->failed->qp &&
		     e->r.kind == UROCE_RECORD_COMPLETION &&
		     e->r.status == STATUS_FLUSH;
	}
	if (n)
		ur_json_line(s->lines,
			     "%u work requests behind it were flushed.", n);
}

static struct json_object *tell(const struct ur_record *record,
				const struct ur_record_event *e)
{
	struct story s = {.record = record,
			  .failed = e,
			  .qp = &record->qps[e->qp],
			  .lines = json_object_new_array()};
	struct json_object *o = json_object_new_object();
	char what[UR_RECORD_LINE], title[UR_RECORD_LINE + 100];

	ur_record_line(record, e, what, sizeof(what));
	snprintf(title, sizeof(title), "QP 0x%06x of pid %u %s: %s", s.qp->qpn,
		 s.qp->pid, s.qp->comm, what);
	if (e->send != UR_RECORD_NONE) {
		ur_record_line(record, &record->events[e->send], what,
			       sizeof(what));
		ur_json_line(s.lines, "%.3f ms before, the device %s.",
			     (double)(e->ns - record->events[e->send].ns) / 1e6,
			     what);
	}
	print_tries(&s);
	print_peer(&s);
	print_flushed(&s);
	if (e->r.kind == UROCE_RECORD_COMPLETION)
		print_advice(&s);
	ur_json_put_number(o, "event", index_of(record, e));
	ur_json_put_number(o, "qp", e->qp);
	ur_json_put_text(o, "title", title);
	json_object_object_add(o, "lines", s.lines);
	return o;
}

static bool is_failure(const struct ur_record_event *e)
{
	if (e->r.kind == UROCE_RECORD_COMPLETION)
		return e->r.status && e->r.status != STATUS_FLUSH;
	return e->r.kind == UROCE_RECORD_EVENT &&
	       (e->r.op < EVENT_COMM_EST || e->r.op == EVENT_SRQ_ERR);
}

struct json_object *ur_record_stories(const struct ur_record *record)
{
	struct json_object *list = json_object_new_array();
	int n = 0;

	for (uint32_t i = 0; i < record->n_events && n < MAX_STORIES; i++)
		if (is_failure(&record->events[i])) {
			json_object_array_add(list,
					      tell(record, &record->events[i]));
			n++;
		}
	return list;
}
