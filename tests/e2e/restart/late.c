// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* In front of the C library: a process that is forked gets a processor late. */
#include <dlfcn.h>
#include <unistd.h>

__attribute__((visibility("default"))) pid_t fork(void)
{
	pid_t (*next)(void);
	pid_t pid;

	*(void **)&next = dlsym(RTLD_NEXT, "fork");
	pid = next();
	if (!pid)
		sleep(1);
	return pid;
}
