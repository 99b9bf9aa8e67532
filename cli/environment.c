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
#include "util/os/preload.h"

#define LIBRARY "liburoce-preload.so"
#define CHECK	"librdma-check.so"

int ur_environment_library(char *path, size_t size)
{
	static const char *const beside[] = {"/../lib", "/../lib/uroce",
					     "/../lib64/uroce", NULL};

	return ur_own_file(LIBRARY, beside, UROCE_LIBDIR, path, size);
}

static int find_tool(const char *name, char *path, size_t size)
{
	static const char *const beside[] = {"/../tools",
					     "/../libexec/uroce/tools", NULL};

	return ur_own_file(name, beside, UROCE_LIBEXECDIR "/tools", path, size);
}

bool ur_environment_has_tool(const char *name)
{
	char path[PATH_MAX];

	return !find_tool(name, path, sizeof(path));
}

/* Adds programs that come with a card to PATH, behind the host's. A failure is ignored,
 * since most users need none. */
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

/* found: 0, or -errno if the library was not found; path: its name. */
static int preload(const char *library, const char *package, int found,
		   const char *path)
{
	int err = found;

	if (err) {
		ur_complain("%s is neither in ../lib beside this program nor "
			    "in %s: install the package %s",
			    library, path, package);
		return err;
	}
	err = ur_preload_add(path);
	if (err == -EINVAL)
		ur_complain("the dynamic linker takes no space or colon in "
			    "LD_PRELOAD: move the program from %s",
			    path);
	return err;
}

int ur_environment_set(const char *run_dir)
{
	char path[PATH_MAX];
	int err = ur_environment_library(path, sizeof(path));

	err = preload(LIBRARY, "liburoce-preload", err, path);
	if (err)
		return err;
	if (setenv("UROCE_RUN_DIR", run_dir, 1))
		return -errno;
	return add_tools();
}

int ur_environment_check(const struct ur_options *options)
{
	static const char *const beside[] = {"/../lib", "/../lib/rdma-check",
					     "/../lib64/rdma-check", NULL};
	char path[PATH_MAX];
	int err;

	if (!options->check)
		return 0;
	if (options->check_mute && access(options->check_mute, R_OK)) {
		err = -errno;
		ur_complain("%s: %s", options->check_mute, strerror(-err));
		return err;
	}
	err = ur_own_file(CHECK, beside, RDMA_CHECK_LIBDIR, path, sizeof(path));
	err = preload(CHECK, "rdma-check", err, path);
	if (!err)
		err = ur_setenv_file("RDMA_CHECK_JSON", options->check_json);
	if (!err)
		err = ur_setenv_file("RDMA_CHECK_MUTE", options->check_mute);
	if (!err && setenv("RDMA_CHECK", options->check, 1))
		err = -errno;
	return err;
}

int ur_environment_engine(const struct ur_options *options)
{
	if (!options->engine || !setenv("UROCE_ENGINE", options->engine, 1))
		return 0;
	return -errno;
}
