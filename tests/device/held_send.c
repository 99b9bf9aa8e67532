// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Linked into uroced_held with the linker's --wrap: a thread that sends INSTALL waits here where the test says so,
 * as one may that has no processor. */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "kernel-abi/uroce-tunnel.h"
#include "tests/device/held_send.h"

static struct held_send *page;

__attribute__((constructor)) static void find_page(void)
{
	const char *fd = getenv(HELD_SEND_ENV);

	if (!fd)
		return;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    atoi(fd), 0);
	if (page == MAP_FAILED)
		abort();
}

static int installs(const struct msghdr *mh)
{
	const struct uroce_tun_msg *msg = mh->msg_iov->iov_base;

	return mh->msg_iov->iov_len == sizeof(*msg) &&
	       msg->op == UROCE_TUN_INSTALL;
}

ssize_t __real_sendmsg(int sock, const struct msghdr *mh, int flags);
ssize_t __wrap_sendmsg(int sock, const struct msghdr *mh, int flags);

ssize_t __wrap_sendmsg(int sock, const struct msghdr *mh, int flags)
{
	if (page && installs(mh) && atomic_exchange(&page->armed, 0)) {
		atomic_store(&page->waits, 1);
		while (!atomic_load(&page->go))
			sched_yield();
	}
	return __real_sendmsg(sock, mh, flags);
}
