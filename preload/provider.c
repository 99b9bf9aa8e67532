// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMAV_DRIVERS=DIR/liburoce, to which libibverbs appends -rdmavNN.so. libibverbs finds an
 * installed provider by itself, but tries those in the variable first: others match devices by the
 * first letters of the name (rxe), which ours may have. The value is made when libibverbs reads it,
 * so that a program without RDMA keeps its environment.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/real.h"
#include "util/os/private_abi.h"

#define VARIABLE "RDMAV_DRIVERS"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* name of the provider up to the private ABI */
static char name[PATH_MAX + 16];
static char value[3 * PATH_MAX];

/* Fills name: the plugins lie beside this library. */
static void find(void)
{
	char lib[PATH_MAX];
	Dl_info info;
	char *slash;

	if (!dladdr((void *)find, &info) || !info.dli_fname ||
	    !ur_real(realpath)(info.dli_fname, lib))
		return;
	slash = strrchr(lib, '/');
	if (!slash)
		return;
	*slash = '\0';
	snprintf(name, sizeof(name), "%s/liburoce", lib);
}

/* Prints why there is no device, if the library that contains @caller is a
 * libibverbs without a plugin. */
static void check_abi(const void *caller)
{
	static bool checked;
	char file[PATH_MAX + 32];
	void *lib = NULL;
	Dl_info info;
	int abi = 0;

	if (!*name || __atomic_exchange_n(&checked, true, __ATOMIC_RELAXED))
		return;
	if (dladdr(caller, &info) && info.dli_fname)
		lib = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (lib) {
		abi = ur_private_abi(lib);
		dlclose(lib);
	}
	snprintf(file, sizeof(file), "%s-rdmav%d.so", name, abi);
	if (abi && ur_real(access)(file, R_OK))
		fprintf(stderr,
			"uroce: no device, since %s has private ABI %d, and this "
			"uroce has plugins for " UR_PRIVATE_ABIS
			": install another release of uroce\n",
			info.dli_fname, abi);
}

/* Returns @before with our provider in front; NULL: unchanged. */
static char *with_provider(const char *before)
{
	char *ret = NULL;

	pthread_mutex_lock(&lock);
	if (!*name)
		find();
	if (*name && !(before && strstr(before, name)) &&
	    (before ? strlen(before) : 0) + strlen(name) + 2 <= sizeof(value)) {
		/* Writes the same bytes again, since an earlier caller still
		 * reads them. */
		snprintf(value, sizeof(value), "%s%s%s", name,
			 before && *before ? ":" : "", before ? before : "");
		ret = value;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* With another user's rights the variable is ignored, since the caller could
 * name libraries. */
UR_EXPORT char *getenv(const char *variable)
{
	char *before, *ret;

	if (variable[0] != VARIABLE[0] || strcmp(variable, VARIABLE) != 0)
		return ur_real(getenv)(variable);
	before = secure_getenv(VARIABLE);
	ret = with_provider(before);
	check_abi(__builtin_return_address(0));
	return ret ? ret : before;
}
