// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads and writes /etc/ld.so.preload. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/host/preload_file.h"

#define FOLDER	"/etc"
#define LIBRARY "liburoce-preload.so"
/* The characters that end a name, as in glibc's elf/rtld.c. */
#define BETWEEN		 ": \t\n"
#define SIZE_MAX_OF_FILE (1 << 20)

static int read_all(int fd, struct ur_preload_file *file)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_OF_FILE)
		return -EINVAL;
	file->text = calloc(1, SIZE_MAX_OF_FILE + 2);
	if (!file->text)
		return -ENOMEM;
	while ((n = read(fd, file->text + file->size,
			 SIZE_MAX_OF_FILE + 1 - file->size)) > 0)
		file->size += (size_t)n;
	file->exists = true;
	file->mode = st.st_mode & 07777;
	file->uid = st.st_uid;
	file->gid = st.st_gid;
	if (n < 0)
		return -errno;
	return file->size > SIZE_MAX_OF_FILE ||
			       memchr(file->text, '\0', file->size)
		       ? -EINVAL
		       : 0;
}

int ur_preload_file_read(const char *root, struct ur_preload_file *file)
{
	char path[PATH_MAX];
	int fd, err;

	memset(file, 0, sizeof(*file));
	if (snprintf(path, sizeof(path), "%s" UR_PRELOAD_FILE, root) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return errno == ELOOP ? -EINVAL : -errno;
	if (fd < 0) {
		file->text = calloc(1, 1);
		return file->text ? 0 : -ENOMEM;
	}
	err = read_all(fd, file);
	close(fd);
	if (err) {
		free(file->text);
		file->text = NULL;
	}
	return err;
}

static int write_all(int fd, const char *text, size_t size)
{
	ssize_t n;

	for (; size; text += n, size -= (size_t)n) {
		n = write(fd, text, size);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* Writes a file in the folder dir, and syncs it. */
static int make(int dir, char *name, const char *text, size_t size,
		const struct ur_preload_file *like)
{
	int fd, err;

	snprintf(name, NAME_MAX, ".ld.so.preload.uroce-%d", (int)getpid());
	unlinkat(dir, name, 0);
	fd = openat(dir, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, size);
	if (!err && like->exists && fchown(fd, like->uid, like->gid))
		err = -errno;
	if (!err && fchmod(fd, like->exists ? like->mode : 0644))
		err = -errno;
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (err)
		unlinkat(dir, name, 0);
	return err;
}

int ur_preload_file_write(const char *root, const char *text, size_t size,
			  const struct ur_preload_file *like)
{
	const char *base = strrchr(UR_PRELOAD_FILE, '/') + 1;
	char path[PATH_MAX], name[NAME_MAX];
	int dir, err = 0;

	if (snprintf(path, sizeof(path), "%s" FOLDER, root) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (!size) {
		if (unlinkat(dir, base, 0) && errno != ENOENT)
			err = -errno;
	} else {
		err = make(dir, name, text, size, like);
		if (!err && renameat(dir, name, dir, base)) {
			err = -errno;
			unlinkat(dir, name, 0);
		}
	}
	/* Some file systems do not support fsync() of a folder. */
	if (!err && fsync(dir) && errno != EINVAL)
		err = -errno;
	close(dir);
	return err;
}

const char *ur_preload_file_ours(const char *text, char *entry, size_t *len)
{
	const char *at = text, *slash;

	while (*at) {
		at += strspn(at, BETWEEN);
		if (*at == '#') {
			at += strcspn(at, "\n");
			continue;
		}
		*len = strcspn(at, BETWEEN "#");
		if (!*len || *len >= PATH_MAX) {
			at += *len;
			continue;
		}
		snprintf(entry, PATH_MAX, "%.*s", (int)*len, at);
		slash = strrchr(entry, '/');
		if (!strcmp(slash ? slash + 1 : entry, LIBRARY))
			return at;
		at += *len;
	}
	return NULL;
}

void ur_preload_file_cut(char *text)
{
	char entry[PATH_MAX], *begin, *end;
	const char *at;
	size_t len;

	while ((at = ur_preload_file_ours(text, entry, &len))) {
		begin = text + (at - text);
		end = begin + len;
		if ((begin == text || begin[-1] == '\n') && *end == '\n')
			end++;
		else if (*end && *end != '\n' && *end != '#')
			end++;
		else if (begin > text && begin[-1] != '\n')
			begin--;
		memmove(begin, end, strlen(end) + 1);
	}
}
