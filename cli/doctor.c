/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uroce doctor: looks at everything that can be wrong before the first packet,
 * and says for each what to type. What lies between two machines is for
 * `uroce ping`.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/elf.h"
#include "cli/environment.h"
#include "cli/port.h"
#include "cli/status.h"

/* Private ABI numbers of libibverbs that have been, and some to come. */
#define PABI_FIRST 34
#define PABI_LAST  80

/* libibverbs itself warns below this (its init.c). */
#define MEMLOCK_MIN 32768

struct doctor {
	const struct ur_options *options;
	struct json_object *findings;
	int problems;
};

/* @todo: NULL where all is well; state "ok", "note" or "problem". */
__attribute__((format(printf, 5, 6))) static void
say(struct doctor *doctor, const char *check, const char *state,
    const char *todo, const char *format, ...)
{
	struct json_object *o;
	char what[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	doctor->problems += strcmp(state, "problem") == 0;
	if (!doctor->options->json) {
		printf("%-8s %-10s %s\n", state, check, what);
		if (todo)
			printf("%-19s -> %s\n", "", todo);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "check", json_object_new_string(check));
	json_object_object_add(o, "state", json_object_new_string(state));
	json_object_object_add(o, "what", json_object_new_string(what));
	if (todo)
		json_object_object_add(o, "todo", json_object_new_string(todo));
	json_object_array_add(doctor->findings, o);
}

static void check_preload(struct doctor *doctor)
{
	char path[PATH_MAX];

	if (ur_environment_library(path, sizeof(path)))
		say(doctor, "preload", "problem",
		    "apt-get install liburoce-preload",
		    "liburoce-preload.so is not installed");
	else
		say(doctor, "preload", "ok", NULL, "%s", path);
}

/* The private ABI that the system's libibverbs offers to providers, or 0. */
static int private_abi(void)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY);
	char name[64];

	for (int n = PABI_FIRST; lib && n <= PABI_LAST; n++) {
		snprintf(name, sizeof(name), "verbs_register_driver_%d", n);
		if (dlsym(lib, name))
			return n;
	}
	return lib ? 0 : -1;
}

static bool has_provider(int abi, char *path, size_t size)
{
	static const char *const places[] = {"", "/../libibverbs"};
	char dir[PATH_MAX];
	char *slash;

	if (ur_environment_library(dir, sizeof(dir)))
		return false;
	slash = strrchr(dir, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, size, "%s%s/liburoce-rdmav%d.so", dir, places[i],
			 abi);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void check_verbs(struct doctor *doctor)
{
	char path[PATH_MAX + 64];
	int abi = private_abi();

	if (abi < 0)
		say(doctor, "libibverbs", "problem",
		    "apt-get install libibverbs1 (Fedora: dnf install "
		    "libibverbs)",
		    "libibverbs.so.1 is not installed");
	else if (abi == 0)
		say(doctor, "libibverbs", "problem",
		    "use a libibverbs of rdma-core 26 or later",
		    "this libibverbs takes no providers that we know");
	else if (!has_provider(abi, path, sizeof(path)))
		say(doctor, "libibverbs", "problem",
		    "apt-get install uroce-ibverbs-provider, of the same "
		    "release as libibverbs",
		    "no provider for this libibverbs (private ABI %d)", abi);
	else
		say(doctor, "libibverbs", "ok", NULL, "private ABI %d, %s", abi,
		    path);
}

static void check_run_dir(struct doctor *doctor)
{
	const char *dir = doctor->options->run_dir;
	struct stat st;

	if (stat(dir, &st)) {
		if (errno == ENOENT)
			say(doctor, "run-dir", "note", NULL,
			    "%s will be made when needed", dir);
		else
			say(doctor, "run-dir", "problem",
			    "name another directory with --run-dir or "
			    "UROCE_RUN_DIR",
			    "%s: %s", dir, strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		say(doctor, "run-dir", "problem",
		    "name another with --run-dir or UROCE_RUN_DIR",
		    "%s is not a directory", dir);
	} else if (access(dir, X_OK | R_OK)) {
		say(doctor, "run-dir", "problem",
		    "ask its owner for access, or name another with --run-dir",
		    "%s: %s", dir, strerror(errno));
	} else if (st.st_uid != geteuid() && st.st_uid) {
		say(doctor, "run-dir", "problem",
		    "name a directory of your own with --run-dir",
		    "%s belongs to user %u", dir, st.st_uid);
	} else {
		say(doctor, "run-dir", "ok", NULL, "%s", dir);
	}
}

static void check_limits(struct doctor *doctor)
{
	struct rlimit lim;

	if (geteuid() && getrlimit(RLIMIT_MEMLOCK, &lim) == 0 &&
	    lim.rlim_cur <= MEMLOCK_MIN)
		say(doctor, "memlock", "problem",
		    "ulimit -l unlimited, or 'memlock' in "
		    "/etc/security/limits.conf",
		    "only %llu bytes may be locked: programs that lock their "
		    "buffers fail",
		    (unsigned long long)lim.rlim_cur);
	else
		say(doctor, "memlock", "ok", NULL, "enough may be locked");
	if (access("/proc/self/mem", R_OK | W_OK))
		say(doctor, "proc", "problem",
		    "mount /proc in this container: mount -t proc proc /proc",
		    "/proc/self/mem: %s", strerror(errno));
}

static void check_program(struct doctor *doctor, const char *program)
{
	char path[PATH_MAX];

	switch (ur_elf_kind(program, path, sizeof(path))) {
	case UR_ELF_DYNAMIC:
		say(doctor, "program", "ok", NULL, "%s", path);
		break;
	case UR_ELF_STATIC:
		say(doctor, "program", "problem",
		    "use a dynamically linked build of it",
		    "%s is statically linked: no library can be put in front "
		    "of it",
		    path);
		break;
	case UR_ELF_PRIVILEGED:
		say(doctor, "program", "problem",
		    "run a copy without the setuid bit and capabilities, as "
		    "the user that it needs",
		    "%s runs with more rights than you have: the dynamic "
		    "linker ignores LD_PRELOAD",
		    path);
		break;
	case UR_ELF_OTHER:
		say(doctor, "program", "note", NULL,
		    "%s is a script or of another kind; look at what it runs",
		    path);
		break;
	case UR_ELF_MISSING:
		say(doctor, "program", "problem",
		    "give its full name, or install it", "%s is not there",
		    path);
		break;
	}
}

/* The interface that a device would be on: named, default route's, lo. */
static void choose_netdev(const struct ur_options *options, char name[IFNAMSIZ])
{
	char line[256], netdev[64];
	unsigned int dest, mask;
	FILE *f;

	snprintf(name, IFNAMSIZ, "%s", "lo");
	if (options->netdevs) {
		snprintf(name, IFNAMSIZ, "%s", options->netdev[0]);
		return;
	}
	f = fopen("/proc/net/route", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %x %*x %*x %*d %*d %*d %x", netdev,
			   &dest, &mask) == 3 &&
		    !dest && !mask)
			snprintf(name, IFNAMSIZ, "%.15s", netdev);
	if (f)
		fclose(f);
}

static bool is_taken(const struct sockaddr *sa)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (sa->sa_family == AF_INET) {
		in = *(const struct sockaddr_in *)sa;
		in.sin_port = htons(UR_ROCE_PORT);
		return ur_port_taken((struct sockaddr *)&in, sizeof(in));
	}
	in6 = *(const struct sockaddr_in6 *)sa;
	in6.sin6_port = htons(UR_ROCE_PORT);
	return ur_port_taken((struct sockaddr *)&in6, sizeof(in6));
}

static bool is_link_local(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(
		       &((const struct sockaddr_in6 *)sa)->sin6_addr);
}

/* No device yet: can one be started here? */
static void check_netdev(struct doctor *doctor)
{
	struct ifaddrs *list = NULL, *i;
	char name[IFNAMSIZ], owner[64];
	int addresses = 0, wanted = 0, taken = 0;
	bool up = false;

	choose_netdev(doctor->options, name);
	if (!if_nametoindex(name)) {
		say(doctor, "netdev", "problem", "ip link, and --netdev IF",
		    "there is no interface %s", name);
		return;
	}
	getifaddrs(&list);
	for (i = list; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, name))
			continue;
		up |= (i->ifa_flags & IFF_UP) != 0;
		if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET &&
				     i->ifa_addr->sa_family != AF_INET6))
			continue;
		addresses++;
		/* Link-local ones come late and are seldom what one wants. */
		if (is_link_local(i->ifa_addr))
			continue;
		wanted++;
		taken += is_taken(i->ifa_addr);
	}
	freeifaddrs(list);
	if (!up)
		say(doctor, "netdev", "problem", "ip link set IF up",
		    "%s is down", name);
	else if (!addresses)
		say(doctor, "netdev", "problem",
		    "ip address add ADDRESS/BITS dev IF",
		    "%s has no address, so there is no GID", name);
	else if (taken && taken == wanted)
		say(doctor, "port", "problem",
		    "stop it, or use its run directory, or another --netdev",
		    "UDP port %d of %s is taken by %s", UR_ROCE_PORT, name,
		    ur_port_owner(owner, sizeof(owner))
			    ? owner
			    : "another user's program or the kernel's Soft-RoCE");
	else
		say(doctor, "netdev", "ok", NULL,
		    "a device can be started on %s", name);
}

static void check_device(struct doctor *doctor, struct json_object *device)
{
	const char *name = ur_json_text(device, "name");
	const char *netdev = ur_json_text(device, "netdev");
	int64_t mtu = ur_json_number(device, "active_mtu");
	size_t gids;

	ur_json_array(device, "gids", &gids);
	if (strcmp(ur_json_text(device, "state"), "ACTIVE"))
		say(doctor, "device", "problem", "ip link set IF up",
		    "%s: its port is %s because %s is", name,
		    ur_json_text(device, "state"), netdev);
	else if (!gids)
		say(doctor, "device", "problem",
		    "ip address add ADDRESS/BITS dev IF; uroce's log says "
		    "where port 4791 is taken",
		    "%s has no usable GID: %s has no address that could be "
		    "served",
		    name, netdev);
	else if (mtu < 1024)
		say(doctor, "device", "problem",
		    "ip link set IF mtu 1500 (9000 for an active MTU of 4096)",
		    "%s: %s carries only packets of %" PRId64
		    "; programs ask for 1024",
		    name, netdev, mtu);
	else
		say(doctor, "device", "ok", NULL,
		    "%s on %s, MTU %" PRId64 ", %zu GIDs", name, netdev, mtu,
		    gids);
}

static void check_twins(struct doctor *doctor, struct json_object *devices,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct json_object *a = json_object_array_get_idx(devices, i);

		for (size_t j = i + 1; j < count; j++) {
			struct json_object *b =
				json_object_array_get_idx(devices, j);

			if (!strcmp(ur_json_text(a, "netdev"),
				    ur_json_text(b, "netdev")) ||
			    !strcmp(ur_json_text(a, "node_guid"),
				    ur_json_text(b, "node_guid")))
				say(doctor, "device", "problem",
				    "name each --netdev once; give each "
				    "interface its own MAC address",
				    "%s and %s are the same twice",
				    ur_json_text(a, "name"),
				    ur_json_text(b, "name"));
		}
	}
}

static void check_devices(struct doctor *doctor)
{
	struct json_object *status, *devices;
	size_t count;
	int sock;

	sock = ur_client_connect(doctor->options->run_dir);
	if (sock == -EACCES || sock == -EPERM) {
		say(doctor, "daemon", "problem",
		    "ask for access to its socket, or use a device of your "
		    "own: --run-dir",
		    "the device of %s refuses us: %s", doctor->options->run_dir,
		    strerror(-sock));
		return;
	}
	if (sock < 0) {
		say(doctor, "daemon", "note",
		    "uroce run -- PROGRAM starts one, uroced one that stays",
		    "no device is running");
		check_netdev(doctor);
		return;
	}
	close(sock);
	status = ur_status_get(doctor->options, "");
	if (!status) {
		doctor->problems++;
		return;
	}
	say(doctor, "daemon", "ok", NULL, "running, process %" PRId64,
	    ur_json_number(status, "pid"));
	devices = ur_json_array(status, "devices", &count);
	for (size_t i = 0; i < count; i++)
		check_device(doctor, json_object_array_get_idx(devices, i));
	check_twins(doctor, devices, count);
	json_object_put(status);
}

int ur_cmd_doctor(struct ur_options *options)
{
	struct doctor doctor = {.options = options};

	doctor.findings = json_object_new_array();
	check_preload(&doctor);
	check_verbs(&doctor);
	check_run_dir(&doctor);
	check_limits(&doctor);
	check_devices(&doctor);
	for (int i = 0; i < options->rest_count; i++)
		check_program(&doctor, options->rest[i]);
	if (options->json)
		ur_json_print(doctor.findings);
	json_object_put(doctor.findings);
	return doctor.problems ? UR_EXIT_FAILED : 0;
}
