/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What happens when the library is loaded. */
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

/*
 * libibverbs finds an installed provider by itself. One that lies beside this
 * library (a build tree) must be named: RDMAV_DRIVERS=DIR/liburoce.
 */
static void name_provider(void)
{
	const char *before = secure_getenv("RDMAV_DRIVERS");
	char dir[PATH_MAX], name[PATH_MAX + 64], value[3 * PATH_MAX];
	bool found = false;
	Dl_info info;
	char *slash;

	if (!dladdr((void *)name_provider, &info) || !info.dli_fname ||
	    !ur_real(realpath)(info.dli_fname, dir))
		return;
	slash = strrchr(dir, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(abis) / sizeof(*abis) && !found; i++) {
		snprintf(name, sizeof(name), "%s/liburoce-rdmav%s.so", dir,
			 abis[i]);
		found = ur_real(access)(name, R_OK) == 0;
	}
	if (!found)
		return;
	snprintf(name, sizeof(name), "%s/liburoce", dir);
	if (before && strstr(before, name))
		return;
	if (before && strlen(before) + strlen(name) + 2 > sizeof(value))
		return;
	snprintf(value, sizeof(value), "%s%s%s", before ? before : "",
		 before && *before ? ":" : "", name);
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
