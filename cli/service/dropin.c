// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Writes, finds and removes our drop-ins for systemd services. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/service/dropin.h"
#include "cli/service/unit.h"

#define FOLDER "/etc/systemd/system"
/* The first line marks our files. */
#define MARK "# uroce enable --service: this service's programs see the device."
/* device/uroced.service.in */
#define SERVICE	    "uroced.service"
#define SERVICE_DIR "/run/uroce"

static void folder_of(const char *root, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s" FOLDER "/%s.d", root, name);
}

static void path_of(const char *root, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s" FOLDER "/%s.d/" UR_UNIT_DROPIN, root,
		 name);
}

/* Returns 0, -ENOENT, -EEXIST (not ours) or another -errno. */
static int check_ours(const char *path)
{
	char line[sizeof(MARK) + 1];
	bool ours;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	ours = fgets(line, sizeof(line), f) &&
	       !strncmp(line, MARK, strlen(MARK));
	fclose(f);
	return ours ? 0 : -EEXIST;
}

/* Escapes as in systemd.unit(5): "%" is doubled. */
static void print_assignment(FILE *f, const char *name, const char *value)
{
	fprintf(f, "Environment=\"%s=", name);
	for (; *value; value++) {
		if (strchr("\"\\", *value))
			putc('\\', f);
		else if (*value == '%')
			putc('%', f);
		putc(*value, f);
	}
	fputs("\"\n", f);
}

static void print_dropin(FILE *f, const struct ur_unit *unit,
			 const char *preload, const char *run_dir, bool after)
{
	fprintf(f, MARK "\n# uroce disable --service %s: undoes it.\n",
		unit->name);
	if (after)
		fputs("[Unit]\nWants=" SERVICE "\nAfter=" SERVICE "\n", f);
	fputs("[Service]\n", f);
	print_assignment(f, "LD_PRELOAD", preload);
	print_assignment(f, "UROCE_RUN_DIR", run_dir);
}

static int make_folder(const char *root, const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" FOLDER, root);
	if (access(path, F_OK))
		return -errno;
	return mkdir(folder, 0755) && errno != EEXIST ? -errno : 0;
}

/* Puts the complete file in its place, or leaves the old one. */
static int put(FILE *f, int fd, const char *temporary, const char *path)
{
	int err = 0;

	if (fflush(f) || ferror(f) || fchmod(fd, 0644) || fsync(fd) ||
	    rename(temporary, path))
		err = errno ? -errno : -EIO;
	fclose(f);
	if (err)
		unlink(temporary);
	return err;
}

int ur_dropin_write(const char *root, const struct ur_unit *unit,
		    const char *preload, const char *run_dir)
{
	char folder[PATH_MAX], path[PATH_MAX], temporary[PATH_MAX];
	struct ur_unit uroced;
	bool after;
	FILE *f;
	int err, fd;

	folder_of(root, unit->name, folder);
	path_of(root, unit->name, path);
	err = check_ours(path);
	if (err && err != -ENOENT)
		return err;
	err = make_folder(root, folder);
	if (err)
		return err;
	if (snprintf(temporary, sizeof(temporary), "%s/.uroce.XXXXXX",
		     folder) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		err = -errno;
		close(fd);
		unlink(temporary);
		return err;
	}
	after = !strcmp(run_dir, SERVICE_DIR) &&
		!ur_unit_read(root, SERVICE, &uroced);
	print_dropin(f, unit, preload, run_dir, after);
	return put(f, fd, temporary, path);
}

int ur_dropin_remove(const char *root, const char *name)
{
	char folder[PATH_MAX], path[PATH_MAX];
	int err;

	folder_of(root, name, folder);
	path_of(root, name, path);
	err = check_ours(path);
	if (err)
		return err == -EEXIST ? -ENOENT : err;
	if (unlink(path))
		return -errno;
	return rmdir(folder) && errno != ENOTEMPTY ? -errno : 0;
}

/* Our library is the last of the list, except for sanitizer runtimes. */
static void library_of(const char *path, char *library)
{
	char line[2 * PATH_MAX], *at, *end;
	FILE *f = fopen(path, "re");

	*library = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, "liburoce-preload.so");
		if (!at)
			continue;
		end = at + strcspn(at, " :\"\n");
		while (at > line && !strchr(" :=", at[-1]))
			at--;
		snprintf(library, PATH_MAX, "%.*s", (int)(end - at), at);
	}
	if (f)
		fclose(f);
}

int ur_dropin_each(const char *root,
		   void (*each)(void *arg, const char *name,
				const char *library),
		   void *arg)
{
	char pattern[PATH_MAX], library[PATH_MAX];
	glob_t found;
	int count = 0;

	snprintf(pattern, sizeof(pattern),
		 "%s" FOLDER "/*.service.d/" UR_UNIT_DROPIN, root);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = found.gl_pathv[i], *name, *end;

		if (check_ours(path))
			continue;
		library_of(path, library);
		end = strrchr(path, '/') - strlen(".d");
		*end = '\0';
		name = strrchr(path, '/') + 1;
		each(arg, name, library);
		count++;
	}
	globfree(&found);
	return count;
}
