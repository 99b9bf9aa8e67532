// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Command line and configuration file of uroced. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/options.h"
#include "engine/engine.h"

static const char usage[] =
	"Usage: uroced [OPTION]...\n"
	"A RoCE network card in userspace; serves until a signal ends it.\n"
	"\n"
	"  --netdev IF       a device on this network interface (repeat for\n"
	"                    more); default: the default route's, else lo\n"
	"  --name NAME       what the device of the --netdev before is called;\n"
	"                    default uroce0, uroce1 ...\n"
	"  --only            programs do not see the devices that the host\n"
	"                    really has\n"
	"  --run-dir DIR     socket and files; default /run/uroce as root,\n"
	"                    else $XDG_RUNTIME_DIR/uroce\n"
	"  --config FILE     read these settings from FILE, see uroce.conf(5)\n"
	"  --group NAME      only root and this group may use the device\n"
	"  --roce-v1         RoCEv1 GIDs beside v2; needs CAP_NET_RAW\n"
	"  --raw-ethernet    raw packet queue pairs for programs with\n"
	"                    CAP_NET_RAW; needs it, too\n"
	"  --cm-mode MODE    which of them rdma_cm connects over: v2, or v1\n"
	"  --user-share N    percent of each kind of object that one user may\n"
	"                    have (not root, nor who runs uroced); default 50\n"
	"  --isolation WHO   whom queue pairs reach inside the device: all\n"
	"                    (default), or those of the same user\n"
	"  --confine WHAT    no: keep all rights, for debuggers; default yes\n"
	"  --on-demand       end when the last client is gone\n"
	"  --ready-fd N      write \"ready\" there too once serving\n"
	"  --record[=KIB]    remember what happens, see `uroce record`\n"
	"  --fault RULE      misbehave: uroce-fault(7); may come again\n"
	"  --engines N       threads of each device, 1 to 8; default 1, or a\n"
	"                    quarter of the processors that uroced may use\n"
	"  --engine-opt LIST name=value,... for the engine\n"
	"  -v, --verbose     say more on standard error\n"
	"  -h, --help        this text\n";

static int set_string(char *to, size_t size, const char *value)
{
	if (!*value || strlen(value) >= size)
		return -EINVAL;
	memcpy(to, value, strlen(value) + 1);
	return 0;
}

static int add_netdev(struct ur_daemon_options *o, const char *name)
{
	for (o->last = 0; o->last < o->n_netdevs; o->last++)
		if (!strcmp(o->netdev[o->last], name))
			return 0;
	if (o->n_netdevs == UR_MAX_NETDEVS ||
	    set_string(o->netdev[o->n_netdevs], IF_NAMESIZE, name))
		return -EINVAL;
	o->n_netdevs++;
	return 0;
}

/* Options of the netdev that was named last. */
static int set_name(struct ur_daemon_options *o, const char *name)
{
	char *to = o->name[o->last];

	return *to ? -EINVAL : set_string(to, UR_DEVICE_NAME_MAX, name);
}

/* "IF", or "IF NAME"; what was named already keeps its name. */
static int add_named(struct ur_daemon_options *o, const char *value)
{
	char netdev[IF_NAMESIZE];
	size_t len = strcspn(value, " \t");
	int err;

	if (len >= sizeof(netdev))
		return -EINVAL;
	snprintf(netdev, sizeof(netdev), "%.*s", (int)len, value);
	err = add_netdev(o, netdev);
	value += len + strspn(value + len, " \t");
	if (err || !*value || *o->name[o->last])
		return err;
	return set_name(o, value);
}

/* One more for "yes". */
static int add_yes(int *n, const char *value)
{
	*n += !strcmp(value, "yes");
	return strcmp(value, "yes") && strcmp(value, "no") ? -EINVAL : 0;
}

static int set_cm_mode(struct ur_daemon_options *o, const char *value)
{
	if (strcmp(value, "v1") && strcmp(value, "v2"))
		return -EINVAL;
	o->cm_mode = value[1] - '0';
	return 0;
}

static int set_share(struct ur_daemon_options *o, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || n < 1 || n > 100)
		return -EINVAL;
	o->user_share = (int)n;
	return 0;
}

static int set_engines(struct ur_daemon_options *o, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || n < 1 ||
	    n > (long)UR_ENGINES_MAX)
		return -EINVAL;
	o->engines = (int)n;
	return 0;
}

static int set_isolation(struct ur_daemon_options *o, const char *value)
{
	if (!strcmp(value, "all"))
		o->isolation = UR_ISOLATION_ALL;
	else if (!strcmp(value, "user"))
		o->isolation = UR_ISOLATION_USER;
	else
		return -EINVAL;
	return 0;
}

static int set_confine(struct ur_daemon_options *o, const char *value)
{
	if (!strcmp(value, "yes"))
		o->confine = UR_CONFINE_YES;
	else if (!strcmp(value, "no"))
		o->confine = UR_CONFINE_NO;
	else
		return -EINVAL;
	return 0;
}

static int add_set(struct ur_daemon_options *o, const char *value)
{
	const char *name = strpbrk(value, " \t");

	if (o->n_sets == UR_MAX_SETS || !name || !strpbrk(name + 1, " \t"))
		return -EINVAL;
	return set_string(o->set[o->n_sets++], UR_SET_MAX, value);
}

/* One setting of the file; the command line has spoken where a string is not
 * empty already. */
static int set(struct ur_daemon_options *o, const char *key, const char *value)
{
	if (!strcmp(key, "netdev"))
		return add_named(o, value);
	if (!strcmp(key, "run-dir"))
		return *o->run_dir ? 0
				   : set_string(o->run_dir, sizeof(o->run_dir),
						value);
	if (!strcmp(key, "group"))
		return *o->group
			       ? 0
			       : set_string(o->group, sizeof(o->group), value);
	if (!strcmp(key, "engine-opt"))
		return *o->engine ? 0
				  : set_string(o->engine, sizeof(o->engine),
					       value);
	if (!strcmp(key, "engines"))
		return o->engines ? 0 : set_engines(o, value);
	if (!strcmp(key, "roce-v1"))
		return add_yes(&o->roce_v1, value);
	if (!strcmp(key, "raw-ethernet"))
		return add_yes(&o->raw_ethernet, value);
	if (!strcmp(key, "only"))
		return add_yes(&o->only, value);
	if (!strcmp(key, "cm-mode"))
		return o->cm_mode ? 0 : set_cm_mode(o, value);
	if (!strcmp(key, "user-share"))
		return o->user_share ? 0 : set_share(o, value);
	if (!strcmp(key, "isolation"))
		return o->isolation ? 0 : set_isolation(o, value);
	if (!strcmp(key, "confine"))
		return o->confine ? 0 : set_confine(o, value);
	if (!strcmp(key, "set"))
		return add_set(o, value);
	if (!strcmp(key, "verbose"))
		return add_yes(&o->verbose, value);
	return -ENOENT;
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

static int read_config(struct ur_daemon_options *o)
{
	FILE *f = fopen(o->config, "re");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!f) {
		err = -errno;
		fprintf(stderr, "uroced: %s: %s\n", o->config, strerror(errno));
		return err;
	}
	for (int n = 1; !err && getline(&line, &room, f) >= 0; n++) {
		char *key = trim(line), *eq = strchr(key, '=');

		if (!*key || *key == '#')
			continue;
		if (eq)
			*eq = '\0';
		err = eq ? set(o, trim(key), trim(eq + 1)) : -EINVAL;
		if (err)
			fprintf(stderr, "uroced: %s:%d: %s '%s'\n", o->config,
				n,
				err == -ENOENT ? "no such setting:"
					       : "not a usable value for",
				key);
	}
	free(line);
	fclose(f);
	return err ? -EINVAL : 0;
}

int ur_daemon_options_reread(struct ur_daemon_options *o)
{
	return o->config ? read_config(o) : 0;
}

static int take(struct ur_daemon_options *o, int c)
{
	switch (c) {
	case 'n':
		return add_netdev(o, optarg);
	case 'N':
		return set_name(o, optarg);
	case 'o':
		o->only = 1;
		return 0;
	case 'r':
		return set_string(o->run_dir, sizeof(o->run_dir), optarg);
	case 'g':
		return set_string(o->group, sizeof(o->group), optarg);
	case 'e':
		return set_string(o->engine, sizeof(o->engine), optarg);
	case 'E':
		return set_engines(o, optarg);
	case 'c':
		o->config = optarg;
		return 0;
	case 'd':
		o->on_demand = true;
		return 0;
	case '1':
		o->roce_v1 = 1;
		return 0;
	case 'R':
		o->raw_ethernet = 1;
		return 0;
	case 'm':
		return set_cm_mode(o, optarg);
	case 's':
		return set_share(o, optarg);
	case 'i':
		return set_isolation(o, optarg);
	case 'k':
		return set_confine(o, optarg);
	case 'w':
		o->record = optarg ? optarg : "on";
		return 0;
	case 'F':
		if (o->n_faults == UR_FAULT_OPTIONS)
			return -EINVAL;
		o->fault[o->n_faults++] = optarg;
		return 0;
	case 'f':
		o->ready_fd = atoi(optarg);
		return 0;
	case 'v':
		o->verbose++;
		return 0;
	default:
		return -EINVAL;
	}
}

int ur_daemon_options_parse(int argc, char **argv, struct ur_daemon_options *o)
{
	static const struct option longs[] = {
		{"netdev", required_argument, NULL, 'n'},
		{"name", required_argument, NULL, 'N'},
		{"only", no_argument, NULL, 'o'},
		{"run-dir", required_argument, NULL, 'r'},
		{"config", required_argument, NULL, 'c'},
		{"group", required_argument, NULL, 'g'},
		{"on-demand", no_argument, NULL, 'd'},
		{"roce-v1", no_argument, NULL, '1'},
		{"raw-ethernet", no_argument, NULL, 'R'},
		{"cm-mode", required_argument, NULL, 'm'},
		{"user-share", required_argument, NULL, 's'},
		{"isolation", required_argument, NULL, 'i'},
		{"confine", required_argument, NULL, 'k'},
		{"fault", required_argument, NULL, 'F'},
		{"record", optional_argument, NULL, 'w'},
		{"ready-fd", required_argument, NULL, 'f'},
		{"engines", required_argument, NULL, 'E'},
		{"engine-opt", required_argument, NULL, 'e'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c, err = 0;

	memset(o, 0, sizeof(*o));
	o->ready_fd = -1;
	while (!err && (c = getopt_long(argc, argv, "vh", longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		err = take(o, c);
	}
	if (err || optind != argc) {
		fputs(usage, stderr);
		return -EINVAL;
	}
	err = o->config ? read_config(o) : 0;
	if (!err && o->cm_mode == 1 && o->roce_v1 <= 0) {
		fputs("uroced: --cm-mode v1 takes --roce-v1\n", stderr);
		err = -EINVAL;
	}
	return err ? err : ur_engine_options_check(o->engine);
}
