// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every option of uroce(1). */
#include <stddef.h>
#include <string.h>

#include "cli/option_table.h"
#include "util/like_words.h"

/* A row: the option's name, its field, its value's name in the help, what the value may be, the commands that
 * take it (NULL: all), its help, and more members by name. */
#define ROW(kind_, name_, value_, commands_, help_, ...)                       \
	{                                                                      \
		.name = (name_), .kind = UR_OPTION_##kind_, .value = (value_), \
		.commands = (commands_), .help = (help_), __VA_ARGS__          \
	}
#define FIELD(field_) .field = offsetof(struct ur_options, field_)
#define OTHER(kind, name, value, commands, ...) \
	ROW(kind, name, value, commands, __VA_ARGS__)
#define SWITCH(name, field, commands, help, ...) \
	ROW(SWITCH, name, NULL, commands, help, FIELD(field), ##__VA_ARGS__)
#define TEXT(name, field, value, commands, help, ...) \
	ROW(TEXT, name, value, commands, help, FIELD(field), ##__VA_ARGS__)
#define QPN(name, field, value, commands, help) \
	ROW(QPN, name, value, commands, help, FIELD(field))
#define NUMBER(name, field, value, from, to, commands, help, ...)             \
	ROW(NUMBER, name, value, commands, help, FIELD(field), .min = (from), \
	    .max = (to), ##__VA_ARGS__)
#define SECONDS(name, field, value, from, to, commands, help, ...)             \
	ROW(SECONDS, name, value, commands, help, FIELD(field), .min = (from), \
	    .max = (to), ##__VA_ARGS__)
#define WORD(name, field, value, words_, commands, help, ...)                 \
	ROW(WORD, name, value, commands, help, FIELD(field), .words = words_, \
	    ##__VA_ARGS__)

/* clang-format off */
const struct ur_option ur_option_table[] = {
	OTHER(NETDEV, "netdev", "IF", "run doctor trace dump", "the network interface", .letter = 'n'),
	OTHER(NAME, "name", "NAME", "run fabric", "of the device on the --netdev before; of the fabric"),
	OTHER(NODE, "node", "N", "run", "the NUMA node of the same device"),
	WORD("like", like, UR_LIKE_WORDS, UR_LIKE_WORDS, "run", "devices look like such a card"),
	NUMBER("devices", devices, "N", 1, UR_NETDEVS_MAX, "run fabric",
		"N devices, each in a host of its own; of a fabric's host"),
	TEXT("link", link, "[RATE][,DELAY]", "fabric", "of 'up': the links', as 1gbit,50us"),
	TEXT("loss", loss, "SHARE", "fabric", "of 'up': of the packets on a link, each way, as 0.1%"),
	NUMBER("mtu", mtu, "BYTES", 1280, UINT16_MAX, "fabric", "of 'up': the links' (1500)"),
	NUMBER("racks", racks, "N", 1, 2, "fabric", "of 'up': two switches, and a link between them"),
	SWITCH("only", only, "run", "without the host's own RDMA devices"),
	OTHER(FAULT, "fault", "RULE", "run", "make the device misbehave: uroce-fault(7)"),
	WORD("check", check, "warn|stop", "warn|stop", "run",
		"name mistakes of the program", .fallback = "warn"),
	TEXT("check-json", check_json, "FILE", "run",
		"into FILE, a line of JSON for each mistake", .needs = "check"),
	TEXT("check-mute", check_mute, "FILE", "run",
		"leave out the mistakes that FILE names", .needs = "check"),
	TEXT("adverse", adverse, "SEED[:NAME,...]", "run", "behave as differently as a card may"),
	WORD("engine", engine, "process|apart", "device|process|apart", "run",
		"where the engine of its queue pairs is"),
	SWITCH("mount", mount, "run enable", "show /sys/class/infiniband to static programs too"),
	SWITCH("quiet", quiet, "run env fabric", "say only what goes wrong", .letter = 'q'),
	SWITCH("service", service, "enable disable", "each NAME is a service of systemd"),
	SWITCH("host", host, "enable disable", "every dynamic program, by /etc/ld.so.preload"),
	TEXT("root", root, "DIR", "enable disable", "of the file system that is in DIR"),
	NUMBER("count", count, "N", 1, INT_MAX, "stat top trace dump ping",
		"end after N samples, packets or answers", .letter = 'c'),
	SECONDS("interval", interval, "SECONDS", UR_INTERVAL_MIN, UR_INTERVAL_MAX, "stat top why",
		"from one sample to the next", .letter = 'i'),
	TEXT("peer", peer, "ADDRESS", "trace dump", "only packets from and to ADDRESS"),
	QPN("qpn", qpn, "N", "trace dump", "only packets of queue pair N"),
	NUMBER("rc", rc_port, "PORT", 1, UINT16_MAX, "ping", "connect to 'uroce ping --listen PORT'"),
	NUMBER("listen", listen_port, "PORT", 1, UINT16_MAX, "ping", "answer 'uroce ping --rc PORT'"),
	SWITCH("fabric", fabric, "doctor", "probe the way to ADDRESS, or wait for probes"),
	SWITCH("slow", slow, "why", "what limits PID or PROGRAM, which runs"),
	SWITCH("json", json, "link fault fabric record why stat cm res top doctor trace ping cdi",
		"print JSON", .letter = 'j'),
	TEXT("run-dir", run_dir_asked, "DIR", NULL, "where the device is", .letter = 'r'),
	SWITCH("help", help, NULL, "print what the command takes", .letter = 'h'),
};
/* clang-format on */

const int ur_options_count = sizeof(ur_option_table) / sizeof(*ur_option_table);

bool ur_option_is_of(const struct ur_option *option, const char *command)
{
	const char *list = option->commands;
	size_t len = strlen(command);

	if (!list)
		return true;
	for (const char *at = list; (at = strstr(at, command)); at += len)
		if ((at == list || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
	return false;
}
