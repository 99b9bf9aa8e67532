// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks a client's rights to its own memory. Its mem file ignores protections, as a
 * debugger does, so they are checked here: by PROCMAP_QUERY (Linux 6.11), which is
 * cheap enough for each write, or by the text of /proc/PID/maps, at registration
 * only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "engine/ground/maps_query.h"
#include "engine/ground/user.h"

/* Finds the mapping with these rights at addr. Returns 0 and its end in *end, or -errno. */
static int query_one(int fd, u64 addr, int prot, u64 *end)
{
	struct ur_maps_query q = {.size = sizeof(q), .addr = addr};
	int err;

	if (prot & PROT_READ)
		q.flags |= UR_MAPS_READABLE;
	if (prot & PROT_WRITE)
		q.flags |= UR_MAPS_WRITABLE;
	err = ur_maps_ask(fd, &q);
	if (!err)
		*end = q.end;
	return err;
}

static int rights_by_query(int fd, u64 addr, u64 last, int prot)
{
	u64 end = 0;

	for (;; addr = end) {
		int err = query_one(fd, addr, prot, &end);

		if (err)
			return err == -ESRCH ? -ESRCH : -EFAULT;
		if (end > last || end <= addr)
			return 0;
	}
}

/* Checks one line, "start-end rwxp ...". Returns 1: the range is covered; 0: not yet;
 * or -EFAULT. *addr: the first address not covered yet. */
static int look_at_line(const char *line, u64 *addr, u64 last, int prot)
{
	unsigned long long start, end;
	char r, w;

	if (sscanf(line, "%llx-%llx %c%c", &start, &end, &r, &w) != 4)
		return -EFAULT;
	if (end <= *addr)
		return 0;
	if (start > *addr || ((prot & PROT_READ) && r != 'r') ||
	    ((prot & PROT_WRITE) && w != 'w'))
		return -EFAULT;
	*addr = end;
	return end > last;
}

static int rights_by_text(int fd, u64 addr, u64 last, int prot)
{
	char buf[8192]; /* a line is a path and less than 100 bytes */
	size_t have = 0;
	off_t off = 0;
	int ret = 0;

	while (!ret) {
		ssize_t n = pread(fd, buf + have, sizeof(buf) - 1 - have, off);
		char *line = buf, *nl;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		off += n;
		have += (size_t)n;
		buf[have] = 0;
		while (!ret && (nl = strchr(line, '\n'))) {
			*nl = 0;
			ret = look_at_line(line, &addr, last, prot);
			line = nl + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			return -EFAULT;
	}
	return ret < 0 ? ret : 0;
}

int ur_user_mem_maps(struct ur_user_mem *mem, int fd, u64 proof)
{
	struct statfs fs;
	u64 end;
	int err;

	if (mem->maps >= 0 || fstatfs(fd, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return -EINVAL;
	/* No other file of procfs knows this request. */
	err = query_one(fd, 0, 0, &end);
	mem->query = !err || err == -ENOENT || err == -ESRCH;
	/* Before Linux 6.11, a maps file of another procfs must have a plausible
	 * text. A client can forge one, but that only removes the protection of
	 * its own memory, as if it had passed none. */
	if (!mem->query && !ur_user_is_proc(fd, mem->pid, "maps") &&
	    (!proof ||
	     rights_by_text(fd, proof, proof, PROT_READ | PROT_WRITE)))
		return -EINVAL;
	mem->maps = fd;
	return 0;
}

int ur_user_rights(const struct ur_user_mem *mem, u64 addr, u64 len, int prot)
{
	if (mem->maps < 0 || !len)
		return 0;
	if (addr + len - 1 < addr)
		return -EFAULT;
	return mem->query
		       ? rights_by_query(mem->maps, addr, addr + len - 1, prot)
		       : rights_by_text(mem->maps, addr, addr + len - 1, prot);
}
