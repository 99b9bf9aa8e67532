// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mounts of the keeper and of the hosts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fabric/host_files.h"

#define CGROUP	   "/sys/fs/cgroup"
#define HOSTS_FILE "etc-hosts"
#define OWN	   "own"

void ur_fabric_host_run(const struct ur_fabric_dir *paths, unsigned int host,
			char *path, size_t size)
{
	char name[UR_FABRIC_NAME_MAX];

	ur_fabric_host_name(host, name, sizeof(name));
	snprintf(path, size, "%s/%s", paths->run, name);
}

void ur_fabric_own_run(const struct ur_fabric_dir *paths, char *path,
		       size_t size)
{
	snprintf(path, size, "%s/" OWN, paths->run);
}

void ur_fabric_host_log(const struct ur_fabric_dir *paths, unsigned int host,
			char *path, size_t size)
{
	char name[UR_FABRIC_NAME_MAX];

	ur_fabric_host_name(host, name, sizeof(name));
	snprintf(path, size, "%s/%s.log", paths->run, name);
}

/* The first card has the host's name; another card has a name of its own. */
static void print_hosts(FILE *f, const struct ur_fabric_plan *plan)
{
	uint8_t a[4];

	fputs("127.0.0.1 localhost\n::1 localhost ip6-localhost\n", f);
	for (unsigned int host = 1; host <= plan->hosts; host++) {
		for (unsigned int card = 0; card < plan->devices; card++) {
			ur_fabric_ipv4(host, card, a);
			fprintf(f, "%u.%u.%u.%u node%u", a[0], a[1], a[2], a[3],
				host);
			if (card)
				fprintf(f, "-eth%u", card);
			fputc('\n', f);
		}
	}
}

static int write_hosts(const struct ur_fabric_dir *paths,
		       const struct ur_fabric_plan *plan)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/" HOSTS_FILE, paths->run);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	print_hosts(f, plan);
	return fclose(f) || chmod(path, 0644) ? -errno : 0;
}

int ur_fabric_files(const struct ur_fabric_dir *paths,
		    const struct ur_fabric_plan *plan,
		    struct ur_fabric_error *error)
{
	int err;

	/* Later mounts of the machine appear here, ours do not appear there. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return -errno;
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL)) {
		err = -errno;
		/* EPERM has another reason here: a container's /proc is partly hidden
		 * (mount_too_revealing() of the kernel). */
		return ur_fabric_fail(
			error, err,
			"/proc cannot be mounted: in a container it must be "
			"whole (podman run --security-opt unmask=ALL)");
	}
	if (mount("uroce", paths->run, "tmpfs", MS_NOSUID | MS_NODEV,
		  "mode=0700"))
		return ur_fabric_fail(error, -errno, "tmpfs at %s", paths->run);
	err = write_hosts(paths, plan);
	return err ? ur_fabric_fail(error, err, "%s/" HOSTS_FILE, paths->run)
		   : 0;
}

/* Mounts the host's own /sys, for programs that look for interfaces there, with the
 * machine's control groups. A container may forbid that; few programs need it, so a failure
 * is ignored. */
static void mount_sys(void)
{
	int cgroup =
		open_tree(AT_FDCWD, CGROUP,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (!mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   NULL) &&
	    cgroup >= 0)
		(void)move_mount(cgroup, "", AT_FDCWD, CGROUP,
				 MOVE_MOUNT_F_EMPTY_PATH);
	if (cgroup >= 0)
		close(cgroup);
}

static int write_name(const char *path, const char *name)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	fprintf(f, "%s\n", name);
	return fclose(f) || chmod(path, 0644) ? -errno : 0;
}

/* The name is the same in all hosts, since MPI launchers pass the environment of one host
 * to all ranks. */
static int mount_run(const struct ur_fabric_dir *paths, const char *name,
		     struct ur_fabric_error *error)
{
	char path[PATH_MAX], own[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", paths->run, name);
	ur_fabric_own_run(paths, own, sizeof(own));
	if (mkdir(path, 0755) || (mkdir(own, 0755) && errno != EEXIST) ||
	    mount(path, own, NULL, MS_BIND, NULL))
		return ur_fabric_fail(error, -errno, "%s at %s", path, own);
	return 0;
}

int ur_fabric_host_mounts(const struct ur_fabric_dir *paths, const char *name,
			  struct ur_fabric_error *error)
{
	char path[PATH_MAX];
	int err;

	mount_sys();
	err = mount_run(paths, name, error);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/" HOSTS_FILE, paths->run);
	if (mount(path, "/etc/hosts", NULL, MS_BIND, NULL))
		return ur_fabric_fail(error, -errno, "%s's /etc/hosts", name);
	snprintf(path, sizeof(path), "%s/%s.hostname", paths->run, name);
	err = write_name(path, name);
	if (err)
		return ur_fabric_fail(error, err, "%s", path);
	/* Not every machine has that file. */
	if (mount(path, "/etc/hostname", NULL, MS_BIND, NULL) &&
	    errno != ENOENT)
		return ur_fabric_fail(error, -errno, "%s's /etc/hostname",
				      name);
	/* Hosts do not share memory. */
	if (mount("uroce", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV,
		  "mode=1777") &&
	    errno != ENOENT)
		return ur_fabric_fail(error, -errno, "%s's /dev/shm", name);
	return 0;
}
