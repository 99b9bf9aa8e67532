// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names of the virtual RDMA files. No allocation, raw system calls only. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload/rundir_choice.h"
#include "preload/real.h"
#include "preload/rewrite.h"
#include "preload/tunnel.h"

#define NODES	"/dev/infiniband"
#define NETDEVS "/sys/class/net"
#define MODULES "/sys/module"
#define MEMORY	"/sys/kernel/mm"

static const char *const prefixes[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/infiniband_mad",
	"/sys/class/misc/rdma_cm",
	"/sys/devices/pci" UROCE_PCI_DOMAIN ":00",
	"/sys/kernel/config/rdma_cm",
	MODULES "/nvidia_peermem",
	MODULES "/nv_peer_mem",
	MEMORY "/memory_peers",
	NODES,
};

/* Name prefixes of ours in folders that otherwise are the host's. */
static const char *const beginnings[] = {
	"/sys/bus/pci/devices/" UROCE_PCI_DOMAIN ":",
	"/sys/class/pci_bus/" UROCE_PCI_DOMAIN ":",
};

static int stat_raw(int dirfd, const char *name, struct stat *st, int flags)
{
	return (int)syscall(SYS_newfstatat, dirfd, name, st, flags);
}

/* Returns the rest of @name behind @prefix, "" or "/...", or NULL. */
static const char *behind(const char *name, const char *prefix)
{
	while (*prefix) {
		if (*name != *prefix)
			return NULL;
		if (*prefix == '/') /* "//" is "/" */
			while (name[1] == '/')
				name++;
		name++;
		prefix++;
	}
	return *name == '\0' || *name == '/' ? name : NULL;
}

static bool is_node_name(const char *name, uint32_t *kind)
{
	size_t len = strlen(name);

	if (len >= UROCE_TUN_NAME_MAX || strchr(name, '/'))
		return false;
	if (strcmp(name, "rdma_cm") == 0)
		*kind = UROCE_TUN_RDMA_CM;
	else if (strncmp(name, "uverbs", 6) == 0)
		*kind = UROCE_TUN_UVERBS;
	else if (strncmp(name, "umad", 4) == 0)
		*kind = UROCE_TUN_UMAD;
	else
		return false;
	return true;
}

/* If path->target is a placeholder among the nodes, makes path that node. */
static void set_node(struct ur_rewritten *path, const char *node)
{
	if (!is_node_name(node, &path->kind))
		return;
	strcpy(path->node, node);
	path->what = UR_PATH_NODE;
}

static bool same_dir(int dirfd, const char *name)
{
	struct stat a, b;

	return stat_raw(dirfd, dirfd == AT_FDCWD ? "." : "", &a,
			AT_EMPTY_PATH) == 0 &&
	       stat_raw(AT_FDCWD, name, &b, 0) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Counters are files that the device writes before they are read. */
/* Returns whether the name is one of a counter. */
static bool sync_counters(const char *name)
{
	const char *p = strstr(name, "counters");

	for (; p; p = strstr(p + 1, "counters"))
		if ((p[8] == '\0' || p[8] == '/') && p > name &&
		    (p[-1] == '/' || (p[-1] == '_' && p - name > 3 &&
				      strncmp(p - 4, "/hw_", 4) == 0))) {
			ur_tunnel_sync();
			return p[8] == '/' && p[9];
		}
	return false;
}

/* Returns whether the kernel's own devices are hidden. */
static bool is_only(void)
{
	char name[UR_RUNDIR_MAX + sizeof(UROCE_TUN_ONLY) + 1];
	struct stat st;

	strcpy(name, ur_chosen_rundir());
	strcat(name, "/" UROCE_TUN_ONLY);
	return stat_raw(AT_FDCWD, name, &st, 0) == 0;
}

/* Returns whether a name that the tree lacks is hidden from the program. The two folders say that
 * all cards reach GPU memory, so any tree hides them; other names are hidden only with `only`. */
static bool is_known(const char *prefix)
{
	char name[UR_RUNDIR_MAX + sizeof("/sys/class")];
	struct stat st;

	if (strncmp(prefix, MODULES, strlen(MODULES)) &&
	    strncmp(prefix, MEMORY, strlen(MEMORY)))
		return is_only();
	strcpy(name, ur_chosen_rundir());
	strcat(name, "/sys/class");
	return stat_raw(AT_FDCWD, name, &st, 0) == 0;
}

/* @rest: the name below the tree, from the prefix on. */
static void enter_tree(struct ur_rewritten *path, const char *prefix,
		       const char *rest)
{
	const char *dir = ur_chosen_rundir();
	struct stat st;

	if (strlen(dir) + strlen(prefix) + strlen(rest) >= sizeof(path->buf))
		return;
	strcpy(path->buf, dir);
	strcat(path->buf, prefix);
	strcat(path->buf, rest);
	if (stat_raw(AT_FDCWD, path->buf, &st, AT_SYMLINK_NOFOLLOW)) {
		if (!is_known(prefix))
			return;
		st.st_mode = 0;
	}
	path->target = path->buf;
	path->dirfd = AT_FDCWD;
	path->what = UR_PATH_TREE;
	if (S_ISREG(st.st_mode) && strcmp(prefix, NODES) == 0) {
		while (*rest == '/')
			rest++;
		set_node(path, rest);
	} else if (!*prefix || prefix[1] == 's') {
		path->counter = sync_counters(rest);
	}
}

/* Handles a name relative to the directory of nodes, as find(1) and ls(1)
 * use. */
static void enter_nodes_dir(struct ur_rewritten *path, int dirfd,
			    const char *name)
{
	char dir[UR_RUNDIR_MAX + sizeof(NODES)];
	struct stat st;
	uint32_t kind;

	if (!is_node_name(name, &kind))
		return;
	strcpy(dir, ur_chosen_rundir());
	strcat(dir, NODES);
	if (!same_dir(dirfd, dir) ||
	    stat_raw(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return;
	path->what = UR_PATH_TREE;
	set_node(path, name);
}

/* Handles settings that a card has below its interface; nothing else there is
 * ours. */
static void enter_netdev(struct ur_rewritten *path, const char *name)
{
	const char *rest = behind(name, NETDEVS), *p = rest;

	if (!rest)
		return;
	while (*p == '/')
		p++;
	while (*p && *p != '/')
		p++;
	while (*p == '/' && p[1] == '/')
		p++;
	if (!strncmp(p, "/ecn", 4) && (!p[4] || p[4] == '/')) {
		ur_choose_rundir();
		enter_tree(path, NETDEVS, rest);
	}
}

void ur_rewrite_slow(struct ur_rewritten *path, int dirfd, const char *name)
{
	int saved = errno;
	const char *rest;
	char slashed[64];

	if (name[0] == '/') {
		const char *p = name;

		while (p[1] == '/')
			p++;
		if (strncmp(p, "/sys", 4) && strncmp(p, "/dev", 4)) {
			/* Results of glob() and the like may name the tree
			 * itself. */
			p = ur_chosen_rundir_tail(name);
			if (!p)
				return;
		}
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes);
		     i++) {
			rest = behind(p, prefixes[i]);
			if (rest) {
				ur_choose_rundir();
				enter_tree(path, prefixes[i], rest);
				errno = saved;
				return;
			}
		}
		for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings);
		     i++)
			if (!strncmp(p, beginnings[i], strlen(beginnings[i]))) {
				ur_choose_rundir();
				enter_tree(path, "", p);
			}
		enter_netdev(path, p);
		errno = saved;
	} else if (strncmp(name, "sys/", 4) == 0 ||
		   strncmp(name, "dev/", 4) == 0) {
		/* hwloc uses names relative to a descriptor of "/". */
		size_t n = strnlen(name, sizeof(slashed) - 2);

		slashed[0] = '/';
		memcpy(slashed + 1, name, n);
		slashed[n + 1] = '\0';
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes);
		     i++) {
			size_t len = strlen(prefixes[i]);

			if (strncmp(slashed, prefixes[i], len) ||
			    (slashed[len] && slashed[len] != '/'))
				continue;
			if (same_dir(dirfd, "/")) {
				ur_choose_rundir();
				enter_tree(path, prefixes[i], name + len - 1);
			}
			break;
		}
	} else {
		enter_nodes_dir(path, dirfd, name);
	}
	errno = saved;
}

void ur_rewrite_pattern(struct ur_rewritten *path, const char *pattern)
{
	const char *rest;

	path->target = pattern;
	path->dirfd = AT_FDCWD;
	path->what = UR_PATH_FOREIGN;
	if (!pattern || pattern[0] != '/')
		return;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		rest = behind(pattern, prefixes[i]);
		if (!rest)
			continue;
		ur_rewrite_slow(path, AT_FDCWD, prefixes[i]);
		if (path->what != UR_PATH_FOREIGN &&
		    strlen(path->buf) + strlen(rest) < sizeof(path->buf))
			strcat(path->buf, rest);
		break;
	}
}

uint64_t ur_rewrite_node_rdev(const struct ur_rewritten *path)
{
	unsigned int number[2] = {0, 0};
	char text[32];
	int fd, which = 0;
	long n;

	fd = (int)syscall(SYS_openat, path->dirfd, path->target,
			  O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = syscall(SYS_read, fd, text, sizeof(text));
	syscall(SYS_close, fd);
	for (long i = 0; i < n; i++) {
		if (text[i] == ':' && which == 0)
			which = 1;
		else if (text[i] >= '0' && text[i] <= '9')
			number[which] = number[which] * 10 +
					(unsigned int)(text[i] - '0');
		else
			break;
	}
	return which ? makedev(number[0], number[1]) : 0;
}

bool ur_rewrite_back(char *name)
{
	char resolved[PATH_MAX];
	const char *dir = ur_chosen_rundir();
	size_t len = strlen(dir);

	if (strncmp(name, dir, len) || name[len] != '/') {
		/* The run directory's name may contain a link. */
		if (!ur_real(realpath)(dir, resolved))
			return false;
		len = strlen(resolved);
		if (strncmp(name, resolved, len) || name[len] != '/')
			return false;
	}
	if (!behind(name + len, "/sys") && !behind(name + len, "/dev"))
		return false;
	memmove(name, name + len, strlen(name + len) + 1);
	return true;
}
