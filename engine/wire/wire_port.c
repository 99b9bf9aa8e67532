// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the process that has UDP port 4791, for the message that it is in use. */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"

#define GETS ", which gets what peers send there"

struct owner {
	unsigned int uid;
	unsigned long inode;
	char local[40];
};

/* An address as in /proc/net: in words of this machine's byte order. */
struct proc_address {
	char v4[40]; /* empty: not an IPv4 address */
	char v6[40];
};

/* Processes that had the port before we were confined: from then on we can look at
 * our own descriptors only. A search reads all of /proc for each process. */
static struct {
	unsigned long inode;
	char process[80];
} known[4];
static unsigned int n_known;

static bool next_owner(FILE *f, struct owner *o)
{
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		unsigned int port;

		if (sscanf(line,
			   " %*d: %39[0-9A-F]:%X %*[0-9A-F]:%*X %*X %*X:%*X "
			   "%*X:%*X %*X %u %*d %lu",
			   o->local, &port, &o->uid, &o->inode) == 4 &&
		    port == UR_ROCE_V2_UDP_PORT)
			return true;
	}
	return false;
}

static void print_address(struct proc_address *a, const char *text)
{
	u32 w[4] = {0, 0, htonl(0xffff)};

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &w[3]) == 1)
		snprintf(a->v4, sizeof(a->v4), "%08X", w[3]);
	else
		inet_pton(AF_INET6, text, w);
	snprintf(a->v6, sizeof(a->v6), "%08X%08X%08X%08X", w[0], w[1], w[2],
		 w[3]);
}

/* Returns whether the socket is bound to that address, or to all. */
static bool has_address(const struct owner *o, const char *want)
{
	return *want && (!strcmp(o->local, want) ||
			 strspn(o->local, "0") == strlen(o->local));
}

/* Finds the first socket with that address and the port in a table of /proc/net. */
static bool scan_table(const char *path, const char *want, struct owner *o)
{
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && next_owner(f, o))
		found = has_address(o, want);
	if (f)
		fclose(f);
	return found;
}

static bool has_socket(const char *pid, unsigned long inode)
{
	char dir[64], want[64], path[384], link[64];
	struct dirent *d;
	bool found = false;
	DIR *fds;

	snprintf(dir, sizeof(dir), "/proc/%.20s/fd", pid);
	snprintf(want, sizeof(want), "socket:[%lu]", inode);
	fds = opendir(dir);
	if (!fds)
		return false;
	while (!found && (d = readdir(fds))) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n > 0) {
			link[n] = 0;
			found = !strcmp(link, want);
		}
	}
	closedir(fds);
	return found;
}

/* Puts "name (pid)" of the process that has the socket in out. */
static bool find_process(unsigned long inode, char *out, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	bool found = false;

	if (!proc)
		return false;
	while (!found && (d = readdir(proc))) {
		char path[64], name[32] = "?";
		FILE *f;

		if (!isdigit((unsigned char)d->d_name[0]) ||
		    !has_socket(d->d_name, inode))
			continue;
		found = true;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", d->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%31s", name) != 1)
			name[0] = 0;
		if (f)
			fclose(f);
		snprintf(out, size, "%s (process %.20s)", name, d->d_name);
	}
	closedir(proc);
	return found;
}

static void note_owners(const char *path)
{
	FILE *f = fopen(path, "re");
	struct owner o = {0};

	if (!f)
		return;
	while (n_known < UR_ARRAY_SIZE(known) && next_owner(f, &o))
		if (find_process(o.inode, known[n_known].process,
				 sizeof(known[n_known].process)))
			known[n_known++].inode = o.inode;
	fclose(f);
}

void ur_engine_note_owners(void)
{
	note_owners("/proc/net/udp");
	note_owners("/proc/net/udp6");
}

static bool name_process(unsigned long inode, char *out, size_t size)
{
	for (unsigned int i = 0; i < n_known; i++)
		if (known[i].inode == inode) {
			snprintf(out, size, "%s", known[i].process);
			return true;
		}
	return find_process(inode, out, size);
}

void ur_port_owner_report(const char *address, const char *netdev)
{
	struct owner o = {0};
	struct proc_address a;
	char process[80];

	fprintf(stderr, "uroced: %s: UDP port %d of %s is taken", netdev,
		UR_ROCE_V2_UDP_PORT, address);
	print_address(&a, address);
	if (!scan_table("/proc/net/udp", a.v4, &o) &&
	    !scan_table("/proc/net/udp6", a.v6, &o)) {
		fprintf(stderr, "; no owner is to be seen\n");
	} else if (!o.inode) {
		fprintf(stderr,
			" by the kernel: a Soft-RoCE device is there; remove "
			"it (rdma link delete NAME) or use another netdev\n");
	} else if (name_process(o.inode, process, sizeof(process))) {
		fprintf(stderr,
			" by %s of user %u%s; stop it, or share that device by "
			"its run directory, or use another netdev or address\n",
			process, o.uid, GETS);
	} else if (o.uid == geteuid()) {
		/* This process is confined and cannot tell which of the two. */
		fprintf(stderr,
			" by another uroced of user %u, or by a program that "
			"has a copy of a socket which an earlier one granted to "
			"it; it can be used when that has ended\n",
			o.uid);
	} else {
		fprintf(stderr,
			" by a process of user %u (most likely that user's own "
			"uroced)%s; end it, or use another netdev or address, "
			"or a network namespace\n",
			o.uid, GETS);
	}
}
