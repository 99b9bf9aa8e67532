// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Capabilities of a client, as /proc shows them. They count only where it is in
 * our user namespace, since in one of its own every user has all of them; and
 * only for the process that connected, whose number may be another's by now.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/client_rights.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	return true;
}

static bool has_capability(pid_t pid, u32 capability)
{
	static const char title[] = "\nCapEff:";
	char text[4096], *at;

	if (!read_proc(pid, "status", text, sizeof(text)))
		return false;
	at = strstr(text, title);
	return at &&
	       strtoull(at + sizeof(title) - 1, NULL, 16) >> capability & 1;
}

/* A namespace that maps the users as ours does can be made by nobody who could
 * not become root in ours. */
static bool in_our_user_namespace(pid_t pid)
{
	char ours[1024], theirs[1024];

	return read_proc(0, "uid_map", ours, sizeof(ours)) &&
	       read_proc(pid, "uid_map", theirs, sizeof(theirs)) && *ours &&
	       !strcmp(ours, theirs);
}

/* Is what had that number when it connected alive, so that it has it still? An
 * older kernel cannot say; then the user counts who it was at that time. */
static bool is_who_connected(const struct ur_session *s)
{
	struct pollfd p = {.events = POLLIN};
	socklen_t len = sizeof(p.fd);
	bool alive;

	if (getsockopt(s->sock, SOL_SOCKET, SO_PEERPIDFD, &p.fd, &len) < 0)
		return s->uid == 0;
	alive = poll(&p, 1, 0) == 0;
	close(p.fd);
	return alive;
}

bool ur_client_may_raw(const struct ur_session *s)
{
	return s->pid > 0 && has_capability(s->pid, CAP_NET_RAW) &&
	       in_our_user_namespace(s->pid) && is_who_connected(s);
}
