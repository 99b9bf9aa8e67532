// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Looks a port up in /proc: its sockets, and the processes that hold them. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/port.h"
#include "util/text.h"

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

/* Returns the inode of the socket in the table that is bound to the port, and its owner in
 * *uid; 0: none. */
static unsigned long find_inode(const char *table, uid_t *uid)
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
			   " %*u: %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %u %*s "
			   "%lu",
			   &port, uid, &inode) != 3 ||
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

static void read_comm(const char *pid, char *comm, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	f = fopen(path, "re");
	*comm = '\0';
	if (f && fgets(comm, (int)size, f))
		comm[strcspn(comm, "\n")] = '\0';
	ur_text_clean(comm, false);
	if (f)
		fclose(f);
}

/* Returns whether the process may be the uroced of that user. Only root can examine uroced,
 * so this compares name and uid; the owner of its /proc folder is root. */
static bool is_uroced_of(const char *pid, uid_t uid)
{
	char path[64], comm[32], line[128];
	unsigned int of = 0;
	bool found = false;
	FILE *f;

	read_comm(pid, comm, sizeof(comm));
	if (strcmp(comm, "uroced") != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%.16s/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %*u %u", &of) == 1;
	if (f)
		fclose(f);
	return found && of == uid;
}

/* Finds the first process that accepts() accepts, and puts its number into pid. */
static bool find_process(bool (*accepts)(const char *pid, const void *arg),
			 const void *arg, char *pid, size_t size)
{
	struct dirent *e;
	bool found = false;
	DIR *d = opendir("/proc");

	while (d && !found && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]) ||
		    !accepts(e->d_name, arg))
			continue;
		snprintf(pid, size, "%.16s", e->d_name);
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}

static bool accept_holder(const char *pid, const void *socket)
{
	return holds_socket(pid, socket);
}

static bool accept_uroced(const char *pid, const void *uid)
{
	return is_uroced_of(pid, *(const uid_t *)uid);
}

bool ur_port_owner(char *buf, size_t size)
{
	uid_t uid;
	unsigned long inode = find_inode("/proc/net/udp", &uid);
	char socket[64], pid[20], comm[32];
	const struct passwd *user;

	if (!inode)
		inode = find_inode("/proc/net/udp6", &uid);
	if (!inode)
		return false;
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	if (find_process(accept_holder, socket, pid, sizeof(pid))) {
		read_comm(pid, comm, sizeof(comm));
		snprintf(buf, size, "%s (process %s)", comm, pid);
		return true;
	}
	user = getpwuid(uid);
	if (find_process(accept_uroced, &uid, pid, sizeof(pid)))
		snprintf(buf, size, "%s, most likely its uroced (process %s)",
			 user ? user->pw_name : "another user", pid);
	else
		snprintf(buf, size, "a program or the kernel, as user %s",
			 user ? user->pw_name : "without a name");
	return true;
}
