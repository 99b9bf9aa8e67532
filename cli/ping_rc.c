// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs uroce-rcping with the device present, and reads the lines that it
 * prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/companion.h"
#include "cli/ping_rc.h"
#include "cli/rcping/rcping.h"

#define PROGRAM "uroce-rcping"

static void set(struct ur_ping_rc *ret, enum ur_ping_rc_end end,
		const char *why)
{
	ret->end = end;
	snprintf(ret->why, sizeof(ret->why), "%s", why);
}

static void take_answer(const char *peer, const char *us,
			struct json_object *times)
{
	if (times)
		json_object_array_add(times, json_object_new_double(atof(us)));
	else
		printf("%s: RC answer in %.0f us\n", peer, atof(us));
}

static void take_line(const char *peer, char *line, struct json_object *times,
		      struct ur_ping_rc *ret)
{
	char *rest = line + strcspn(line, " \n");

	line[strcspn(line, "\n")] = '\0';
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(line, UR_RCPING_ANSWER)) {
		take_answer(peer, rest, times);
		return;
	}
	if (!strcmp(line, UR_RCPING_LOCAL)) {
		set(ret, UR_PING_RC_LOCAL, rest);
	} else if (!strcmp(line, UR_RCPING_REFUSED)) {
		bool none = atoi(rest) == UR_RCPING_NO_SERVICE;

		set(ret, none ? UR_PING_RC_NO_SERVICE : UR_PING_RC_REFUSED,
		    rest);
	} else if (!strcmp(line, UR_RCPING_LOST)) {
		set(ret, UR_PING_RC_LOST, rest);
	} else if (!strcmp(line, UR_RCPING_MTU)) {
		set(ret, UR_PING_RC_OK, "");
		ret->mtu = atoi(rest);
	} else if (!strcmp(line, UR_RCPING_MTU_LOST)) {
		set(ret, UR_PING_RC_MTU, "");
		ret->mtu = atoi(rest);
	}
}

int ur_ping_rc(const struct ur_options *options, const char *peer, int port,
	       int count, struct json_object *times, struct ur_ping_rc *ret)
{
	char line[256], port_text[16], count_text[16];
	const char *argv[] = {PROGRAM,	 "connect",  peer,
			      port_text, count_text, NULL};
	struct ur_companion program;
	int err;

	memset(ret, 0, sizeof(*ret));
	set(ret, UR_PING_RC_SILENT, "");
	snprintf(port_text, sizeof(port_text), "%d", port);
	snprintf(count_text, sizeof(count_text), "%d", count);
	err = ur_companion_start(&program, argv, options->run_dir);
	if (err)
		return err;
	while (fgets(line, sizeof(line), program.said))
		take_line(peer, line, times, ret);
	return ur_companion_wait(&program);
}

int ur_ping_rc_listen(const struct ur_options *options, int port)
{
	char text[16];
	const char *argv[] = {PROGRAM, "listen", text, NULL};

	snprintf(text, sizeof(text), "%d", port);
	return ur_companion_become(argv, options->run_dir);
}
