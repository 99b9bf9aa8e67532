// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMAV_DRIVERS=DIR/liburoce. libibverbs finds an installed provider by itself,
 * but asks those named there first; others take devices by the first letters of
 * the name (rxe), which ours may have. The answer is made when libibverbs asks,
 * so that a program without RDMA has the environment that it was given.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/real.h"

#define VARIABLE "RDMAV_DRIVERS"

/* Private ABI numbers of libibverbs that a provider may be built for. */
static const char *const abis[] = {"34", "57", "59", "64", "65"};

/* The places of the provider, as seen from this library: in a build tree or a
 * folder that both were copied to, and installed. */
static const char *const places[] = {"", "/../libibverbs"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[2 * PATH_MAX]; /* of the provider; "" where there is none */
static char value[3 * PATH_MAX];

/* Fills name with the provider's in @dir, up to the private ABI's number. */
static bool find_in(const char *dir)
{
	char file[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(abis) / sizeof(*abis); i++) {
		snprintf(file, sizeof(file), "%s/liburoce-rdmav%s.so", dir,
			 abis[i]);
		if (ur_real(access)(file, R_OK))
			continue;
		snprintf(name, sizeof(name), "%s/liburoce", dir);
		return true;
	}
	return false;
}

static void find(void)
{
	char lib[PATH_MAX], dir[PATH_MAX + 32];
	bool found = false;
	Dl_info info;
	char *slash;

	if (!dladdr((void *)find, &info) || !info.dli_fname ||
	    !ur_real(realpath)(info.dli_fname, lib))
		return;
	slash = strrchr(lib, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found;
	     i++) {
		snprintf(dir, sizeof(dir), "%s%s", lib, places[i]);
		found = find_in(dir);
	}
}

/* Returns @before with our provider in front; NULL: it stays as it is. */
static char *with_provider(const char *before)
{
	char *ret = NULL;

	pthread_mutex_lock(&lock);
	if (!*name)
		find();
	if (*name && !(before && strstr(before, name)) &&
	    (before ? strlen(before) : 0) + strlen(name) + 2 <= sizeof(value)) {
		/* The same bytes again, since an earlier caller still reads it. */
		snprintf(value, sizeof(value), "%s%s%s", name,
			 before && *before ? ":" : "", before ? before : "");
		ret = value;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* With the rights of another user, the caller's word counts for nothing: he names
 * libraries. */
UR_EXPORT char *getenv(const char *variable)
{
	char *before, *ret;

	if (variable[0] != VARIABLE[0] || strcmp(variable, VARIABLE) != 0)
		return ur_real(getenv)(variable);
	before = secure_getenv(VARIABLE);
	ret = with_provider(before);
	return ret ? ret : before;
}
