/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Does the kernel give datagrams to the socket that a program names? */
#ifndef UR_TESTS_STEERS_H
#define UR_TESTS_STEERS_H

#include <errno.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/check.h"

/* Emulators of programs (qemu-user) do not let the kernel steer; then all comes
 * by way of a hand-over. */
static inline bool kernel_steers(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog prog = {1, code};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, err;

	CHECK(fd >= 0);
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)));
	err = setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog,
			 sizeof(prog));
	CHECK(!err || errno == ENOPROTOOPT);
	close(fd);
	return !err;
}

#endif
