// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counts the pages that this process has registered. A forked child starts with
 * 0, since nothing is pinned in its memory. */
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memlock.h"

static struct {
	pthread_mutex_t lock;
	bool looked, asked;
	pid_t of; /* process that these pages belong to */
	u64 pages;
} locked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool may_lock(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	return !syscall(SYS_capget, &head, data) &&
	       data[0].effective & 1u << CAP_IPC_LOCK;
}

static bool within(u64 pages, u64 page)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_MEMLOCK, &lim) ||
	       lim.rlim_cur == RLIM_INFINITY || pages <= lim.rlim_cur / page ||
	       may_lock();
}

static void look(void)
{
	const char *s = secure_getenv("UROCE_MEMLOCK");

	locked.looked = true;
	locked.asked = s && !strcmp(s, "1");
}

int ur_memlock_take(const void *addr, size_t length, u64 *pages)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 first = (u64)(uintptr_t)addr / page, n = 0;
	int err = 0;

	/* The device refuses a range that wraps around. */
	if (length && (u64)(uintptr_t)addr + length - 1 >= (uintptr_t)addr)
		n = ((u64)(uintptr_t)addr + length - 1) / page - first + 1;
	*pages = 0;
	pthread_mutex_lock(&locked.lock);
	if (!locked.looked)
		look();
	if (locked.asked) {
		if (locked.of != (pid_t)syscall(SYS_getpid))
			locked.pages = 0;
		locked.of = (pid_t)syscall(SYS_getpid);
		if (within(locked.pages + n, page))
			locked.pages += *pages = n;
		else
			err = ENOMEM;
	}
	pthread_mutex_unlock(&locked.lock);
	return err;
}

void ur_memlock_give(u64 pages)
{
	if (!pages)
		return;
	pthread_mutex_lock(&locked.lock);
	/* In a forked child the charge was its parent's. */
	if (locked.of == (pid_t)syscall(SYS_getpid))
		locked.pages -= ur_min_u64(pages, locked.pages);
	pthread_mutex_unlock(&locked.lock);
}
