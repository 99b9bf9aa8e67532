// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The start of the library when it is loaded: it finds the functions behind its
 * own, makes its tables, and prepares for fork, exec and exit. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/exec.h"
#include "preload/exit.h"
#include "preload/fdmap.h"
#include "preload/real.h"
#include "preload/rewrite.h"

/* Private ABI numbers of libibverbs that a provider may be built for. */
static const char *const abis[] = {"34", "57", "59", "64", "65"};

/* The places of the provider, as seen from this library: in a build tree or a
 * folder that both were copied to, and installed. */
static const char *const places[] = {"", "/../libibverbs"};

/* @name: of the provider in @dir, up to the private ABI's number. */
static bool find_provider(const char *dir, char *name, size_t size)
{
	char file[PATH_MAX + 64];

	for (size_t i = 0; i < sizeof(abis) / sizeof(*abis); i++) {
		snprintf(file, sizeof(file), "%s/liburoce-rdmav%s.so", dir,
			 abis[i]);
		if (ur_real(access)(file, R_OK))
			continue;
		snprintf(name, size, "%s/liburoce", dir);
		return true;
	}
	return false;
}

/*
 * RDMAV_DRIVERS=DIR/liburoce. libibverbs finds an installed provider by itself,
 * but asks those named here first; others take devices by the first letters of
 * the name (rxe), which ours may have.
 */
static void name_provider(void)
{
	const char *before = secure_getenv("RDMAV_DRIVERS");
	char lib[PATH_MAX], dir[PATH_MAX + 32], name[PATH_MAX + 64],
		value[3 * PATH_MAX];
	bool found = false;
	Dl_info info;
	char *slash;

	if (!dladdr((void *)name_provider, &info) || !info.dli_fname ||
	    !ur_real(realpath)(info.dli_fname, lib))
		return;
	slash = strrchr(lib, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found;
	     i++) {
		snprintf(dir, sizeof(dir), "%s%s", lib, places[i]);
		found = find_provider(dir, name, sizeof(name));
	}
	if (!found)
		return;
	if (before && strstr(before, name))
		return;
	if (before && strlen(before) + strlen(name) + 2 > sizeof(value))
		return;
	snprintf(value, sizeof(value), "%s%s%s", name,
		 before && *before ? ":" : "", before ? before : "");
	setenv("RDMAV_DRIVERS", value, 1);
}

static __attribute__((constructor(101))) void init(void)
{
	int saved = errno;

	ur_real_init();
	ur_fdmap_init();
	ur_rewrite_rundir();
	name_provider();
	ur_exec_init();
	ur_exit_init();
	errno = saved;
}
