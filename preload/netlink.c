// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * No RDMA netlink. libibverbs asks it first, and where the kernel has RDMA it
 * would answer with the kernel's devices only; refused, libibverbs reads the
 * tree, which shows both.
 */
#include <errno.h>
#include <linux/netlink.h>

#include "preload/fdmap.h"
#include "preload/real.h"
#include "preload/rewrite.h"

UR_EXPORT int socket(int domain, int type, int protocol)
{
	int fd;

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA &&
	    ur_rewrite_active()) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	fd = ur_real(socket)(domain, type, protocol);
	if (fd >= 0 && ur_fdmap_hit(fd) && !ur_fdmap_borrowed())
		ur_fdmap_forget(fd);
	return fd;
}
