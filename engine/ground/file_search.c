// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the mapping of an address by PROCMAP_QUERY (Linux 6.11), or by reading all mappings. The mapping identifies the
 * file, which is searched among the process's descriptors, or opened by its name in /dev/shm. /proc/self/map_files would
 * lead to it directly, but takes CAP_CHECKPOINT_RESTORE.
 */
#include "engine/ground/file_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "engine/ground/maps_query.h"
#include "util/assert.h"
#include "util/os/high_fd.h"

/* Descriptors from 0 on that are searched. */
#define LOOK_FDS 1024
#define SHM	 "/dev/shm/"
/* Reads in one step; each returns some fifty mappings. */
#define STEP_READS 4u

struct ur_file_search {
	u64 addr, len;
	int maps;  /* -1: the mapping is known, */
	bool none; /* and is no file */
	struct ur_shown_file file;
	char name[256];
	size_t have; /* of text that was not looked at */
	char text[8192];
};

/* ---- the mapping ---- */

/* Returns 1 if the mapping has the range, 0 if it lies below the range, or -ENOENT: the range has no suitable mapping. */
static int look_at_mapping(struct ur_file_search *s, u64 start, u64 end,
			   bool good, u64 offset, u64 ino)
{
	if (end <= s->addr)
		return 0;
	if (start > s->addr || end - s->addr < s->len || !good || !ino)
		return -ENOENT;
	s->file.ino = ino;
	s->file.offset = offset + (s->addr - start);
	s->file.bytes = s->len;
	return 1;
}

/* "start-end rw-s offset major:minor inode   name" */
static int look_at_line(struct ur_file_search *s, char *line)
{
	unsigned long long start, end, offset, ino;
	unsigned int major, minor;
	char *dash, rights[5];
	int at = 0, ret;

	start = strtoull(line, &dash, 16);
	if (*dash != '-')
		return -ENOENT;
	/* A quick check, since nearly all mappings lie below. */
	if (strtoull(dash + 1, NULL, 16) <= s->addr)
		return 0;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
		   rights, &offset, &major, &minor, &ino, &at) != 7)
		return -ENOENT;
	ret = look_at_mapping(s, start, end,
			      rights[0] == 'r' && rights[3] == 's', offset,
			      ino);
	if (ret > 0) {
		s->file.dev = makedev(major, minor);
		snprintf(s->name, sizeof(s->name), "%s", line + at);
	}
	return ret;
}

/* Reads the next part of the maps. Returns as look_at_mapping() does. */
static int read_text(struct ur_file_search *s)
{
	ssize_t n =
		read(s->maps, s->text + s->have, sizeof(s->text) - 1 - s->have);
	char *line = s->text, *nl;
	int ret = 0;

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return -ENOENT;
	s->have += (size_t)n;
	ur_assert(s->have < sizeof(s->text));
	s->text[s->have] = 0;
	while (!ret && (nl = strchr(line, '\n'))) {
		*nl = 0;
		ret = look_at_line(s, line);
		line = nl + 1;
	}
	s->have -= (size_t)(line - s->text);
	memmove(s->text, line, s->have);
	if (!ret && s->have == sizeof(s->text) - 1)
		return -ENOENT;
	return ret;
}

static void end_maps(struct ur_file_search *s, bool found)
{
	close(s->maps);
	s->maps = -1;
	s->none = !found;
}

static void ask_kernel(struct ur_file_search *s)
{
	struct ur_maps_query q = {
		.size = sizeof(q),
		.addr = s->addr,
		.name_size = sizeof(s->name),
		.name_addr = (uintptr_t)s->name,
	};
	const u64 good = UR_MAPS_READABLE | UR_MAPS_SHARED;
	int err = ur_maps_ask(s->maps, &q);

	/* The name may be longer than any that we search. */
	if (err == -ENAMETOOLONG) {
		q.name_size = 0;
		q.name_addr = 0;
		err = ur_maps_ask(s->maps, &q);
	}
	if (err == -ENOENT) {
		end_maps(s, false);
		return;
	}
	if (err)
		return; /* it does not know that question */
	s->name[sizeof(s->name) - 1] = 0;
	if (!q.name_size)
		s->name[0] = 0;
	s->file.dev = makedev(q.dev_major, q.dev_minor);
	end_maps(s, look_at_mapping(s, q.start, q.end, (q.has & good) == good,
				    q.offset, q.inode) > 0);
}

struct ur_file_search *ur_file_search_begin(u64 addr, u64 len)
{
	struct ur_file_search *s;

	if (len > UR_SHOWN_FILE_BYTES)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->addr = addr;
	s->len = len;
	s->maps = ur_high_fd(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
	if (s->maps < 0) {
		free(s);
		return NULL;
	}
	ask_kernel(s);
	return s;
}

/* ---- the file ---- */

static bool is_that_file(const struct stat *st,
			 const struct ur_shown_file *file)
{
	return st->st_ino == file->ino && st->st_dev == file->dev;
}

static int find_descriptor(const struct ur_shown_file *file)
{
	struct stat st;

	for (int fd = 0; fd < LOOK_FDS; fd++)
		if (!fstat(fd, &st) && is_that_file(&st, file) &&
		    ur_shared_file_is_good(fd))
			return ur_high_fd_copy(fd);
	return -ENOENT;
}

static int open_name(const char *name, const struct ur_shown_file *file)
{
	struct stat st;
	int fd;

	if (strncmp(name, SHM, sizeof(SHM) - 1))
		return -ENOENT;
	fd = open(name,
		  O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && is_that_file(&st, file) &&
	    ur_shared_file_is_good(fd))
		return ur_high_fd(fd);
	close(fd);
	return -ENOENT;
}

static int find_file(struct ur_file_search *s, struct ur_shown_file *file)
{
	s->file.fd = find_descriptor(&s->file);
	if (s->file.fd < 0)
		s->file.fd = open_name(s->name, &s->file);
	if (s->file.fd < 0)
		return -ENOENT;
	*file = s->file;
	return 0;
}

int ur_file_search_step(struct ur_file_search *s, struct ur_shown_file *file)
{
	int ret = 0;

	if (s->maps < 0)
		return s->none ? -ENOENT : find_file(s, file);
	for (u32 i = 0; i < STEP_READS && !ret; i++)
		ret = read_text(s);
	if (ret)
		end_maps(s, ret > 0);
	return ret < 0 ? ret : -EAGAIN;
}

void ur_file_search_end(struct ur_file_search *s)
{
	if (!s)
		return;
	if (s->maps >= 0)
		close(s->maps);
	free(s);
}
