// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Describes trouble of a device in sentences: its port, peers that do not answer, packets
 * retransmitted, lost, refused or slowed, and failed requests. */
#include <inttypes.h>
#include <string.h>

#include "cli/peer.h"
#include "cli/trouble.h"

/* Older failures are left to `uroce why`. */
#define RECENT_MS (10 * 60 * 1000)

struct trouble {
	const struct ur_samples *samples;
	/* old: the device in the first sample, or NULL */
	struct json_object *device, *old;
	struct json_object *said;
};

static double rate(const struct trouble *t, const char *counter)
{
	return ur_rate(t->samples, t->old, t->device, counter);
}

static bool is_of(const struct trouble *t, struct json_object *object)
{
	return !ur_json_hidden(object) &&
	       !strcmp(ur_status_text(object, "device"),
		       ur_status_text(t->device, "name"));
}

static void look_at_port(struct trouble *t)
{
	const char *state = ur_status_text(t->device, "state");

	if (strcmp(state, "ACTIVE"))
		ur_json_line(t->said, "the port is %s: 'ip link show %s'",
			     state, ur_status_text(t->device, "netdev"));
}

/* Reports queue pairs that retransmit without any response, with the peer of the first one.
 * Returns the packets per second that all queue pairs retransmit. */
static double look_at_queue_pairs(struct trouble *t)
{
	struct json_object *silent = NULL;
	const struct ur_samples *s = t->samples;
	struct ur_peer peer = {0};
	size_t silents = 0;
	double again = 0;

	ur_json_each(qp, ur_json_array(s->after, "qps")) {
		struct json_object *old = ur_status_same_qp(s->before, qp);

		if (!is_of(t, qp))
			continue;
		again += ur_rate(s, old, qp, "resent_pkts");
		if (ur_rate(s, old, qp, "retries") <= 0 ||
		    ur_rate(s, old, qp, "rcvd_pkts") > 0)
			continue;
		silent = silent ? silent : qp;
		silents++;
	}
	if (silent && !ur_peer_find(&peer, ur_status_text(silent, "dgid")))
		ur_json_line(
			t->said,
			"%zu queue pair%s without an answer, as 0x%" PRIx64
			" of %s (pid %" PRId64 ") from %s: 'uroce ping %s'",
			silents, silents == 1 ? "" : "s",
			ur_json_number(silent, "qpn"),
			ur_status_text(silent, "comm"),
			ur_json_number(silent, "pid"), peer.text, peer.text);
	return again;
}

static void look_at_losses(struct trouble *t, double again)
{
	double sent = rate(t, "sent_pkts"), naks = rate(t, "packet_seq_err");
	double retries = rate(t, "completer_retry_err");
	double gaps = rate(t, "out_of_seq_request");

	if (again > 0 && sent > 0)
		ur_json_line(t->said, "%.2g %% of its packets are sent again",
			     100 * again / sent);
	if (naks > 0 || retries > 0)
		ur_json_line(
			t->said, "%.0f retries/s, %.0f NAKs/s: %s", retries,
			naks,
			naks > 0 ? "packets are lost on the way to its peers"
				 : "answers are lost or late");
	if (gaps > 0)
		ur_json_line(
			t->said,
			"%.0f gaps/s in requests: packets are lost on the way here",
			gaps);
}

static void look_at_waits(struct trouble *t)
{
	double here = rate(t, "send_rnr_err"),
	       there = rate(t, "rnr_nak_retry_err");
	double cnps = rate(t, "rp_cnp_handled"), marks;

	if (there > 0)
		ur_json_line(
			t->said,
			"%.0f waits/s for peers that post receives too late",
			there);
	if (here > 0)
		ur_json_line(
			t->said,
			"%.0f peers' requests/s find no receive posted here",
			here);
	if (cnps > 0)
		ur_json_line(
			t->said,
			"%.0f CNPs/s slow it: the way to its peers is congested",
			cnps);
	marks = rate(t, "np_ecn_marked_roce_packets");
	if (marks > 0)
		ur_json_line(t->said,
			     "%.0f marked packets/s: the way here is congested",
			     marks);
}

static void look_at_refusals(struct trouble *t)
{
	static const char *const names[] = {
		"bad_opcode", "bad_length",
		"bad_pkey",   "bad_qkey",
		"bad_qpn",    "bad_gid",
		"bad_state",  "rx_icrc_encapsulated"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (rate(t, names[i]) > 0)
			ur_json_line(t->said, "%.0f packets/s refused: %s",
				     rate(t, names[i]), names[i]);
}

static void look_at_failures(struct trouble *t, struct json_object *failures)
{
	struct json_object *last = NULL;
	size_t count = 0;
	const char *story;

	ur_json_each(one, failures) {
		if (!is_of(t, one) || ur_json_number(one, "age_ms") > RECENT_MS)
			continue;
		count++;
		if (!last || ur_json_number(one, "age_ms") <
				     ur_json_number(last, "age_ms"))
			last = one;
	}
	if (!last)
		return;
	story = ur_status_text(last, "story");
	ur_json_line(
		t->said,
		"%zu failed in 10 minutes ('uroce why'), %.0f s ago %s (pid %" PRId64
		"): %.*s",
		count, (double)ur_json_number(last, "age_ms") / 1000,
		ur_status_text(last, "comm"), ur_json_number(last, "pid"),
		(int)strcspn(story, "\n"), story);
}

struct json_object *ur_trouble(const struct ur_samples *samples,
			       struct json_object *device,
			       struct json_object *failures)
{
	struct trouble t = {.samples = samples, .device = device};

	t.old = ur_status_device(samples->before,
				 ur_status_text(device, "name"));
	t.said = json_object_new_array();
	look_at_port(&t);
	look_at_losses(&t, look_at_queue_pairs(&t));
	look_at_waits(&t);
	look_at_refusals(&t);
	look_at_failures(&t, failures);
	return t.said;
}
