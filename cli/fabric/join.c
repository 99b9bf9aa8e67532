// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Joins a host. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/fabric/fabric.h"
#include "cli/fabric/host_files.h"

/* setns(2) fails for our own user namespace. */
static bool is_own_user_namespace(int fd)
{
	struct stat own, other;

	return !stat("/proc/self/ns/user", &own) && !fstat(fd, &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

static int enter(const int ns[UR_FABRIC_NS_COUNT])
{
	static const int kinds[UR_FABRIC_NS_COUNT] = {
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS,
		CLONE_NEWUTS,  CLONE_NEWIPC, CLONE_NEWNET};

	for (int i = 0; i < UR_FABRIC_NS_COUNT; i++) {
		if (i == UR_FABRIC_NS_USER && is_own_user_namespace(ns[i]))
			continue;
		if (setns(ns[i], kinds[i]))
			return -errno;
	}
	return 0;
}

static int set_environment(struct ur_fabric *fabric, unsigned int host)
{
	char run[PATH_MAX];

	if (setenv(UR_FABRIC_VARIABLE, fabric->paths.dir, 1))
		return -errno;
	/* The switch has no device. */
	if (!host)
		return unsetenv("UROCE_RUN_DIR") ? -errno : 0;
	ur_fabric_own_run(&fabric->paths, run, sizeof(run));
	return ur_environment_set(run);
}

int ur_fabric_join(struct ur_fabric *fabric, unsigned int host)
{
	struct ur_fabric_request request = {.op = UR_FABRIC_JOIN, .host = host};
	struct ur_fabric_answer answer;
	bool inside = getenv(UR_FABRIC_VARIABLE);
	int ns[UR_FABRIC_NS_COUNT], err;
	char dir[PATH_MAX];

	err = ur_fabric_ask(fabric->sock, &request, &answer, ns);
	if (err)
		return err;
	if (!getcwd(dir, sizeof(dir)))
		strcpy(dir, "/");
	/* Finds the library before the mounts, and with them /proc, change. */
	err = set_environment(fabric, host);
	if (!err) {
		err = enter(ns);
		if (err)
			ur_complain("fabric: cannot go into a host: %s%s",
				    strerror(-err),
				    inside && err == -EPERM
					    ? "; from a host of one fabric "
					      "there is no way to another's"
					    : "");
	}
	for (int i = 0; i < UR_FABRIC_NS_COUNT; i++)
		close(ns[i]);
	if (!err && chdir(dir) && chdir("/"))
		err = -errno;
	return err;
}
