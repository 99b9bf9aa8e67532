// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce why --slow: compares two samples of a program's queue pairs and threads. Each
 * sentence names a limit, the evidence, and a remedy; `doc/performance.md` explains more. */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rates.h"
#include "cli/slow.h"
#include "cli/status.h"

#define PROGRAMS_MAX 64
#define THREADS_MAX  512
/* Fractions of one processor, or of the time. */
#define BUSY	 0.9
#define CROWDED	 0.1
#define SLEEPY	 0.7
#define SLEEPS_S 500.0

struct thread {
	long tid;
	char comm[16];
	double run, wait; /* seconds running, and waiting for a processor */
	double sleeps;
	bool engines; /* the engine's own, which blocks all signals */
};

struct program {
	int64_t pid;
	const char *comm; /* in the later status */
	struct thread before[THREADS_MAX], after[THREADS_MAX];
	size_t n_before, n_after;
};

/* Sums over a program's queue pairs, per second. */
struct load {
	size_t qps, elsewhere, small_mtu;
	double sent, bytes, again, timeouts, rnr, gaps, cnps;
};

struct slow {
	const struct ur_samples *samples;
	struct program *program;
	struct load work;
	struct json_object *said;
};

static void say(struct slow *s, const char *limit, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct slow *s, const char *limit, const char *format, ...)
{
	struct json_object *one = json_object_new_object();
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	ur_json_put_text(one, "limit", limit);
	ur_json_put_text(one, "text", text);
	json_object_array_add(s->said, one);
}

/* ---- threads ---- */

static bool read_file(char *to, size_t size, int64_t pid, long tid,
		      const char *name)
{
	char path[96];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%ld/%s", pid, tid,
		 name);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(to, 1, size - 1, f);
	fclose(f);
	to[n] = '\0';
	return n > 0;
}

static bool read_thread(int64_t pid, struct thread *t)
{
	unsigned long long run, wait;
	char text[4096], *at;

	if (!read_file(text, sizeof(text), pid, t->tid, "schedstat") ||
	    sscanf(text, "%llu %llu", &run, &wait) != 2)
		return false;
	t->run = (double)run / 1e9;
	t->wait = (double)wait / 1e9;
	if (!read_file(text, sizeof(text), pid, t->tid, "status"))
		return false;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	t->sleeps = at ? strtod(strchr(at, ':') + 1, NULL) : 0;
	at = strstr(text, "\nSigBlk:");
	t->engines = at && strtoull(strchr(at, ':') + 1, NULL, 16) >> 60;
	if (!read_file(text, sizeof(text), pid, t->tid, "comm"))
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(t->comm, sizeof(t->comm), "%.15s", text);
	return true;
}

/* Returns no threads if the program is invisible, as in another container. */
static size_t read_threads(int64_t pid, struct thread *threads)
{
	struct dirent *d;
	size_t n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", pid);
	dir = opendir(path);
	while (dir && n < THREADS_MAX && (d = readdir(dir))) {
		threads[n].tid = strtol(d->d_name, NULL, 10);
		n += threads[n].tid > 0 && read_thread(pid, &threads[n]);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Computes what the thread did between the samples, as fractions of the time and per
 * second. */
static bool since(const struct slow *s, const struct thread *now,
		  struct thread *did)
{
	const double seconds = s->samples->seconds;

	for (size_t i = 0; i < s->program->n_before; i++) {
		const struct thread *b = &s->program->before[i];

		if (b->tid != now->tid || seconds <= 0)
			continue;
		*did = *now;
		did->run = (now->run - b->run) / seconds;
		did->wait = (now->wait - b->wait) / seconds;
		did->sleeps = (now->sleeps - b->sleeps) / seconds;
		return true;
	}
	return false;
}

static void look_at_threads(struct slow *s)
{
	struct thread did, busy = {0}, waits = {0}, sleeps = {0};
	double own = 0; /* the busiest of the program's own */

	for (size_t i = 0; i < s->program->n_after; i++) {
		if (!since(s, &s->program->after[i], &did))
			continue;
		if (did.run > busy.run)
			busy = did;
		if (did.wait > waits.wait)
			waits = did;
		if (did.engines)
			continue;
		if (did.run + did.wait > own)
			own = did.run + did.wait;
		if (did.sleeps > sleeps.sleeps)
			sleeps = did;
	}
	if (waits.wait > CROWDED)
		say(s, "crowded",
		    "thread %ld (%s) waited for a processor %.0f %% of the time: "
		    "others use them; give the program more, or raise its quota",
		    waits.tid, waits.comm, 100 * waits.wait);
	if (sleeps.sleeps > SLEEPS_S && own < SLEEPY)
		say(s, "sleeps",
		    "thread %ld (%s) slept %.0f times a second and no thread of "
		    "the program's own is busy: messages wait for wake-ups; poll, "
		    "or let more of them be on their way",
		    sleeps.tid, sleeps.comm, sleeps.sleeps);
	if (busy.run + busy.wait >= BUSY)
		say(s, "processor",
		    "thread %ld (%s) used %.0f %% of a processor: who polls is "
		    "the engine of its context; use larger messages and lists of "
		    "posts, or a context for each thread",
		    busy.tid, busy.comm, 100 * busy.run);
}

/* ---- queue pairs ---- */

static struct load load_of(const struct ur_samples *s, int64_t pid)
{
	struct load w = {0};

	ur_json_each(qp, ur_json_array(s->after, "qps")) {
		struct json_object *old = ur_status_same_qp(s->before, qp);
		struct json_object *dev = ur_status_device(
			s->after, ur_status_text(qp, "device"));
		int64_t mtu = ur_json_number(qp, "path_mtu");

		if (ur_json_hidden(qp) || ur_json_number(qp, "pid") != pid)
			continue;
		w.qps++;
		w.elsewhere +=
			!!strcmp(ur_status_text(qp, "engine"), "program");
		w.small_mtu += dev && mtu > 0 &&
			       mtu < ur_json_number(dev, "active_mtu");
		w.sent += ur_rate(s, old, qp, "sent_pkts");
		w.bytes += ur_rate(s, old, qp, "sent_bytes") +
			   ur_rate(s, old, qp, "rcvd_bytes") +
			   ur_rate(s, old, qp, "loop_bytes");
		w.again += ur_rate(s, old, qp, "resent_pkts");
		w.timeouts += ur_rate(s, old, qp, "timeouts");
		w.rnr += ur_rate(s, old, qp, "rnr_waits");
		w.gaps += ur_rate(s, old, qp, "out_of_sequence");
	}
	return w;
}

/* Sums the rate of a counter over the program's devices, including their other programs. */
static double marks_of(const struct ur_samples *s, int64_t pid,
		       const char *counter)
{
	double all = 0;

	ur_json_each(d, ur_json_array(s->after, "devices")) {
		const char *name = ur_status_text(d, "name");

		ur_json_each(qp, ur_json_array(s->after, "qps")) {
			if (ur_json_hidden(qp) ||
			    ur_json_number(qp, "pid") != pid ||
			    strcmp(ur_status_text(qp, "device"), name))
				continue;
			all += ur_rate(s, ur_status_device(s->before, name), d,
				       counter);
			break;
		}
	}
	return all;
}

static void look_at_queue_pairs(struct slow *s)
{
	const struct load *w = &s->work;
	double cnps = marks_of(s->samples, s->program->pid, "rp_cnp_handled");

	if (w->rnr > 0)
		say(s, "rnr",
		    "it waited %.0f times a second for peers that had no receive "
		    "posted: more receives there, or posted earlier",
		    w->rnr);
	if (w->again > 0)
		say(s, "loss",
		    "%.2g %% of its packets were sent again, %.0f timeouts a "
		    "second: packets are lost on the way; 'uroce doctor --fabric "
		    "ADDRESS' looks where",
		    w->sent > 0 ? 100 * w->again / w->sent : 100, w->timeouts);
	if (w->gaps > 0)
		say(s, "loss",
		    "%.0f packets a second came behind a gap: packets are lost "
		    "on the way here",
		    w->gaps);
	if (cnps > 0)
		say(s, "marks",
		    "%.0f CNPs a second slowed the device's senders: a queue on "
		    "the way is full",
		    cnps);
	if (w->elsewhere)
		say(s, "engine",
		    "%zu of its %zu queue pairs have their engine in another "
		    "process, which is slower: UROCE_ENGINE, isolated users, "
		    "XRC, or a program without room for an engine",
		    w->elsewhere, w->qps);
	if (w->small_mtu)
		say(s, "mtu",
		    "%zu of its %zu queue pairs have a smaller path MTU than the "
		    "port: more headers for each byte",
		    w->small_mtu, w->qps);
}

static void look(struct slow *s)
{
	s->work = load_of(s->samples, s->program->pid);
	if (!s->work.qps) {
		say(s, "idle", "it has no queue pairs that are yours to see");
		return;
	}
	look_at_queue_pairs(s);
	if (s->work.bytes <= 0)
		say(s, "idle",
		    "nothing was sent or came in: it posts nothing, or waits "
		    "for its peer");
	else
		look_at_threads(s);
	if (!json_object_array_length(s->said))
		say(s, "unknown",
		    "no counter shows a limit: the peer, or what the program "
		    "does between messages; 'uroce why --slow' there");
}

/* ---- the command ---- */

static bool is_meant(const struct ur_options *o, struct json_object *session)
{
	for (int i = 0; i < o->rest_count; i++) {
		const char *word = o->rest[i];
		char *end;
		long long pid = strtoll(word, &end, 10);

		if (*word && !*end
			    ? ur_json_number(session, "pid") == pid
			    : !strcmp(ur_status_text(session, "comm"), word))
			return true;
	}
	return false;
}

static struct program *add(struct program *list, size_t *count,
			   struct json_object *session)
{
	int64_t pid = ur_json_number(session, "pid");

	if (strcmp(ur_status_text(session, "file"), "uverbs"))
		return NULL;
	for (size_t i = 0; i < *count; i++)
		if (list[i].pid == pid)
			return NULL;
	if (*count == PROGRAMS_MAX)
		return NULL;
	list[*count] = (struct program){.pid = pid};
	return &list[(*count)++];
}

static size_t find_programs(const struct ur_options *options,
			    struct json_object *status, struct program *list)
{
	size_t count = 0;

	ur_json_each(one, ur_json_array(status, "sessions")) {
		struct program *p =
			is_meant(options, one) ? add(list, &count, one) : NULL;

		if (!p)
			continue;
		p->comm = ur_status_text(one, "comm");
		p->n_before = read_threads(p->pid, p->before);
	}
	return count;
}

static void print(const struct program *p, struct json_object *said)
{
	printf("%s (pid %" PRId64 ")\n", p->comm, p->pid);
	ur_json_each(one, said)
		printf("  %-10s %s\n", ur_status_text(one, "limit"),
		       ur_status_text(one, "text"));
}

static void show(const struct ur_options *options, const struct ur_samples *s,
		 struct program *list, size_t count)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < count; i++) {
		struct slow slow = {.samples = s,
				    .program = &list[i],
				    .said = json_object_new_array()};
		struct json_object *one = json_object_new_object();

		look(&slow);
		if (!options->json)
			print(&list[i], slow.said);
		ur_json_put_number(one, "pid", list[i].pid);
		ur_json_put_text(one, "comm", list[i].comm);
		json_object_object_add(one, "limits", slow.said);
		json_object_array_add(all, one);
	}
	if (options->json)
		ur_json_print(all);
	json_object_put(all);
}

int ur_slow(const struct ur_options *options)
{
	struct program *list = calloc(PROGRAMS_MAX, sizeof(*list));
	struct ur_options asked = *options;
	struct ur_samples samples;
	size_t count = 0;
	int err;

	if (!list)
		return UR_EXIT_FAILED;
	if (asked.interval <= 0)
		asked.interval = 1;
	err = ur_samples_first(&samples, &asked);
	if (!err)
		count = find_programs(&asked, samples.after, list);
	if (!err && !count) {
		ur_complain("why --slow: no such program has a device open; "
			    "'uroce res session' lists them");
		err = -1;
	}
	if (!err)
		err = ur_samples_next(&samples, &asked);
	for (size_t i = 0; i < count && !err; i++)
		list[i].n_after = read_threads(list[i].pid, list[i].after);
	if (!err)
		show(options, &samples, list, count);
	ur_samples_free(&samples);
	free(list);
	return err ? UR_EXIT_FAILED : 0;
}
