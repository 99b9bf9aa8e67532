// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the preload library: beside a build tree's program, or installed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "util/os/sanitizer.h"

#define LIBRARY "liburoce-preload.so"
#define CHECK	"liburoce-check.so"

int ur_own_dir(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n < 0)
		return -errno;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int ur_environment_find(const char *file, const char *const *beside,
			const char *installed, char *path, size_t size)
{
	char dir[PATH_MAX], name[2 * PATH_MAX];

	if (!ur_own_dir(dir, sizeof(dir))) {
		for (; *beside; beside++) {
			snprintf(name, sizeof(name), "%s%s/%s", dir, *beside,
				 file);
			if (realpath(name, path))
				return 0;
		}
	}
	snprintf(path, size, "%s/%s", installed, file);
	return access(path, R_OK) ? -errno : 0;
}

static int find_library(const char *library, char *path, size_t size)
{
	static const char *const beside[] = {"/../lib", "/../lib/uroce",
					     "/../lib64/uroce", NULL};

	return ur_environment_find(library, beside, UROCE_LIBDIR, path, size);
}

int ur_environment_library(char *path, size_t size)
{
	return find_library(LIBRARY, path, size);
}

static int find_tool(const char *name, char *path, size_t size)
{
	static const char *const beside[] = {"/../tools",
					     "/../libexec/uroce/tools", NULL};

	return ur_environment_find(name, beside, UROCE_LIBEXECDIR "/tools",
				   path, size);
}

bool ur_environment_has_tool(const char *name)
{
	char path[PATH_MAX];

	return !find_tool(name, path, sizeof(path));
}

/* Programs that come with a card, behind those of the host. Without them it goes
 * on: so it was, and most need none. */
static int add_tools(void)
{
	const char *before = getenv("PATH");
	char path[PATH_MAX], *slash, *value;
	int err;

	if (find_tool("show_gids", path, sizeof(path)))
		return 0;
	slash = strrchr(path, '/');
	*slash = '\0';
	if (!before || strstr(before, path))
		return 0;
	if (asprintf(&value, "%s:%s", before, path) < 0)
		return -ENOMEM;
	err = setenv("PATH", value, 1) ? -errno : 0;
	free(value);
	return err;
}

int ur_environment_preload(const char *library, const char *before,
			   char **value)
{
	size_t first = ur_after_sanitizers(before);

	if (strpbrk(library, " :"))
		return -EINVAL;
	if (strstr(before, strrchr(library, '/') + 1)) {
		*value = strdup(before);
		return *value ? 0 : -ENOMEM;
	}
	return asprintf(value, "%.*s%s%s%s%s", (int)first, before,
			first && !strchr(" :", before[first - 1]) ? ":" : "",
			library, before[first] ? ":" : "", before + first) < 0
		       ? -ENOMEM
		       : 0;
}

/* Puts @library in front of what LD_PRELOAD has, but behind the runtime of a
 * sanitizer. */
static int preload(const char *library, const char *package)
{
	const char *before = getenv("LD_PRELOAD");
	char path[PATH_MAX], *value;
	int err;

	err = find_library(library, path, sizeof(path));
	if (err) {
		ur_complain("%s is neither in ../lib beside this program nor "
			    "in %s: install the package %s",
			    library, UROCE_LIBDIR, package);
		return err;
	}
	err = ur_environment_preload(path, before ? before : "", &value);
	if (err == -EINVAL)
		ur_complain("the dynamic linker takes no space or colon in "
			    "LD_PRELOAD: move the program from %s",
			    path);
	if (err)
		return err;
	err = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return err;
}

int ur_environment_set(const char *run_dir)
{
	int err = preload(LIBRARY, "liburoce-preload");

	if (err)
		return err;
	if (setenv("UROCE_RUN_DIR", run_dir, 1))
		return -errno;
	return add_tools();
}

/* The program may change its directory before it opens the file. */
static int set_file(const char *variable, const char *file)
{
	char dir[PATH_MAX], *value;
	int err;

	if (!file)
		return unsetenv(variable) ? -errno : 0;
	if (*file == '/')
		return setenv(variable, file, 1) ? -errno : 0;
	if (!getcwd(dir, sizeof(dir)))
		return -errno;
	if (asprintf(&value, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	err = setenv(variable, value, 1) ? -errno : 0;
	free(value);
	return err;
}

int ur_environment_check(const struct ur_options *options)
{
	int err;

	if (!options->check)
		return 0;
	if (options->check_mute && access(options->check_mute, R_OK)) {
		err = -errno;
		ur_complain("%s: %s", options->check_mute, strerror(-err));
		return err;
	}
	err = preload(CHECK, "liburoce-check");
	if (!err)
		err = set_file("UROCE_CHECK_JSON", options->check_json);
	if (!err)
		err = set_file("UROCE_CHECK_MUTE", options->check_mute);
	if (!err && setenv("UROCE_CHECK", options->check, 1))
		err = -errno;
	return err;
}
