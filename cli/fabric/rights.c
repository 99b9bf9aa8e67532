// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Capabilities of the fabric's user namespace. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/fabric/rights.h"

/* Returns the number in a file of /proc/sys, or -1. */
static int read_sysctl(const char *path)
{
	FILE *f = fopen(path, "re");
	int value = -1;

	if (f) {
		if (fscanf(f, "%d", &value) != 1)
			value = -1;
		fclose(f);
	}
	return value;
}

int ur_fabric_refused(int err, struct ur_fabric_error *error)
{
	if (read_sysctl("/proc/sys/kernel/"
			"apparmor_restrict_unprivileged_userns") == 1)
		return ur_fabric_fail(
			error, err,
			"AppArmor lets this user have no user namespace with "
			"rights in it: 'sudo sysctl -w "
			"kernel.apparmor_restrict_unprivileged_userns=0', or "
			"'sudo uroce fabric up ...'");
	if (read_sysctl("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return ur_fabric_fail(
			error, err,
			"this user may have no user namespace: 'sudo sysctl -w "
			"kernel.unprivileged_userns_clone=1', or 'sudo uroce "
			"fabric up ...'");
	if (read_sysctl("/proc/sys/user/max_user_namespaces") == 0 ||
	    err == -ENOSPC)
		return ur_fabric_fail(
			error, err,
			"no more user namespaces are allowed: 'sudo sysctl -w "
			"user.max_user_namespaces=1000', or 'sudo uroce fabric "
			"up ...'");
	return ur_fabric_fail(
		error, err,
		"a fabric takes namespaces of users, processes, mounts and "
		"networks, which this user, or this container's seccomp "
		"filter, may not have; root may");
}

int ur_fabric_rights(void)
{
	static const int caps[] = {CAP_NET_ADMIN, CAP_NET_RAW,
				   CAP_NET_BIND_SERVICE, CAP_SYS_ADMIN,
				   CAP_SYS_CHROOT};
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (geteuid() == 0)
		return 0;
	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		data[CAP_TO_INDEX(caps[i])].inheritable |= CAP_TO_MASK(caps[i]);
	if (syscall(SYS_capset, &head, data))
		return -errno;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, caps[i], 0, 0))
			return -errno;
	return 0;
}
