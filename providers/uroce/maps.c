// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /proc/self/maps, parsed line by line from one static buffer. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "maps.h"

static const char *get_hex(const char *p, u64 *v)
{
	*v = 0;
	for (;; p++) {
		if (*p >= '0' && *p <= '9')
			*v = *v << 4 | (u64)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			*v = *v << 4 | (u64)(*p - 'a' + 10);
		else
			return p;
	}
}

static const char *get_dec(const char *p, u64 *v)
{
	for (*v = 0; *p >= '0' && *p <= '9'; p++)
		*v = *v * 10 + (u64)(*p - '0');
	return p;
}

/* "start-end perms offset major:minor inode   name" */
static void parse(const char *p, struct ur_vma *v)
{
	u64 major, minor;
	size_t n;

	memset(v, 0, sizeof(*v));
	p = get_hex(p, &v->start) + 1;
	p = get_hex(p, &v->end) + 1;
	memcpy(v->perms, p, 4);
	p = get_hex(p + 5, &v->file_off) + 1;
	p = get_hex(p, &major) + 1;
	p = get_hex(p, &minor) + 1;
	v->dev = major << 32 | minor;
	p = get_dec(p, &v->inode);
	while (*p == ' ')
		p++;
	n = strnlen(p, sizeof(v->name) - 1);
	memcpy(v->name, p, n);
}

int ur_maps_walk(ur_vma_fn fn, void *arg)
{
	/* A line is a path and less than 100 bytes. */
	static char buf[16384];
	struct ur_vma vma;
	size_t have = 0;
	int ret = 0;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (!ret) {
		ssize_t n = read(fd, buf + have, sizeof(buf) - have);
		char *line = buf, *nl;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n < 0 ? -errno : 0;
			break;
		}
		have += (size_t)n;
		while (!ret &&
		       (nl = memchr(line, '\n', have - (size_t)(line - buf)))) {
			*nl = 0;
			parse(line, &vma);
			ret = fn(&vma, arg);
			line = nl + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == sizeof(buf))
			ret = -E2BIG;
	}
	close(fd);
	return ret;
}
