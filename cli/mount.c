// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce run --mount and uroce enable --host --mount: show the device to programs that the
 * front-end does not reach: its classes in /sys/class, the targets of their links in
 * /sys/devices, and its functions in those of the PCI bus (of which the front-end lists
 * only the host's). This is done in a mount namespace of the program, or in the host's.
 * Since nothing can be made in sysfs itself, each folder becomes a tmpfs into which the
 * host's entries are bound.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mount.h"
#include "cli/namespace.h"
#include "kernel-abi/uroce-tunnel.h"
#include "util/os/rundir.h"

#define ENTRIES 3

/* The name of our file systems in /proc/self/mounts. */
#define SOURCE "uroce"

/* A folder of sysfs, and our entries in it; none: all entries of the device's folder of
 * that name. */
struct folder {
	const char *name, *ours[ENTRIES];
};

static const struct folder folders[] = {
	{"/sys/devices", {"pci" UROCE_PCI_DOMAIN ":00"}},
	{"/sys/class", {"infiniband", "infiniband_verbs", "infiniband_mad"}},
	{"/sys/bus/pci/devices", {NULL}},
};

static int own_namespace(void)
{
	/* A user who may make a mount namespace needs no user namespace, and keeps all
	 * rights. */
	if (unshare(CLONE_NEWNS)) {
		int err = ur_namespace_own(CLONE_NEWNS);

		if (err)
			return err;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ? -errno : 0;
}

static bool is_ours(const struct folder *folder, const char *name)
{
	for (size_t i = 0; i < ENTRIES && folder->ours[i]; i++)
		if (!strcmp(name, folder->ours[i]))
			return true;
	return false;
}

/* Reads a link into target. Returns whether it leads to a host device. */
static bool read_link(const char *path, char target[PATH_MAX])
{
	ssize_t n = readlink(path, target, PATH_MAX - 1);

	target[n < 0 ? 0 : n] = '\0';
	return target[0] == '/';
}

/* Recreates source at target. A link to a host device is copied from host, the original
 * folder. */
static int bind_mount(const char *source, const char *target, const char *host)
{
	char link[PATH_MAX];
	struct stat st;

	if (lstat(source, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		if (read_link(source, link))
			read_link(host, link);
		if (!*link)
			return 0; /* removed meanwhile */
		return symlink(link, target) ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode) ? mkdir(target, 0755)
				: mknod(target, S_IFREG | 0444, 0))
		return -errno;
	return mount(source, target, NULL, MS_BIND, NULL) ? -errno : 0;
}

/* Shows each entry of directory dir except our entries of folder, if folder is not NULL.
 * host: the original directory. */
static int show_all(const char *dir, const char *target, const char *host,
		    const struct folder *folder)
{
	char from[PATH_MAX], to[PATH_MAX], was[PATH_MAX];
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		const char *name = e->d_name;

		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    (folder && is_ours(folder, name)))
			continue;
		if (snprintf(from, sizeof(from), "%s/%s", dir, name) >=
			    (int)sizeof(from) ||
		    snprintf(was, sizeof(was), "%s/%s", host, name) >=
			    (int)sizeof(was) ||
		    snprintf(to, sizeof(to), "%s/%s", target, name) >=
			    (int)sizeof(to))
			err = -ENAMETOOLONG;
		else
			err = bind_mount(from, to, was);
	}
	closedir(d);
	return err;
}

static bool has_host_links(const char *dir)
{
	char path[2 * PATH_MAX], target[PATH_MAX];
	DIR *d = opendir(dir);
	struct dirent *e;
	bool any = false;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		any |= e->d_type == DT_LNK && read_link(path, target);
	}
	if (d)
		closedir(d);
	return any;
}

static int show_ours(const char *run_dir, const struct folder *folder,
		     const char *before, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX], host[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s%s/%s", run_dir, folder->name,
		     name) >= (int)sizeof(from))
		return -ENAMETOOLONG;
	snprintf(to, sizeof(to), "%s/%s", folder->name, name);
	snprintf(host, sizeof(host), "%s/%s", before, name);
	/* A folder that is bound as a whole also shows later devices. */
	if (!has_host_links(from))
		return bind_mount(from, to, host);
	return mkdir(to, 0755) ? -errno : show_all(from, to, host, NULL);
}

static int show_functions(const char *run_dir, const struct folder *folder)
{
	char from[PATH_MAX];
	int err;

	if (snprintf(from, sizeof(from), "%s%s", run_dir, folder->name) >=
	    (int)sizeof(from))
		return -ENAMETOOLONG;
	err = show_all(from, folder->name, from, NULL);
	return err == -ENOENT ? 0 : err; /* no device */
}

static int make_folder(const char *run_dir, const struct folder *folder)
{
	int before = open(folder->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[64];
	int err = 0;

	/* The machine has no PCI bus. */
	if (before < 0)
		return errno == ENOENT && !folder->ours[0] ? 0 : -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", before);
	if (mount(SOURCE, folder->name, "tmpfs",
		  MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=1m"))
		err = -errno;
	if (!err)
		err = show_all(path, folder->name, path, folder);
	if (!err && !folder->ours[0])
		err = show_functions(run_dir, folder);
	for (size_t i = 0; i < ENTRIES && folder->ours[i] && !err; i++)
		err = show_ours(run_dir, folder, path, folder->ours[i]);
	close(before);
	return err;
}

static int make_folders(const char *command, const char *run_dir)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !err;
	     i++) {
		err = make_folder(run_dir, &folders[i]);
		if (err)
			ur_complain("%s: --mount: %s: %s", command,
				    folders[i].name, strerror(-err));
	}
	return err;
}

int ur_mount(const struct ur_options *options)
{
	int err;

	if (!options->mount)
		return 0;
	err = own_namespace();
	if (err) {
		ur_complain("run: --mount needs a mount namespace, which this "
			    "user cannot have here: %s; run it as root, or "
			    "allow user namespaces (sysctl "
			    "user.max_user_namespaces, "
			    "kernel.unprivileged_userns_clone, "
			    "kernel.apparmor_restrict_unprivileged_userns)",
			    strerror(-err));
		return err;
	}
	return make_folders("run", options->run_dir);
}

/* Returns whether our file system is mounted on top of that folder. */
static bool is_mounted(const char *folder)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *e;
	bool ret = false;

	while (f && (e = getmntent(f)))
		if (!strcmp(e->mnt_dir, folder))
			ret = !strcmp(e->mnt_fsname, SOURCE);
	if (f)
		endmntent(f);
	return ret;
}

int ur_mount_host(void)
{
	int err = ur_unmount_host();

	if (!err)
		err = make_folders("enable", UR_RUNDIR_HOST);
	if (err)
		ur_unmount_host();
	return err;
}

int ur_unmount_host(void)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		while (is_mounted(folders[i].name))
			if (umount2(folders[i].name, MNT_DETACH)) {
				int err = -errno;

				ur_complain("%s: %s", folders[i].name,
					    strerror(-err));
				return err;
			}
	return 0;
}
