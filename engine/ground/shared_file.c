// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks and maps files in memory of other processes of this user. */
#include "engine/ground/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LONGEST UR_SHOWN_FILE_BYTES

/* ---- files of this process ---- */

bool ur_shared_file_is_good(int fd)
{
	struct statfs fs;
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY ||
	    fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    fstatfs(fd, &fs))
		return false;
	return fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC;
}

static bool is_that_file(const struct stat *st,
			 const struct ur_shown_file *file)
{
	return st->st_ino == file->ino && st->st_dev == file->dev;
}

/* ---- files of another process ---- */

/* Reads a text file of /proc into text, which has room for "room" bytes. Returns whether it could be read. */
static bool read_text(int dir, const char *name, char *text, size_t room)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, text, room - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = 0;
	return n > 0;
}

bool ur_shared_files_may(void)
{
	char text[4096];
	const char *line;

	if (!read_text(AT_FDCWD, "/proc/thread-self/status", text,
		       sizeof(text)))
		return false;
	line = strstr(text, "\nSeccomp:");
	return !line || strtoul(line + sizeof("\nSeccomp:") - 1, NULL, 10) == 0;
}

struct opened {
	unsigned int flags;
	unsigned long long mount, ino;
};

/* Compares the user ids in its status file. The owner of its directory in /proc does not tell: it is root for a process that
 * cannot be traced. */
static bool same_user(int dir)
{
	unsigned int uid[4], own = geteuid();
	char text[1024];
	const char *line;

	if (!read_text(dir, "status", text, sizeof(text)))
		return false;
	line = strstr(text, "\nUid:");
	return line &&
	       sscanf(line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2],
		      &uid[3]) == 4 &&
	       uid[0] == own && uid[1] == own && uid[2] == own && uid[3] == own;
}

static bool same_namespace(int dir, const char *name)
{
	char own[32];
	struct stat a, b;

	snprintf(own, sizeof(own), "/proc/self/%s", name);
	return !fstatat(dir, name, &a, 0) && !stat(own, &b) &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static bool has_file(int dir, int fd, int known)
{
	struct stat a, b;
	char name[16];

	snprintf(name, sizeof(name), "fd/%d", fd);
	return !fstatat(dir, name, &a, 0) && !fstat(known, &b) &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Opens the process's directory in /proc, which never refers to another process, even if the pid is reused. */
static int open_process(s32 pid)
{
	char name[24];

	snprintf(name, sizeof(name), "/proc/%d", pid);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* If the kernel lets us read its ns/ and fd/, we may trace it. A process of our user and namespaces may trace us likewise, and
 * so read our memory anyway. */
static bool is_kin(int dir, s32 proof, int known)
{
	return same_user(dir) && same_namespace(dir, "ns/pid") &&
	       same_namespace(dir, "ns/user") && has_file(dir, proof, known);
}

static bool is_opened(int dir, int fd, struct opened *is);

/* Only the exporter can write the file; other processes of the user may have it open to read. */
static bool is_writer(int dir, s32 proof)
{
	struct opened is;

	return is_opened(dir, proof, &is) && (is.flags & O_ACCMODE) == O_RDWR;
}

bool ur_process_is_kin(s32 pid, s32 proof, int known)
{
	int dir = pid > 0 && proof >= 0 ? open_process(pid) : -1;
	bool is = dir >= 0 && is_kin(dir, proof, known);

	if (dir >= 0)
		close(dir);
	return is;
}

static bool is_opened(int dir, int fd, struct opened *is)
{
	char name[24], text[512];
	const char *mount, *ino;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	if (!read_text(dir, name, text, sizeof(text)))
		return false;
	mount = strstr(text, "mnt_id:");
	ino = strstr(text, "ino:"); /* Linux 5.14 */
	return sscanf(text, "pos: %*u flags: %o", &is->flags) == 1 && mount &&
	       sscanf(mount, "mnt_id: %llu", &is->mount) == 1 && ino &&
	       sscanf(ino, "ino: %llu", &is->ino) == 1;
}

/* Returns whether the process has that file open to read. Otherwise it could make us read a file that it cannot. */
static bool may_read(int dir, int fd, int ours)
{
	int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct opened a, b;
	bool may = self >= 0 && is_opened(dir, fd, &a) &&
		   is_opened(self, ours, &b) && a.mount == b.mount &&
		   a.ino == b.ino && !(a.flags & O_PATH) &&
		   (a.flags & O_ACCMODE) != O_WRONLY;

	if (self >= 0)
		close(self);
	return may;
}

/* Returns whether address space is unlimited: a limit is for the program's own mappings. */
static bool has_room(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

/* Maps the file without locking its pages, even after mlockall(): they belong to another process. */
static void *map_to_read(int fd, size_t bytes, u64 offset)
{
	void *p = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd,
		       (off_t)offset);

	if (p == MAP_FAILED)
		return NULL;
	munlock(p, bytes);
	/* Keep it out of core files, which it would fill. */
	madvise(p, bytes, MADV_DONTDUMP);
	if (!mprotect(p, bytes, PROT_READ))
		return p;
	munmap(p, bytes);
	return NULL;
}

static int map_file(int fd, const struct ur_shown_file *shown,
		    struct ur_seen_file *seen)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), skip;
	struct statfs fs;
	struct stat st;

	if (!ur_shared_file_is_good(fd) || fstat(fd, &st) ||
	    !is_that_file(&st, shown) || fstatfs(fd, &fs))
		return -EACCES;
	if (shown->bytes > LONGEST || shown->offset > (u64)st.st_size ||
	    shown->bytes > (u64)st.st_size - shown->offset)
		return -EINVAL;
	if (fs.f_type == HUGETLBFS_MAGIC)
		page = (u64)fs.f_bsize;
	skip = shown->offset % page;
	seen->map_bytes = ur_align_up(skip + shown->bytes, page);
	seen->map = map_to_read(fd, seen->map_bytes, shown->offset - skip);
	seen->at = seen->map + skip;
	seen->bytes = shown->bytes;
	return seen->map ? 0 : -ENOMEM;
}

/* Opens the exported file through /proc, after checks that opening it has no side effects. */
static int open_shown(int dir, const struct ur_shown_file *shown)
{
	char name[32];
	struct statfs fs;
	struct stat st;
	int path, fd = -EACCES;

	snprintf(name, sizeof(name), "fd/%d", shown->fd);
	path = openat(dir, name, O_PATH | O_CLOEXEC);
	if (path < 0)
		return -errno;
	if (!fstat(path, &st) && S_ISREG(st.st_mode) &&
	    is_that_file(&st, shown) && !fstatfs(path, &fs) &&
	    (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC)) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	close(path);
	return fd;
}

int ur_seen_file_map(const struct ur_shown_file *shown, int known,
		     struct ur_seen_file *seen)
{
	int dir, fd, err = -EPERM;

	if (shown->pid <= 0 || shown->fd < 0 || shown->proof < 0)
		return -EPERM;
	dir = open_process(shown->pid);
	if (dir < 0)
		return -EPERM;
	if (is_kin(dir, shown->proof, known) && is_writer(dir, shown->proof)) {
		err = -EACCES;
		fd = has_room() ? open_shown(dir, shown) : -EACCES;
		if (fd >= 0 && may_read(dir, shown->fd, fd))
			err = map_file(fd, shown, seen);
		if (fd >= 0)
			close(fd);
	}
	close(dir);
	return err;
}

void ur_seen_file_unmap(struct ur_seen_file *seen)
{
	if (seen->map)
		munmap((void *)(uintptr_t)seen->map, seen->map_bytes);
	seen->map = NULL;
}
