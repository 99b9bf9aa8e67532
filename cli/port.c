// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Looks a port up in /proc: its sockets, and the processes that hold them. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/port.h"

bool ur_port_taken(const struct sockaddr *addr, socklen_t size)
{
	int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool taken;

	if (fd < 0)
		return false;
	taken = bind(fd, addr, size) && errno == EADDRINUSE;
	close(fd);
	return taken;
}

/* The inode of a socket of the table that is bound to the port, or 0. */
static unsigned long find_inode(const char *table)
{
	unsigned long inode = 0;
	unsigned int port;
	char line[512];
	FILE *f;

	f = fopen(table, "re");
	if (!f)
		return 0;
	while (!inode && fgets(line, sizeof(line), f))
		/* sl local rem st queues tr retrnsmt uid timeout inode */
		if (sscanf(line,
			   " %*u: %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %*s "
			   "%lu",
			   &port, &inode) != 2 ||
		    port != UR_ROCE_PORT)
			inode = 0;
	fclose(f);
	return inode;
}

static bool holds_socket(const char *pid, const char *socket)
{
	char path[320], target[64];
	struct dirent *e;
	bool found = false;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		found = strcmp(target, socket) == 0;
	}
	if (d)
		closedir(d);
	return found;
}

bool ur_port_owner(char *buf, size_t size)
{
	unsigned long inode = find_inode("/proc/net/udp");
	char socket[64], path[64], comm[32] = "";
	struct dirent *e;
	bool found = false;
	FILE *f;
	DIR *d;

	if (!inode)
		inode = find_inode("/proc/net/udp6");
	if (!inode)
		return false;
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	d = opendir("/proc");
	while (d && !found && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]) ||
		    !holds_socket(e->d_name, socket))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(comm, sizeof(comm), f))
			comm[strcspn(comm, "\n")] = '\0';
		if (f)
			fclose(f);
		snprintf(buf, size, "%s (process %.16s)", comm, e->d_name);
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}
