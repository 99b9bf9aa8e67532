// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce: a software RDMA device for programs and people. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

const struct ur_command ur_commands[] = {
	{"run",
	 "[--netdev IF [--name NAME]]... [--only] [--run-dir DIR]\n"
	 "            [--check[=warn|stop]] [--adverse=SEED[:NAME,...]]\n"
	 "            [--fault RULE]... [--mount] [-q] -- PROGRAM ARG...\n"
	 "  uroce run     --devices N [--name NAME] [--only] [--run-dir DIR]\n"
	 "            -- PROGRAM ARG...",
	 "run PROGRAM with the device present", ur_cmd_run},
	{"link",
	 "[show [DEVICE|NETDEV]...] | add NETDEV [NAME] | del DEVICE\n"
	 "            | set DEVICE [NAME VALUE]",
	 "devices: netdev, state, MTU, GIDs; one more, one less; settings",
	 ur_cmd_link},
	{"fault", "[show] | add [dev=NAME] RULE | del NUMBER|all",
	 "make a device misbehave: lose, delay, refuse, fail", ur_cmd_fault},
	{"why", "[PID|QPN] [RUN-DIR of the other end]",
	 "why requests and connections failed, at both ends if it may",
	 ur_cmd_why},
	{"stat", "[qp] [-i SECONDS [-c COUNT]] [DEVICE|NETDEV]...",
	 "counters of devices or queue pairs; with -i, what they do a second",
	 ur_cmd_stat},
	{"cm", "", "rdma_cm identifiers and counters", ur_cmd_cm},
	{"res", "[show] [qp|cq|mr|pd|cm_id|session]",
	 "what programs have open, and who they are", ur_cmd_res},
	{"top", "[-i SECONDS] [-c COUNT]", "rates of the devices, live",
	 ur_cmd_top},
	{"metrics", "[DEVICE|NETDEV]...", "all of it in Prometheus text form",
	 ur_cmd_metrics},
	{"doctor", "[--netdev IF] [PROGRAM]...",
	 "what is missing on this machine and what to type", ur_cmd_doctor},
	{"trace", "[--netdev IF] [-c COUNT] [--peer ADDRESS] [--qpn N]",
	 "RoCE packets, decoded, live", ur_cmd_trace},
	{"dump", "[--netdev IF] [-c COUNT] [--peer ADDRESS] [--qpn N] FILE",
	 "RoCE packets into a pcapng file for Wireshark", ur_cmd_dump},
	{"record",
	 "[show [RECORD]...] | start [DEVICE [KIB]] | stop [DEVICE]\n"
	 "            | save FILE[.pcapng|.json|.html] [RECORD]...",
	 "what happened last: work requests, packets, completions",
	 ur_cmd_record},
	{"report", "FILE.html [RECORD]...", "the same as a page to look at",
	 ur_cmd_report},
	{"ping", "[-c COUNT] [--rc PORT] ADDRESS | --listen PORT",
	 "is a RoCE device reachable, and where does it fail", ur_cmd_ping},
	{"cdi", "",
	 "a specification that gives the device to containers, on stdout",
	 ur_cmd_cdi},
	{0},
};

/* NULL: there is none. */
static const struct ur_command *find(const char *name)
{
	for (const struct ur_command *c = ur_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int no_command(const char *name)
{
	ur_complain("no command %s", name);
	ur_help(stderr);
	return UR_EXIT_USAGE;
}

static int help(const char *name)
{
	const struct ur_command *c = name ? find(name) : NULL;

	if (name && !c)
		return no_command(name);
	if (c)
		ur_help_command(c);
	else
		ur_help(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const struct ur_command *c;
	struct ur_options options;
	const char *name = argc > 1 ? argv[1] : "";
	int err;

	if (!strcmp(name, "help"))
		return help(argv[2]);
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return help(NULL);
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("uroce " UROCE_VERSION);
		return 0;
	}
	if (!*name) {
		ur_help(stderr);
		return UR_EXIT_USAGE;
	}
	c = find(name);
	if (!c)
		return no_command(name);
	err = ur_options_parse(&options, name, argc - 1, argv + 1);
	if (!err && options.help)
		return help(name);
	return err ? err : c->run(&options);
}
