// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Looks the next definitions up. dlsym() does not allocate when it succeeds. */
#include <dlfcn.h>
#include <errno.h>

#include "preload/real.h"

void *ur_real_fn[UR_REAL_COUNT];

static const char *const names[UR_REAL_COUNT] = {
#define X(name) [UR_REAL_##name] = #name,
	UR_REAL_LIST(X)
#undef X
};

/* Stands for a function that this C library does not have. */
static long no_such_function(void)
{
	errno = ENOSYS;
	return -1;
}

void *ur_real_find(enum ur_real_index index)
{
	int saved = errno;
	void *fn = dlsym(RTLD_NEXT, names[index]);

	if (!fn)
		fn = (void *)no_such_function;
	__atomic_store_n(&ur_real_fn[index], fn, __ATOMIC_RELAXED);
	errno = saved;
	return fn;
}

void ur_real_init(void)
{
	for (int i = 0; i < UR_REAL_EARLY_COUNT; i++)
		ur_real_get((enum ur_real_index)i);
}
