// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes memfds that clients cannot seal. With vm.memfd_noexec set, every memfd can be
 * sealed, even without MFD_ALLOW_SEALING, and an executable one cannot be made.
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
