// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks the machine without a device: its interface, the owner of the port, the kernel's
 * own RDMA. */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/port.h"

/* Chooses the interface for a device: the named one, that of the default route, or lo. */
static void choose_netdev(const struct ur_options *options, char name[IFNAMSIZ])
{
	char line[256], netdev[64];
	unsigned int dest, mask;
	FILE *f;

	snprintf(name, IFNAMSIZ, "%s", "lo");
	if (options->netdevs) {
		snprintf(name, IFNAMSIZ, "%s", options->netdev[0]);
		return;
	}
	f = fopen("/proc/net/route", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %x %*x %*x %*d %*d %*d %x", netdev,
			   &dest, &mask) == 3 &&
		    !dest && !mask)
			snprintf(name, IFNAMSIZ, "%.15s", netdev);
	if (f)
		fclose(f);
}

static bool is_taken(const struct sockaddr *sa)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (sa->sa_family == AF_INET) {
		in = *(const struct sockaddr_in *)sa;
		in.sin_port = htons(UR_ROCE_PORT);
		return ur_port_taken((struct sockaddr *)&in, sizeof(in));
	}
	in6 = *(const struct sockaddr_in6 *)sa;
	in6.sin6_port = htons(UR_ROCE_PORT);
	return ur_port_taken((struct sockaddr *)&in6, sizeof(in6));
}

static bool is_link_local(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(
		       &((const struct sockaddr_in6 *)sa)->sin6_addr);
}

void ur_doctor_netdev(struct doctor *doctor)
{
	struct ifaddrs *list = NULL, *i;
	char name[IFNAMSIZ], owner[64];
	int addresses = 0, wanted = 0, taken = 0;
	bool up = false;

	choose_netdev(doctor->options, name);
	if (!if_nametoindex(name)) {
		ur_doctor_print(doctor, "netdev", "problem",
				"ip link, and --netdev IF",
				"there is no interface %s", name);
		return;
	}
	getifaddrs(&list);
	for (i = list; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, name))
			continue;
		up |= (i->ifa_flags & IFF_UP) != 0;
		if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET &&
				     i->ifa_addr->sa_family != AF_INET6))
			continue;
		addresses++;
		/* Link-local addresses appear late and are seldom useful. */
		if (is_link_local(i->ifa_addr))
			continue;
		wanted++;
		taken += is_taken(i->ifa_addr);
	}
	freeifaddrs(list);
	if (!up)
		ur_doctor_print(doctor, "netdev", "problem",
				"ip link set IF up", "%s is down", name);
	else if (!addresses)
		ur_doctor_print(doctor, "netdev", "problem",
				"ip address add ADDRESS/BITS dev IF",
				"%s has no address, so there is no GID", name);
	else if (taken && taken == wanted)
		ur_doctor_print(
			doctor, "port", "problem",
			"stop it, or use its run directory, or another --netdev",
			"UDP port %d of %s is taken by %s", UR_ROCE_PORT, name,
			ur_port_owner(owner, sizeof(owner))
				? owner
				: "another user's program or the kernel's Soft-RoCE");
	else
		ur_doctor_print(doctor, "netdev", "ok", NULL,
				"a device can be started on %s", name);
}

/* Bypasses the C library, whose /sys under `uroce run` has our devices too. */
static DIR *kernel_devices(void)
{
	int fd = syscall(SYS_openat, AT_FDCWD, "/sys/class/infiniband",
			 O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

/* Gets the names of the kernel's devices, separated by commas. */
static void kernel_names(char *names, size_t size)
{
	struct dirent *e;
	DIR *d = kernel_devices();

	*names = '\0';
	while (d && (e = readdir(d))) {
		size_t used = strlen(names);

		if (e->d_name[0] != '.')
			snprintf(names + used, size - used, "%s%.60s",
				 used ? ", " : "", e->d_name);
	}
	if (d)
		closedir(d);
}

bool ur_doctor_has_kernel(void)
{
	char names[256];

	kernel_names(names, sizeof(names));
	return *names;
}

void ur_doctor_kernel(struct doctor *doctor)
{
	char names[256];

	kernel_names(names, sizeof(names));
	if (*names)
		ur_doctor_print(
			doctor, "kernel", "note",
			"name ours to programs (-d), as uroce link shows "
			"it, or hide those: uroce run --only",
			"the kernel has RDMA devices too: %s", names);
}
