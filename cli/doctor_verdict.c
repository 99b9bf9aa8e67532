// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The findings of uroce doctor --fabric. */
#include <errno.h>
#include <stdarg.h>

#include "cli/doctor_path.h"
#include "cli/path/lines.h"

#define ECN_BITS 3
#define CE	 3

/* A higher number is no count of routers: the hop limit was rewritten. */
#define ROUTERS_MAX 32

struct sentence {
	char s[400];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *t,
						      const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->s + t->used, sizeof(t->s) - t->used, format, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= sizeof(t->s))
		t->used = sizeof(t->s) - 1;
}

/* One of the two fields of a traffic class: ECN, or DSCP. */
struct class_part {
	const char *check;
	int shift, mask;
};

static const struct class_part ecn = {"ecn", 0, ECN_BITS};
static const struct class_part dscp = {"dscp", 2, 63};

static void add_value(struct sentence *t, const struct class_part *f, int value)
{
	static const char *const names[] = {"Not-ECT", "ECT(1)", "ECT(0)",
					    "CE"};

	if (f == &ecn)
		add(t, "%s", names[value]);
	else
		add(t, "DSCP %d", value);
}

/* Returns whether the change is an ECN mark: a queue that marks is no fault. */
static bool is_mark(const struct class_part *f, int sent, int seen)
{
	return f == &ecn && sent && seen == CE;
}

/* Describes what a value of the field became, in one direction. */
static void look_at(const struct class_part *f, const int *seen,
		    const char *way, int value, struct sentence *t, int *marks)
{
	int sent = 0, lost = 0, known = 0, other = -1;

	for (int c = 0; c < 256; c++) {
		int got;

		if ((c >> f->shift & f->mask) != value ||
		    seen[c] == UR_PATH_NOT_SENT)
			continue;
		sent++;
		lost += seen[c] == UR_PATH_LOST;
		if (seen[c] < 0)
			continue;
		known++;
		got = seen[c] >> f->shift & f->mask;
		if (got != value && is_mark(f, value, got))
			++*marks;
		else if (got != value)
			other = got;
	}
	if (other >= 0) {
		add(t, "%s%s: ", t->used ? "; " : "", way);
		add_value(t, f, value);
		add(t, " becomes ");
		add_value(t, f, other);
	}
	if (sent && lost == sent) {
		add(t, "%s%s: ", t->used ? "; " : "", way);
		add_value(t, f, value);
		add(t, " is lost");
	}
}

/* Describes what the device does with a datagram to itself. */
static const char *own_part(const struct ur_path_found *found)
{
	for (int i = 0; i < 4; i++) {
		if (found->self[i] < 0)
			return "whether the device here sends the bits as asked "
			       "is not known: capture its packets";
		if ((found->self[i] & ECN_BITS) != i)
			return "the device here changes the bits itself, seen "
			       "in a datagram to itself";
	}
	return "the device here sends the bits as asked, seen in a datagram to "
	       "itself: look for 'ecn set' and 'dscp set' in 'nft list "
	       "ruleset' of hosts and routers, for tunnels, and at what the "
	       "switches trust";
}

static void judge_field(struct doctor *doctor,
			const struct ur_path_found *found,
			const struct class_part *f)
{
	struct sentence t = {.used = 0};
	int marks = 0;

	for (int v = 0; v <= f->mask; v++)
		look_at(f, found->there, "there", v, &t, &marks);
	for (int v = 0; v <= f->mask; v++)
		look_at(f, found->back, "back", v, &t, &marks);
	if (t.used)
		ur_doctor_print(doctor, f->check, "problem", own_part(found),
				"%s", t.s);
	else if (marks)
		ur_doctor_print(doctor, f->check, "note", NULL,
				"ECN survives the path; something on it marks: "
				"%d of our few ECT packets came CE",
				marks);
	else if (f == &ecn)
		ur_doctor_print(
			doctor, f->check, "ok", NULL,
			"Not-ECT, ECT(0), ECT(1) and CE arrive as sent, "
			"there and back");
	else
		ur_doctor_print(doctor, f->check, "ok", NULL,
				"DSCP 0, 26 and 46 arrive as sent, there and "
				"back");
}

static void judge_mtu(struct doctor *doctor, const struct ur_path_found *found)
{
	int ours = found->mtu, theirs = found->peer_mtu;

	if (!found->fits)
		ur_doctor_print(doctor, "mtu", "problem",
				"uroce ping ADDRESS; look at drops below",
				"not even packets of %d bytes cross %s",
				found->lost,
				found->lost_there ? "there" : "back");
	else if (found->lost)
		ur_doctor_print(
			doctor, "mtu", "problem",
			"give every interface on the way the same MTU ('ip "
			"link set IF mtu'), or use a smaller path MTU in the "
			"program",
			"packets of %d bytes cross, of %d do not come %s; "
			"active MTU here %d, there %d",
			found->fits, found->lost,
			found->lost_there ? "there" : "back", ours, theirs);
	else if (ours != theirs)
		ur_doctor_print(
			doctor, "mtu", "note",
			"give both interfaces the same MTU",
			"packets of %d bytes cross; active MTU here %d, "
			"there %d",
			found->fits, ours, theirs);
	else
		ur_doctor_print(doctor, "mtu", "ok", NULL,
				"packets of %d bytes cross, the active MTU of "
				"both",
				found->fits);
}

/* Return: the longest burst that arrived whole, or NULL. */
static const struct ur_path_burst *whole(const struct ur_path_found *found,
					 int which)
{
	const struct ur_path_burst *best = NULL;

	for (int i = 0; i < found->bursts[which]; i++)
		if (found->burst[which][i].arrived ==
		    found->burst[which][i].packets)
			best = &found->burst[which][i];
	return best;
}

/* Adds the burst length from which marks appear. */
static void add_marks(struct sentence *t, const struct ur_path_found *found)
{
	for (int i = 0; i < found->bursts[1]; i++)
		if (found->burst[1][i].marked) {
			add(t, "; ECT ones are marked from %d packets on",
			    found->burst[1][i].packets);
			return;
		}
	add(t, "; ECT ones are not marked");
}

/* Adds the longest burst that passes, and the one with losses. Returns whether any packets
 * are lost. */
static bool add_bursts(struct sentence *t, const struct ur_path_found *found,
		       int which)
{
	const struct ur_path_burst *w = whole(found, which);
	const struct ur_path_burst *last =
		&found->burst[which][found->bursts[which] - 1];
	int packets = w ? w->packets : 0;

	add(t, "%d packets (%d KiB) pass whole", packets,
	    packets * last->bytes / 1024);
	if (packets > 1)
		add(t, ", in %.1f ms", w->spread_ns / 1e6);
	if (last->arrived < last->packets)
		add(t, ", of %d arrive %d", last->packets, last->arrived);
	return last->arrived < last->packets;
}

static void judge_queue(struct doctor *doctor,
			const struct ur_path_found *found)
{
	struct sentence t = {.used = 0};
	bool loses;

	if (!found->bursts[0] || !found->bursts[1])
		return;
	add(&t, "bursts of ");
	loses = add_bursts(&t, found, 0);
	if (whole(found, 0) != NULL && whole(found, 1) != NULL &&
	    whole(found, 0)->packets != whole(found, 1)->packets) {
		add(&t, "; if ECT, of ");
		loses |= add_bursts(&t, found, 1);
	}
	add_marks(&t, found);
	ur_doctor_print(doctor, "queue", loses ? "note" : "ok",
			loses ? "no lossless path: have switches mark (ECN) or "
				"pause (PFC) before their queues are full"
			      : NULL,
			"%s", t.s);
}

static void judge_drops(struct doctor *doctor,
			const struct ur_path_found *found)
{
	int sent = found->sent[0] + found->sent[1];
	int arrived = found->arrived[0] + found->arrived[1];

	if (!sent)
		return;
	if (arrived == sent && found->echoed == sent)
		ur_doctor_print(
			doctor, "drops", "ok", NULL,
			"none of %d probes and their echoes is lost, one "
			"each millisecond",
			sent);
	else
		ur_doctor_print(
			doctor, "drops", "problem",
			"'ip -s link', 'tc -s qdisc', 'nft list ruleset', and "
			"'uroce stat' at both ends say where",
			"of %d probes, one each millisecond, %d are lost there "
			"(%d of %d Not-ECT, %d of %d ECT(0)); of %d echoes %d are lost",
			sent, sent - arrived,
			found->sent[0] - found->arrived[0], found->sent[0],
			found->sent[1] - found->arrived[1], found->sent[1],
			arrived, arrived - found->echoed);
}

static void judge_refusal(struct doctor *doctor,
			  const struct ur_path_found *found)
{
	if (found->status == -ETIMEDOUT)
		ur_doctor_print(doctor, "peer", "problem",
				"uroce ping ADDRESS says where it fails",
				"%s does not answer", found->peer);
	else if (found->status == UR_PATH_NO_SERVICE)
		ur_doctor_print(doctor, "peer", "problem",
				"run 'uroce doctor --fabric' there, and again "
				"here",
				"nobody at %s waits for our probes",
				found->peer);
	else if (found->status == UR_PATH_BUSY)
		ur_doctor_print(
			doctor, "peer", "problem", "try again in 15 seconds",
			"%s answers somebody else, or cannot open a queue "
			"pair",
			found->peer);
	else
		ur_doctor_print(
			doctor, "peer", "problem",
			"run 'uroce doctor --fabric' of the same release "
			"there",
			"%s lets us not in: %s, status %d", found->peer,
			found->refused, found->status);
}

static void judge_peer(struct doctor *doctor, const struct ur_path_found *found)
{
	struct sentence t = {.used = 0};

	if (!found->trip_ns) {
		ur_doctor_print(
			doctor, "peer", "problem",
			"uroce ping ADDRESS; 'nft list ruleset' of hosts "
			"and routers",
			"%s let us in, but no probe comes back", found->peer);
		return;
	}
	add(&t, "%s echoes in %.0f us", found->peer, found->trip_ns / 1e3);
	if (found->routers > 0 && found->routers <= ROUTERS_MAX)
		add(&t, ", routers on the way there: %d", found->routers);
	ur_doctor_print(doctor, "peer", "ok", NULL, "%s", t.s);
}

void ur_path_conclude(struct doctor *doctor, const struct ur_path_found *found)
{
	if (*found->refused) {
		judge_refusal(doctor, found);
		return;
	}
	if (found->mtu)
		judge_peer(doctor, found);
	if (found->trip_ns) {
		if (found->v1)
			ur_doctor_print(doctor, "ecn", "note",
					"use GIDs of RoCEv2",
					"RoCEv1 has neither ECN nor DSCP");
		else
			judge_field(doctor, found, &ecn);
		if (!found->v1)
			judge_field(doctor, found, &dscp);
		judge_mtu(doctor, found);
		judge_queue(doctor, found);
		judge_drops(doctor, found);
	}
	if (*found->local)
		ur_doctor_print(doctor, "local", "problem",
				"uroce link; uroce ping ADDRESS says where it "
				"fails",
				"this host could not go on: %s", found->local);
	else if (!found->ended)
		ur_doctor_print(doctor, "time", "problem",
				"uroce ping ADDRESS says where it fails",
				"the probes did not end within ten seconds");
}
