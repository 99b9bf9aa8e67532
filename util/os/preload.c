// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds libraries of ours, and puts them into LD_PRELOAD. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/os/preload.h"
#include "util/os/sanitizer.h"

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

int ur_own_file(const char *file, const char *const *beside,
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
	return access(path, F_OK) ? -errno : 0;
}

int ur_preload_value(const char *library, const char *before, char **value)
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

int ur_preload_add(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int err = ur_preload_value(library, before ? before : "", &value);

	if (err)
		return err;
	err = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return err;
}

int ur_setenv_file(const char *variable, const char *file)
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
