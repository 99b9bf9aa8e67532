// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce: a software RDMA device for programs and people. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "util/os/standard_fds.h"

const struct ur_command ur_commands[] = {
	{"First", "run", "[[--] PROGRAM [ARGUMENT]...]",
	 "run a program, or a shell, with the device present", ur_cmd_run},
	{NULL, "env", "[sh|fish|csh]",
	 "print the environment that gives a shell's programs the device",
	 ur_cmd_env},
	{NULL, "doctor", "[PROGRAM]... | --fabric [ADDRESS]",
	 "what is missing on this machine, and what to type", ur_cmd_doctor},
	{NULL, "ping", "ADDRESS [COUNT] | --listen PORT",
	 "is a RoCE device reachable, and where does it fail", ur_cmd_ping},
	{"For a whole host", "enable", "--host | --service NAME...",
	 "let every program, or services of systemd, see the device",
	 ur_cmd_enable},
	{NULL, "disable", "--host | --service [NAME]...",
	 "undo that, of the host, all services or some", ur_cmd_disable},
	{"Devices", "link",
	 "[show] [DEVICE|NETDEV]... | add NETDEV [NAME] [node=N] | del DEVICE | set "
	 "DEVICE [NAME VALUE]",
	 "show, add, remove and set up devices", ur_cmd_link},
	{NULL, "fault", "[show] | add [dev=NAME] RULE | del [NUMBER|all]",
	 "make a device lose, delay, refuse or fail; rules: uroce-fault(7)",
	 ur_cmd_fault},
	{NULL, "fabric",
	 "up [HOSTS] | run HOST|all [--] PROGRAM [ARGUMENT]... | ssh HOST "
	 "[COMMAND]... | link HOST|all|uplink [up|down] [NAME VALUE]... | "
	 "[show] | trace HOST|switch|all [OPTION]... | report FILE.html | down",
	 "a cluster on this machine: hosts with devices, a switch, links",
	 ur_cmd_fabric},
	{NULL, "cdi", "",
	 "a specification that gives the device to containers, on stdout",
	 ur_cmd_cdi},
	{"What happens, and why", "why",
	 "[PID|QPN] [RUN-DIR] | --slow PID|PROGRAM...",
	 "why requests and connections failed, or what limits a program",
	 ur_cmd_why},
	{NULL, "stat", "[qp] [DEVICE|NETDEV]...",
	 "counters of devices or queue pairs; with -i, what they do a second",
	 ur_cmd_stat},
	{NULL, "top", "[SECONDS [COUNT]]", "rates of the devices, live",
	 ur_cmd_top},
	{NULL, "res", "[show] [qp|cq|mr|pd|cm_id|session]",
	 "the objects that programs have open, by process", ur_cmd_res},
	{NULL, "cm", "", "rdma_cm identifiers and counters", ur_cmd_cm},
	{NULL, "metrics", "[DEVICE|NETDEV]...",
	 "counters and objects in Prometheus text form", ur_cmd_metrics},
	{"Packets and history", "trace", "", "RoCE packets, decoded, live",
	 ur_cmd_trace},
	{NULL, "dump", "FILE", "RoCE packets into a pcapng file for Wireshark",
	 ur_cmd_dump},
	{NULL, "record",
	 "[show] [RECORD]... | start [DEVICE [KIB]] | stop [DEVICE] | save "
	 "FILE[.pcapng|.json|.html] [RECORD]...",
	 "what happened last: work requests, packets, completions",
	 ur_cmd_record},
	{NULL, "report", "FILE.html [RECORD]...",
	 "what happened last, as a page to look at", ur_cmd_report},
	{0},
};

/* Returns NULL if there is none. */
static const struct ur_command *find_command(const char *name)
{
	for (const struct ur_command *c = ur_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int no_command(const char *name)
{
	ur_complain("no command %s; 'uroce help' lists them", name);
	return UR_EXIT_USAGE;
}

/* help [COMMAND], and for completion help --words [COMMAND]. */
static int help(char **words)
{
	bool alone = words[0] && !strcmp(words[0], "--words");
	const char *name = words[alone];
	const struct ur_command *c = name ? find_command(name) : NULL;

	if (name && !c)
		return no_command(name);
	if (alone)
		ur_help_words(c);
	else if (c)
		ur_help_command(c);
	else
		ur_help(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int at, err;
	const char *first = argc > 1 ? argv[1] : "";
	const struct ur_command *c;
	struct ur_options options;

	ur_open_standard_fds();
	at = ur_options_before_command(argc, argv);
	if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
		puts("uroce " UROCE_VERSION);
		return 0;
	}
	if (!strcmp(first, "--help") || !strcmp(first, "-h")) {
		ur_help(stdout);
		return 0;
	}
	if (at == argc) {
		if (argc == 1)
			ur_help(stderr);
		else
			ur_complain("%s: no command; 'uroce help' lists them",
				    first);
		return UR_EXIT_USAGE;
	}
	if (!strcmp(argv[at], "help"))
		return help(argv + at + 1);
	c = find_command(argv[at]);
	if (!c)
		return no_command(argv[at]);
	/* Moves the command in front of the options before it. */
	memmove(argv + 1, argv, (size_t)at * sizeof(*argv));
	argv[1] = (char *)c->name;
	err = ur_options_parse(&options, c->name, argc - 1, argv + 1);
	if (!err && options.help) {
		ur_help_command(c);
		return 0;
	}
	return err ? err : c->run(&options);
}
