// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The usage of all commands, and what one of them takes. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct {
	const char *commands; /* NULL: all */
	const char *option, *help;
} options[] = {
	{"run doctor trace dump", "-n, --netdev IF", "the network interface"},
	{"run", "--name NAME", "of the device on the --netdev before"},
	{"run", "--devices N", "N devices, each in a host of its own"},
	{"run", "--only", "without the host's own RDMA devices"},
	{"run", "--fault RULE", "make the device misbehave, as 'uroce fault'"},
	{"run", "--check[=warn|stop]", "name mistakes of the program"},
	{"run", "--check-json FILE", "into FILE, a line of JSON each"},
	{"run", "--check-mute FILE", "but not those that FILE names"},
	{"run", "--mount", "show /sys/class/infiniband to static programs too"},
	{"run", "-q, --quiet", "do not say which interface was chosen"},
	{"stat top trace dump ping", "-c, --count N", "so many, then end"},
	{"stat top", "-i, --interval SECONDS", "from one sample to the next"},
	{"trace dump", "--peer ADDRESS", "only packets from and to it"},
	{"trace dump", "--qpn N", "only packets of that queue pair"},
	{"ping", "--rc PORT", "connect to 'uroce ping --listen PORT'"},
	{"ping", "--listen PORT", "answer 'uroce ping --rc PORT'"},
	{"link fault record why stat cm res top doctor trace ping cdi",
	 "-j, --json", "for programs"},
	{NULL, "-r, --run-dir DIR", "where the device is"},
	{NULL, "-h, --help", "this"},
};

/* Is the word in the list? */
static bool has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
	return false;
}

void ur_help(FILE *to)
{
	const struct ur_command *c;

	fputs("usage: uroce COMMAND [--run-dir DIR] [--json] ...\n\n", to);
	for (c = ur_commands; c->name; c++)
		fprintf(to, "  uroce %-7s %s\n      %s\n", c->name, c->args,
			c->help);
	fputs("\nWhat a command takes: uroce help COMMAND.\n"
	      "The run directory is --run-dir, else $UROCE_RUN_DIR, else "
	      "/run/uroce (root) or\n$XDG_RUNTIME_DIR/uroce.\n",
	      to);
}

void ur_help_command(const struct ur_command *c)
{
	printf("usage: uroce %s %s\n\n%s\n\n", c->name, c->args, c->help);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!options[i].commands || has(options[i].commands, c->name))
			printf("  %-24s %s\n", options[i].option,
			       options[i].help);
}
