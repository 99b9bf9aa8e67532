// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce why: explains error completions and failed connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/peer.h"
#include "cli/ping_probe.h"
#include "cli/slow.h"
#include "cli/status.h"

struct wanted {
	int64_t number;		   /* PID or QPN; -1: all */
	struct json_object *other; /* another device's failures, or NULL */
};

static bool is_true(struct json_object *object, const char *name)
{
	struct json_object *member;

	return json_object_object_get_ex(object, name, &member) &&
	       json_object_get_boolean(member);
}

/* Returns the record of the same request on the peer's device. */
static struct json_object *other_end(struct json_object *others,
				     struct json_object *mine)
{
	ur_json_each(o, others)
		if (!ur_json_hidden(o) &&
		    is_true(o, "peers") != is_true(mine, "peers") &&
		    ur_json_number(o, "qpn") ==
			    ur_json_number(mine, "dest_qpn") &&
		    ur_json_number(o, "dest_qpn") ==
			    ur_json_number(mine, "qpn") &&
		    ur_json_number(o, "psn") == ur_json_number(mine, "psn"))
			return o;
	return NULL;
}

/* For a silent peer, tests whether its host reports the port as closed. */
static void probe(struct json_object *failure)
{
	const char *gid = ur_status_text(failure, "dgid");
	struct ur_peer peer = {0};
	int err;

	if (!is_true(failure, "silence") || !*gid ||
	    !strncmp(gid, "fe80:", 5) || ur_peer_find(&peer, gid))
		return;
	err = ur_probe_port(&peer);
	if (err == ECONNREFUSED)
		printf("  now:    nobody listens on UDP port 4791 of %s (ICMP "
		       "port unreachable): no RoCE device is there\n",
		       peer.text);
	else if (err)
		printf("  now:    UDP port 4791 of %s: %s\n", peer.text,
		       strerror(err));
	else
		printf("  now:    UDP port 4791 of %s is not refused; 'uroce "
		       "ping %s' asks the device there\n",
		       peer.text, peer.text);
}

static void print_age(struct json_object *failure)
{
	double seconds = (double)ur_json_number(failure, "age_ms") / 1000;

	printf("  when:   %.1f s ago%s\n", seconds,
	       is_true(failure, "gone") && *ur_status_text(failure, "opcode")
		       ? "; the queue pair was reset or destroyed since"
		       : "");
}

static void print_one(struct json_object *failure, const struct wanted *wanted)
{
	struct json_object *other = other_end(wanted->other, failure);

	fputs(ur_status_text(failure, "story"), stdout);
	print_age(failure);
	if (other)
		printf("  there:  %s", ur_status_text(other, "story"));
	else
		probe(failure);
}

static bool is_wanted(struct json_object *failure, const struct wanted *wanted)
{
	return !ur_json_hidden(failure) &&
	       (wanted->number < 0 ||
		ur_json_number(failure, "pid") == wanted->number ||
		ur_json_number(failure, "qpn") == wanted->number);
}

static int by_age(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	int64_t d = ur_json_number(*y, "age_ms") - ur_json_number(*x, "age_ms");

	return d < 0 ? -1 : d > 0;
}

static int show_failures(const struct ur_options *options,
			 struct json_object *failures,
			 const struct wanted *wanted)
{
	struct json_object *shown = json_object_new_array();
	size_t hidden = 0;

	ur_json_each(one, failures) {
		hidden += ur_json_hidden(one);
		if (is_wanted(one, wanted))
			json_object_array_add(shown, json_object_get(one));
	}
	json_object_array_sort(shown, by_age);
	if (options->json) {
		ur_json_print(shown);
	} else {
		ur_json_each(one, shown)
			print_one(one, wanted);
		if (!json_object_array_length(shown))
			puts("nothing failed that is remembered");
		if (hidden)
			printf("%zu of other users, not shown\n", hidden);
	}
	json_object_put(shown);
	return 0;
}

static int parse(const struct ur_options *options, struct wanted *wanted,
		 const char **run_dir)
{
	wanted->number = -1;
	for (int i = 0; i < options->rest_count; i++) {
		const char *word = options->rest[i];
		char *end;

		if (strchr(word, '/') && !*run_dir) {
			*run_dir = word;
			continue;
		}
		if (wanted->number < 0 && *word >= '0' && *word <= '9') {
			wanted->number = strtoll(word, &end, 0);
			if (!*end)
				continue;
		}
		ur_complain("why: [PID|QPN] [RUN-DIR of the other end]");
		return UR_EXIT_USAGE;
	}
	return 0;
}

int ur_cmd_why(struct ur_options *options)
{
	struct wanted wanted = {.number = -1};
	struct json_object *failures;
	const char *run_dir = NULL;
	struct ur_options there;
	int err;

	if (options->slow && options->rest_count)
		return ur_slow(options);
	if (options->slow || options->interval > 0) {
		ur_complain("why: --slow PID|PROGRAM, and --interval with it");
		return UR_EXIT_USAGE;
	}
	err = parse(options, &wanted, &run_dir);
	if (err)
		return err;
	failures = ur_status_get(options, "failures");
	if (!failures)
		return UR_EXIT_FAILED;
	if (run_dir) {
		there = *options;
		snprintf(there.run_dir, sizeof(there.run_dir), "%s", run_dir);
		wanted.other = ur_status_get(&there, "failures");
		err = wanted.other ? 0 : UR_EXIT_FAILED;
	}
	if (!err)
		err = show_failures(options, failures, &wanted);
	json_object_put(wanted.other);
	json_object_put(failures);
	return err;
}
