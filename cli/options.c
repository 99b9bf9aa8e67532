// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command line's options. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "util/os/rundir.h"

void ur_complain(const char *format, ...)
{
	va_list ap;

	fputs("uroce: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* c: what getopt_long() said of word, or of one of the letters in it. */
static int complain(const char *command, int c, const char *word)
{
	/* A letter may stand behind others, and word be the one before. */
	bool is_long = !strncmp(word, "--", 2) && word[2] &&
		       (c == ':' || !optopt || strchr(word, '='));
	char letter[] = {'-', (char)optopt, '\0'};
	const char *name = is_long || !optopt ? word : letter;
	const char *what = c == ':'	       ? "needs a value"
			   : is_long && optopt ? "takes no value"
					       : "is unknown";

	/* Not what was given to it. */
	ur_complain("%s: option %.*s %s; see 'uroce help %s'", command,
		    (int)strcspn(name, "="), name, what, command);
	return UR_EXIT_USAGE;
}

int ur_options_parse(struct ur_options *options, const char *command, int argc,
		     char **argv)
{
	static const struct option longs[] = {
		{"run-dir", required_argument, NULL, 'r'},
		{"netdev", required_argument, NULL, 'n'},
		{"name", required_argument, NULL, 'N'},
		{"devices", required_argument, NULL, 'D'},
		{"only", no_argument, NULL, 'o'},
		{"fault", required_argument, NULL, 'F'},
		{"json", no_argument, NULL, 'j'},
		{"count", required_argument, NULL, 'c'},
		{"interval", required_argument, NULL, 'i'},
		{"rc", required_argument, NULL, 'R'},
		{"peer", required_argument, NULL, 'P'},
		{"qpn", required_argument, NULL, 'Q'},
		{"listen", required_argument, NULL, 'L'},
		{"check", optional_argument, NULL, 'k'},
		{"check-json", required_argument, NULL, 'J'},
		{"check-mute", required_argument, NULL, 'M'},
		{"mount", no_argument, NULL, 'm'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{"adverse", required_argument, NULL, 'A'},
		{0},
	};
	/* What follows a program's name is the program's. */
	const char *shorts =
		strcmp(command, "run") ? ":r:n:jc:i:qh" : "+:r:n:jc:i:qh";
	const char *run_dir = NULL, **name;
	int c, port, err, faults = 0;
	char *end;

	memset(options, 0, sizeof(*options));
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			run_dir = optarg;
			break;
		case 'n':
			if (options->netdevs == UR_NETDEVS_MAX) {
				ur_complain("more than %d --netdev",
					    UR_NETDEVS_MAX);
				return UR_EXIT_USAGE;
			}
			options->netdev[options->netdevs++] = optarg;
			break;
		case 'N':
			name = &options->name[options->netdevs
						      ? options->netdevs - 1
						      : 0];
			if (*name) {
				ur_complain("%s: two names, %s and %s, for one "
					    "device",
					    command, *name, optarg);
				return UR_EXIT_USAGE;
			}
			*name = optarg;
			break;
		case 'D':
			options->devices = atoi(optarg);
			if (options->devices < 1 ||
			    options->devices > UR_NETDEVS_MAX) {
				ur_complain("%s: %s devices: 1 to %d", command,
					    optarg, UR_NETDEVS_MAX);
				return UR_EXIT_USAGE;
			}
			break;
		case 'o':
			options->only = true;
			break;
		case 'F':
			if (faults == UR_FAULTS_MAX) {
				ur_complain("more than %d --fault",
					    UR_FAULTS_MAX);
				return UR_EXIT_USAGE;
			}
			options->fault[faults++] = optarg;
			break;
		case 'm':
			options->mount = true;
			break;
		case 'q':
			options->quiet = true;
			break;
		case 'h':
			options->help = true;
			return 0;
		case 'j':
			options->json = true;
			break;
		case 'c':
			options->count = atoi(optarg);
			if (options->count < 1) {
				ur_complain("%s: a count of %s", command,
					    optarg);
				return UR_EXIT_USAGE;
			}
			break;
		case 'i':
			options->interval = atof(optarg);
			if (options->interval < UR_INTERVAL_MIN ||
			    options->interval > UR_INTERVAL_MAX) {
				ur_complain("%s: %s seconds: 0.05 to 3600",
					    command, optarg);
				return UR_EXIT_USAGE;
			}
			break;
		case 'k':
			options->check = optarg ? optarg : "warn";
			if (strcmp(options->check, "warn") &&
			    strcmp(options->check, "stop")) {
				ur_complain("%s: --check=%s: warn or stop",
					    command, optarg);
				return UR_EXIT_USAGE;
			}
			break;
		case 'J':
			options->check_json = optarg;
			break;
		case 'M':
			options->check_mute = optarg;
			break;
		case 'A':
			options->adverse = optarg;
			break;
		case 'P':
			options->peer = optarg;
			break;
		case 'Q':
			options->qpn = (uint32_t)strtoul(optarg, &end, 0);
			options->by_qpn = true;
			if (!*optarg || *end) {
				ur_complain("%s: a queue pair number of %s",
					    command, optarg);
				return UR_EXIT_USAGE;
			}
			break;
		case 'R':
		case 'L':
			port = atoi(optarg);
			if (port < 1 || port > UINT16_MAX) {
				ur_complain("%s: port %s: 1 to 65535", command,
					    optarg);
				return UR_EXIT_USAGE;
			}
			*(c == 'R' ? &options->rc_port
				   : &options->listen_port) = port;
			break;
		default:
			return complain(command, c, argv[optind - 1]);
		}
	}
	if (strcmp(command, "run") &&
	    (options->name[0] || options->devices || options->only ||
	     options->mount || options->quiet || faults)) {
		ur_complain(
			"%s: --name, --devices, --only, --fault, --mount and "
			"--quiet are of 'run'",
			command);
		return UR_EXIT_USAGE;
	}
	if (strcmp(command, "run") && (options->check || options->adverse)) {
		ur_complain("%s: --check and --adverse are of 'run'", command);
		return UR_EXIT_USAGE;
	}
	if (!options->check && (options->check_json || options->check_mute)) {
		ur_complain("%s: --check-json and --check-mute need --check",
			    command);
		return UR_EXIT_USAGE;
	}
	err = ur_rundir(run_dir, options->run_dir, sizeof(options->run_dir));
	if (err) {
		ur_complain("the run directory's name: %s", strerror(-err));
		return UR_EXIT_USAGE;
	}
	options->rest = argv + optind;
	options->rest_count = argc - optind;
	return 0;
}

const struct ur_verb *ur_verb_take(struct ur_options *options,
				   const struct ur_verb *verbs)
{
	for (; options->rest_count && verbs->word; verbs++) {
		if (strcmp(options->rest[0], verbs->word))
			continue;
		options->rest++;
		options->rest_count--;
		return verbs;
	}
	return NULL;
}
