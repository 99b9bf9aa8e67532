// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce run --mount: the classes of the device in /sys/class, for programs that
 * the front-end does not reach. In a mount namespace of the program's own, where
 * /sys/class is a tmpfs with every class of the host bound into it, since
 * nothing can be made in sysfs itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mount.h"
#include "cli/namespace.h"

#define CLASS "/sys/class"

static const char *const ours[] = {"infiniband", "infiniband_verbs",
				   "infiniband_mad"};

static int own_namespace(void)
{
	/* A user who may have a mount namespace alone keeps all rights. */
	if (unshare(CLONE_NEWNS)) {
		int err = ur_namespace_own(CLONE_NEWNS);

		if (err)
			return err;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ? -errno : 0;
}

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	return false;
}

/* Makes what source is at target: a link to a device of the host leads where it
 * led in host, the /sys/class of before. */
static int bind_mount(const char *source, const char *target, const char *host)
{
	char link[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(source, &st))
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(host, link, sizeof(link) - 1);
		if (n < 0)
			return 0; /* gone meanwhile */
		link[n] = '\0';
		return symlink(link, target) ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode) ? mkdir(target, 0755)
				: mknod(target, S_IFREG | 0444, 0))
		return -errno;
	return mount(source, target, NULL, MS_BIND, NULL) ? -errno : 0;
}

/* Each entry of directory dir, but "." and "..", and of classes none of ours.
 * host: the same directory of before. */
static int show_all(const char *dir, const char *target, const char *host,
		    bool classes)
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
		    (classes && is_ours(name)))
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

static bool has_links(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool any = false;

	while (d && (e = readdir(d)))
		any |= e->d_type == DT_LNK;
	if (d)
		closedir(d);
	return any;
}

static int show_class(const char *run_dir, const char *before, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX], host[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s" CLASS "/%s", run_dir, name) >=
	    (int)sizeof(from))
		return -ENAMETOOLONG;
	snprintf(to, sizeof(to), CLASS "/%s", name);
	snprintf(host, sizeof(host), "%s/%s", before, name);
	/* Shown as a whole, it also shows devices that come later. */
	if (!has_links(from))
		return bind_mount(from, to, host);
	return mkdir(to, 0755) ? -errno : show_all(from, to, host, false);
}

static int make_classes(const char *run_dir)
{
	int before = open(CLASS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	char path[64];

	if (before < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", before);
	if (mount("tmpfs", CLASS, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=755,size=1m"))
		err = -errno;
	if (!err)
		err = show_all(path, CLASS, path, true);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours) && !err; i++)
		err = show_class(run_dir, path, ours[i]);
	close(before);
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
	err = make_classes(options->run_dir);
	if (err)
		ur_complain("run: --mount: " CLASS ": %s", strerror(-err));
	return err;
}
