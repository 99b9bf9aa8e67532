// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMAV_DRIVERS=DIR/liburoce, to which libibverbs appends -rdmavNN.so. libibverbs finds an
 * installed provider by itself, but tries those in the variable first: others match devices by the
 * first letters of the name (rxe), which ours may have. The value is made when libibverbs reads it,
 * so that a program without RDMA keeps its environment.
 *
 * libibverbs loads all providers of the host once a device matches none that is loaded. So ours is
 * loaded at the first variable that libibverbs reads: where all devices are ours, it loads no other.
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
/* libibverbs reads it as it initializes, before it lists devices. */
#define FIRST_VARIABLE "RDMAV_FORK_SAFE"

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

static bool has_name(void)
{
	pthread_mutex_lock(&lock);
	if (!*name)
		find();
	pthread_mutex_unlock(&lock);
	return *name;
}

/* Returns the private ABI of the libibverbs that contains @caller, or 0. *@path gets its path. */
static int abi_of(const void *caller, const char **path)
{
	void *lib = NULL;
	Dl_info info;
	int abi = 0;

	*path = "libibverbs";
	if (dladdr(caller, &info) && info.dli_fname)
		lib = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (lib) {
		*path = info.dli_fname;
		abi = ur_private_abi(lib);
		dlclose(lib);
	}
	return abi;
}

/* Returns whether there is a plugin for that ABI. file: its path. */
static bool has_plugin(int abi, char file[PATH_MAX + 32])
{
	snprintf(file, PATH_MAX + 32, "%s-rdmav%d.so", name, abi);
	return !ur_real(access)(file, R_OK);
}

/* Prints why there is no device, if the library that contains @caller is a
 * libibverbs without a plugin. */
static void check_abi(const void *caller)
{
	static bool checked;
	char file[PATH_MAX + 32];
	const char *path;
	int abi;

	if (!*name || __atomic_exchange_n(&checked, true, __ATOMIC_RELAXED))
		return;
	abi = abi_of(caller, &path);
	if (abi && !has_plugin(abi, file))
		fprintf(stderr,
			"uroce: no device, since %s has private ABI %d, and this "
			"uroce has plugins for " UR_PRIVATE_ABIS
			": install another release of uroce\n",
			path, abi);
}

/* Loads the provider if the library that contains @caller is a libibverbs. */
static void load(const void *caller)
{
	static bool loaded;
	char file[PATH_MAX + 32];
	const char *path;
	int abi;

	if (!has_name() || __atomic_exchange_n(&loaded, true, __ATOMIC_RELAXED))
		return;
	abi = abi_of(caller, &path);
	if (!abi)
		__atomic_store_n(&loaded, false, __ATOMIC_RELAXED);
	else if (has_plugin(abi, file))
		dlopen(file, RTLD_NOW);
}

/* Returns @before with our provider in front; NULL: unchanged. */
static char *with_provider(const char *before)
{
	char *ret = NULL;

	if (!has_name())
		return NULL;
	pthread_mutex_lock(&lock);
	if (!(before && strstr(before, name)) &&
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

	if (variable[0] == FIRST_VARIABLE[0] &&
	    !strcmp(variable, FIRST_VARIABLE))
		load(__builtin_return_address(0));
	if (variable[0] != VARIABLE[0] || strcmp(variable, VARIABLE) != 0)
		return ur_real(getenv)(variable);
	before = secure_getenv(VARIABLE);
	ret = with_provider(before);
	check_abi(__builtin_return_address(0));
	return ret ? ret : before;
}
