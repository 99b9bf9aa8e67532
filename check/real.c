// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds functions of libibverbs and librdmacm. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/real.h"

void *ur_real_try(const char *library, const char *name, void **cache)
{
	void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE), *handle;

	if (found)
		return found;
	handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		found = dlsym(handle, name);
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	if (found)
		__atomic_store_n(cache, found, __ATOMIC_RELEASE);
	return found;
}

void *ur_check_find_real(const char *library, const char *name, void **cache)
{
	void *found = ur_real_try(library, name, cache);

	if (!found) {
		dprintf(STDERR_FILENO, "rdma-check: %s has no %s\n", library,
			name);
		abort();
	}
	return found;
}
