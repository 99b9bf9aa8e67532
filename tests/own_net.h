/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A network namespace of this process's own, so that ports and addresses are no
 * matter of what else runs on the machine.
 */
#ifndef UR_TESTS_OWN_NET_H
#define UR_TESTS_OWN_NET_H

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/check.h"

/* With its loopback device up, before there are threads. False where it is not
 * allowed, and then nothing has changed. Needs _GNU_SOURCE. */
static inline bool own_net(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	uid_t uid = getuid();
	int fd;

	if (unshare(CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			return false;
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK(dprintf(fd, "%u %u 1", uid, uid) > 0);
		close(fd);
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK(!ioctl(fd, SIOCGIFFLAGS, &ifr));
	ifr.ifr_flags |= IFF_UP;
	CHECK(!ioctl(fd, SIOCSIFFLAGS, &ifr));
	close(fd);
	return true;
}

#endif
