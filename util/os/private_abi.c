// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A libibverbs exports one verbs_register_driver_NN(), which its plugins call. */
#include <dlfcn.h>
#include <stdio.h>

#include "util/os/private_abi.h"

/* The first number that existed, and room for future ones. */
#define FIRST 34
#define LAST  199

int ur_private_abi(void *handle)
{
	char name[64];

	for (int abi = FIRST; abi <= LAST; abi++) {
		snprintf(name, sizeof(name), "verbs_register_driver_%d", abi);
		if (dlsym(handle, name))
			return abi;
	}
	return 0;
}
