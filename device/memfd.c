// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes memfds that clients cannot seal. The system decides whether a memfd may
 * be sealed: if vm.memfd_noexec is set, one that was not asked to be can be
 * sealed nevertheless, and one that may be executed is not made at all.
 */
#include "device/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since Linux 6.3 */
#endif

int ur_memfd(const char *name)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}

int ur_memfd_for_client(const char *name)
{
	int fd = ur_memfd(name), err;

	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
