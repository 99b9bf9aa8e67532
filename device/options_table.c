// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of uroced's options and settings: names, values and help. */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/options_table.h"
#include "device/spec.h"
#include "engine/engine.h"
#include "util/bytes.h"
#include "util/like_words.h"

static int set_string(char *to, size_t size, const char *value)
{
	if (!*value || strlen(value) >= size)
		return -EINVAL;
	memcpy(to, value, strlen(value) + 1);
	return 0;
}

/* ---- values with a function of their own ---- */

static int add_netdev(struct ur_daemon_options *o, const char *name)
{
	for (o->last = 0; o->last < o->n_netdevs; o->last++)
		if (!strcmp(o->netdev[o->last], name))
			return 0;
	if (o->n_netdevs == UR_MAX_NETDEVS ||
	    set_string(o->netdev[o->n_netdevs], IF_NAMESIZE, name))
		return -EINVAL;
	o->node[o->n_netdevs] = -1;
	o->n_netdevs++;
	return 0;
}

/* Sets the name of the device on the netdev given last. */
static int set_name(struct ur_daemon_options *o, const char *name)
{
	char *to = o->name[o->last];

	return *to ? -EINVAL : set_string(to, UR_DEVICE_NAME_MAX, name);
}

/* Sets the NUMA node of the device on the netdev given last. */
static int set_node(struct ur_daemon_options *o, const char *value)
{
	int node = ur_device_spec_node(value);

	if (node < 0 || o->node[o->last] >= 0)
		return -EINVAL;
	o->node[o->last] = node;
	return 0;
}

/* The command line overrides the file. */
static int add_spec(struct ur_daemon_options *o, const char *value)
{
	struct ur_device_spec spec;

	if (ur_device_spec_read(value, &spec) || add_netdev(o, spec.netdev))
		return -EINVAL;
	if (!*o->name[o->last])
		memcpy(o->name[o->last], spec.name, sizeof(spec.name));
	if (o->node[o->last] < 0)
		o->node[o->last] = spec.node;
	return 0;
}

static int add_set(struct ur_daemon_options *o, const char *value)
{
	const char *name = strpbrk(value, " \t");

	if (o->n_sets == UR_MAX_SETS || !name || !strpbrk(name + 1, " \t"))
		return -EINVAL;
	return set_string(o->set[o->n_sets++], UR_SET_MAX, value);
}

static int set_config(struct ur_daemon_options *o, const char *value)
{
	o->config = value;
	return 0;
}

static int set_record(struct ur_daemon_options *o, const char *value)
{
	o->record = value ? value : "on";
	return 0;
}

static int add_fault(struct ur_daemon_options *o, const char *value)
{
	if (o->n_faults == UR_FAULT_OPTIONS)
		return -EINVAL;
	o->fault[o->n_faults++] = value;
	return 0;
}

static int ignore_engines(struct ur_daemon_options *o, const char *value)
{
	fputs("uroced: engines, user-engines: do nothing any more, since each context has an engine of its own\n",
	      stderr);
	return 0;
}

static int add_verbose(struct ur_daemon_options *o, const char *value)
{
	bool yes = !value || !strcmp(value, "yes");

	o->verbose += yes;
	return yes || !strcmp(value, "no") ? 0 : -EINVAL;
}

#define FIELD(member)                                        \
	.field = offsetof(struct ur_daemon_options, member), \
	.size = sizeof(((struct ur_daemon_options *)0)->member)

const struct ur_daemon_option ur_daemon_option_table[] = {
	{"netdev", "IF",
	 "a device on this network interface (repeat for\n"
	 "more); default: the default route's, else lo",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = add_netdev},
	{"netdev", "IF [NAME] [node=N]", NULL, UR_DAEMON_OPTION_IN_FILE,
	 UR_DAEMON_OPTION_OTHER, .take = add_spec},
	{"name", "NAME",
	 "what the device of the --netdev before is called;\n"
	 "default uroce0, uroce1 ...",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = set_name},
	{"node", "N",
	 "the NUMA node of the same; default that of the\n"
	 "interface's card, else 0",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = set_node},
	{"like", UR_LIKE_WORDS,
	 "names, numbers, limits and GIDs of such a card",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_WORD, FIELD(like),
	 .words = UR_LIKE_WORDS},
	{"only", NULL,
	 "programs do not see the devices that the host\n"
	 "really has",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_SWITCH, FIELD(only)},
	{"peermem", NULL,
	 "programs see nvidia_peermem's files, also where\n"
	 "they see no card of the host",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_SWITCH, FIELD(peermem)},
	{"run-dir", "DIR",
	 "socket and files; default /run/uroce as root,\n"
	 "else $XDG_RUNTIME_DIR/uroce",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_TEXT, FIELD(run_dir)},
	{"config", "FILE", "read these settings from FILE, see uroce.conf(5)",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = set_config},
	{"group", "NAME", "only root and this group may use the device",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_TEXT, FIELD(group)},
	{"roce-v1", NULL, "RoCEv1 GIDs beside v2; needs CAP_NET_RAW",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_SWITCH, FIELD(roce_v1),
	 .absent = !UROCE_WITH_ROCE_V1},
	{"raw-ethernet", NULL,
	 "raw packet queue pairs for programs with\n"
	 "CAP_NET_RAW; needs it, too",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_SWITCH, FIELD(raw_ethernet),
	 .absent = !UROCE_WITH_RAW_PACKET},
	{"cm-mode", "v1|v2", "which of the GIDs rdma_cm connects over",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_WORD, FIELD(cm_mode),
	 .words = "v1|v2"},
	{"user-share", "N",
	 "percent of each kind of object that one user may\n"
	 "have (not root, nor the user who runs it); default 50",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_NUMBER, FIELD(user_share),
	 .min = 1, .max = 100},
	{"speed", "MBPS",
	 "what the ports say that they carry, in Mbit/s;\n"
	 "default the netdev's, or 10000 where it says none",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_NUMBER, FIELD(speed), .min = 1,
	 .max = 1000000},
	{"isolation", "all|user",
	 "queue pairs that reach each other in a device: all\n"
	 "(default), or those of the same user",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_WORD, FIELD(isolation),
	 .words = "all|user"},
	{"confine", "yes|no", "no: keep all rights, for debuggers; default yes",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_WORD, FIELD(confine),
	 .words = "yes|no"},
	{"on-demand", NULL, "end when the last client is gone",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_SWITCH, FIELD(on_demand)},
	{"ready-fd", "N", "write \"ready\" there too once serving",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_NUMBER, FIELD(ready_fd),
	 .min = 0, .max = 1 << 20},
	{"record", "KIB", "remember what happens, see `uroce record`",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = set_record,
	 .bare = true},
	{"fault", "RULE", "misbehave: uroce-fault(7); may come again",
	 UR_DAEMON_OPTION_ON_LINE, UR_DAEMON_OPTION_OTHER, .take = add_fault},
	{"engines", "N", NULL, UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_OTHER,
	 .take = ignore_engines},
	{"user-engines", "yes|no", NULL, UR_DAEMON_OPTION_BOTH,
	 UR_DAEMON_OPTION_OTHER, .take = ignore_engines},
	{"engine-opt", "LIST", "name=value,... for the engine",
	 UR_DAEMON_OPTION_BOTH, UR_DAEMON_OPTION_TEXT, FIELD(engine)},
	{"set", "IF|* NAME VALUE", NULL, UR_DAEMON_OPTION_IN_FILE,
	 UR_DAEMON_OPTION_OTHER, .take = add_set},
	{"verbose", NULL, "say more on standard error", UR_DAEMON_OPTION_BOTH,
	 UR_DAEMON_OPTION_OTHER, .take = add_verbose, .letter = 'v'},
	{"help", NULL, "print this", UR_DAEMON_OPTION_ON_LINE,
	 UR_DAEMON_OPTION_SWITCH, FIELD(help), .letter = 'h'},
};

const size_t ur_daemon_option_rows = UR_ARRAY_SIZE(ur_daemon_option_table);

_Static_assert(UR_ISOLATION_ALL == 1 && UR_ISOLATION_USER == 2,
	       "the places of the words");
_Static_assert(UR_CONFINE_YES == 1 && UR_CONFINE_NO == 2,
	       "the places of the words");

void ur_daemon_option_usage(void)
{
	puts("Usage: uroced [OPTION]...\n"
	     "A RoCE network card in userspace; serves until a signal ends "
	     "it.\n");
	for (size_t i = 0; i < ur_daemon_option_rows; i++) {
		const struct ur_daemon_option *k = &ur_daemon_option_table[i];
		char form[40];
		const char *line = k->help, *end;

		if (!line || k->absent)
			continue;
		snprintf(form, sizeof(form), "%s--%s%s%s%s",
			 k->letter == 'v'   ? "-v, "
			 : k->letter == 'h' ? "-h, "
					    : "",
			 k->name,
			 k->bare    ? "[="
			 : k->value ? " "
				    : "",
			 k->value ? k->value : "", k->bare ? "]" : "");
		for (; line; line = end ? end + 1 : NULL) {
			end = strchr(line, '\n');
			printf("  %-20s %.*s\n", line == k->help ? form : "",
			       end ? (int)(end - line) : 80, line);
		}
	}
}

/* ---- one value ---- */

static int find_word(const char *words, const char *value)
{
	size_t len;

	for (int n = 1; *words; n++, words += len + (words[len] == '|')) {
		len = strcspn(words, "|");
		if (strlen(value) == len && !strncmp(words, value, len))
			return n;
	}
	return 0;
}

static int set_number(const struct ur_daemon_option *k, int *field,
		      const char *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || n < k->min ||
	    n > k->max)
		return -EINVAL;
	*field = (int)n;
	return 0;
}

int ur_daemon_option_set(struct ur_daemon_options *o,
			 const struct ur_daemon_option *k, const char *value)
{
	void *field = (char *)o + k->field;
	int n;

	switch (k->kind) {
	case UR_DAEMON_OPTION_SWITCH:
		n = value ? find_word("yes|no", value) : 1;
		if (n == 1 && k->absent)
			return -EOPNOTSUPP;
		*(int *)field += n == 1;
		return n ? 0 : -EINVAL;
	case UR_DAEMON_OPTION_TEXT:
		return set_string(field, k->size, value);
	case UR_DAEMON_OPTION_NUMBER:
		return set_number(k, field, value);
	case UR_DAEMON_OPTION_WORD:
		n = find_word(k->words, value);
		if (n)
			*(int *)field = n;
		return n ? 0 : -EINVAL;
	case UR_DAEMON_OPTION_OTHER:
		return k->take(o, value);
	}
	return -EINVAL;
}

bool ur_daemon_option_is_set(const struct ur_daemon_options *o,
			     const struct ur_daemon_option *k)
{
	const void *field = (const char *)o + k->field;

	if (k->kind == UR_DAEMON_OPTION_TEXT)
		return *(const char *)field;
	return (k->kind == UR_DAEMON_OPTION_NUMBER ||
		k->kind == UR_DAEMON_OPTION_WORD) &&
	       *(const int *)field;
}

void ur_daemon_option_explain(const struct ur_daemon_option *k,
			      const char *value)
{
	if (k->absent && (!value || !strcmp(value, "yes"))) {
		fputs("is not in this build of uroced\n", stderr);
		return;
	}
	fprintf(stderr, "'%s': ", value ? value : "");
	if (k->kind == UR_DAEMON_OPTION_NUMBER)
		fprintf(stderr, "not a number from %d to %d\n", k->min, k->max);
	else if (k->kind == UR_DAEMON_OPTION_WORD)
		fprintf(stderr, "not one of %s\n", k->words);
	else if (k->kind == UR_DAEMON_OPTION_SWITCH || k->take == add_verbose)
		fputs("not yes or no\n", stderr);
	else if (k->kind == UR_DAEMON_OPTION_TEXT)
		fprintf(stderr, "empty, or longer than %zu bytes\n",
			k->size - 1);
	else
		fprintf(stderr, "not a usable %s, or too many of them\n",
			k->value);
}
