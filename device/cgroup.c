// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory limits from our control group up to the root of its hierarchy. In a container the
 * visible hierarchy begins at the container's own group; limits above that are invisible.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "device/cgroup.h"

/* Returns whether one of the words, separated by commas, is "memory". */
static bool has_memory(const char *words)
{
	static const char name[] = "memory";
	size_t n;

	for (; *words; words += n + (words[n] == ',')) {
		n = strcspn(words, ",\n");
		if (n == sizeof(name) - 1 && !memcmp(words, name, n))
			return true;
		if (words[n] == '\n')
			break;
	}
	return false;
}

/* Another mount may hide it. */
static bool is_there(const char *point)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/cgroup.procs", point);
	return !access(path, F_OK);
}

static void parse_mount(const char *line, struct ur_cgroup *cg)
{
	const char *rest = strstr(line, " - ");
	struct ur_cgroup_mount *m;
	char type[16], options[256];

	if (!rest || sscanf(rest, " - %15s %*s %255s", type, options) != 2)
		return;
	if (!strcmp(type, "cgroup2"))
		m = &cg->v2;
	else if (!strcmp(type, "cgroup") && has_memory(options))
		m = &cg->v1;
	else
		return;
	if (sscanf(line, "%*s %*s %*s %4095s %4095s", m->root, m->point) != 2 ||
	    !is_there(m->point))
		m->point[0] = 0;
}

void ur_cgroup_find(struct ur_cgroup *cg, const char *mountinfo)
{
	FILE *f = fopen(mountinfo, "re");
	char *line = NULL;
	size_t room = 0;

	cg->v1.point[0] = cg->v2.point[0] = 0;
	while (f && getline(&line, &room, f) > 0)
		parse_mount(line, cg);
	free(line);
	if (f)
		fclose(f);
}

/* The descriptor stays open for as long as the process lives. */
static void mount_one(struct ur_cgroup_mount *m, const char *type,
		      const char *option)
{
	int fs = fsopen(type, FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return;
	if ((!option || !fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0)) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	close(fs);
	if (fd < 0)
		return;
	strcpy(m->root, "/");
	snprintf(m->point, sizeof(m->point), "/proc/self/fd/%d", fd);
}

void ur_cgroup_mount(struct ur_cgroup *cg)
{
	if (cg->v1.point[0] || cg->v2.point[0])
		return;
	mount_one(&cg->v2, "cgroup2", NULL);
	mount_one(&cg->v1, "cgroup", "memory");
}

/* Returns the part of path below root: it begins with '/' or is empty. Empty, too, if path
 * is not below root, as can happen in a container. */
static const char *below(const char *root, const char *path)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, n) || (path[n] && path[n] != '/') ||
	    strstr(path, "/.."))
		return "";
	path += n;
	return strcmp(path, "/") ? path : "";
}

/* Reads the file of a limit; "max" is none. */
static u64 read_limit(const char *folder, const char *name)
{
	char path[PATH_MAX + 32];
	unsigned long long bytes;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%llu", &bytes) != 1)
		bytes = UINT64_MAX;
	fclose(f);
	return bytes;
}

static u64 least(const struct ur_cgroup_mount *m, const char *group,
		 const char *name)
{
	size_t top = strlen(m->point);
	u64 bytes = UINT64_MAX;
	char at[PATH_MAX];
	int n = snprintf(at, sizeof(at), "%s%s", m->point,
			 below(m->root, group));

	if (n < 0 || (size_t)n >= sizeof(at))
		at[top] = 0;
	for (;; *strrchr(at, '/') = 0) {
		bytes = ur_min_u64(bytes, read_limit(at, name));
		if (strlen(at) <= top)
			return bytes;
	}
}

/* Returns the lowest limit for a line "NUMBER:CONTROLLERS:PATH"; version 2 lists no
 * controllers. */
static u64 least_of(const struct ur_cgroup *cg, char *line)
{
	char *list = strchr(line, ':');
	char *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return UINT64_MAX;
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	if (list[1] && (!cg->v1.point[0] || !has_memory(list + 1)))
		return UINT64_MAX;
	if (list[1])
		return least(&cg->v1, path, "memory.limit_in_bytes");
	if (!cg->v2.point[0])
		return UINT64_MAX;
	return ur_min_u64(least(&cg->v2, path, "memory.max"),
			  least(&cg->v2, path, "memory.high"));
}

u64 ur_cgroup_memory(const struct ur_cgroup *cg, const char *cgroup)
{
	FILE *f = fopen(cgroup, "re");
	u64 bytes = UINT64_MAX;
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		bytes = ur_min_u64(bytes, least_of(cg, line));
	free(line);
	if (f)
		fclose(f);
	return bytes;
}
