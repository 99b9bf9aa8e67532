// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of the door between neighbours, and the place where they are mapped. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/fuzz/peer_world.h"

static struct peer_world *const w = &peer_world;

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t at);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t at);
int __real_munmap(void *addr, size_t len);
int __wrap_munmap(void *addr, size_t len);
int __real_mprotect(void *addr, size_t len, int prot);
int __wrap_mprotect(void *addr, size_t len, int prot);

static bool may_be_shown(int fd)
{
	struct stat a, b;

	CHECK(!fstat(fd, &a));
	for (u32 i = 0; i < SHOWN_FILES; i++)
		if ((i <= SHOWN_HUGE || i == SHOWN_GONE) &&
		    !fstat(w->files[i], &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return true;
	return false;
}

/* Only files that are shown are mapped so, without any right at first. */
static bool is_shown(int prot, int flags, int fd)
{
	return fd >= 0 && prot == PROT_NONE && (flags & MAP_SHARED);
}

/* Files that are mapped shared, with nothing behind them for some bytes. */
#define MAPS	  256u
#define NO_ACCESS (64u << 10)
static struct {
	void *at;
	size_t len;
	pid_t shown; /* of that process; 0: not; -1: of a pair that has ended meanwhile */
} mapped[MAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *map_apart(size_t len, int prot, int flags, int fd, off_t at)
{
	u8 *room =
		__real_mmap(NULL, len + NO_ACCESS, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *p;

	if (room == MAP_FAILED)
		return room;
	p = __real_mmap(room, len, prot, flags | MAP_FIXED, fd, at);
	if (p == MAP_FAILED)
		__real_munmap(room, len + NO_ACCESS);
	return p;
}

static void note_map(void *at, size_t len, bool shown)
{
	const struct ur_udp_pair *pair =
		w->wire ? w->wire->pairs[PEER_SLOT] : NULL;
	u32 i = 0;

	pthread_mutex_lock(&lock);
	while (i < MAPS && mapped[i].at)
		i++;
	CHECK(i < MAPS);
	mapped[i].at = at;
	mapped[i].len = len;
	mapped[i].shown = !shown ? 0 : pair ? pair->liveness.pid : -1;
	w->maps += shown;
	CHECK(w->maps <= UR_PEER_FILES);
	pthread_mutex_unlock(&lock);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
	bool shown = is_shown(prot, flags, fd);
	void *p;

	CHECK(!shown || may_be_shown(fd));
	if (addr || fd < 0 || !(flags & MAP_SHARED))
		return __real_mmap(addr, len, prot, flags, fd, at);
	p = map_apart(ur_align_up(len, 4096), prot, flags, fd, at);
	if (shown && w->ends_when_mapped)
		peer_process_end();
	if (p != MAP_FAILED)
		note_map(p, ur_align_up(len, 4096), shown);
	return p;
}

/* Returns how many bytes there are to be unmapped. */
static size_t forget_map(void *at, size_t len)
{
	u32 i = 0;

	pthread_mutex_lock(&lock);
	while (i < MAPS && mapped[i].at != at)
		i++;
	if (at && i < MAPS) {
		CHECK_EQ(mapped[i].len, ur_align_up(len, 4096));
		mapped[i].at = NULL;
		w->maps -= mapped[i].shown != 0;
		len = mapped[i].len + NO_ACCESS;
	}
	pthread_mutex_unlock(&lock);
	return len;
}

int __wrap_munmap(void *addr, size_t len)
{
	return __real_munmap(addr, forget_map(addr, len));
}

int __wrap_mprotect(void *addr, size_t len, int prot)
{
	pthread_mutex_lock(&lock);
	for (u32 i = 0; i < MAPS; i++)
		CHECK(!mapped[i].shown || mapped[i].at != addr ||
		      prot == PROT_READ);
	pthread_mutex_unlock(&lock);
	return __real_mprotect(addr, len, prot);
}

void peer_files_check(pid_t its)
{
	pthread_mutex_lock(&lock);
	for (u32 i = 0; i < MAPS; i++)
		CHECK(!mapped[i].at || !mapped[i].shown ||
		      mapped[i].shown == its || mapped[i].shown < 0);
	pthread_mutex_unlock(&lock);
}

int peer_file_make(size_t bytes)
{
	int fd = memfd_create("shown", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	return fd;
}

static int open_again(int fd, int flags)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, flags | O_CLOEXEC);
}

/* Returns a file of as many bytes as that one, made by its name where names can be. */
static int make_nameless(int like)
{
	static const char name[] = "/dev/shm/gone";
	int fd, reads = -1;

	if (!w->named_at)
		return open_again(like, O_RDONLY);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	CHECK(fd >= 0 && !ftruncate(fd, SHOWN_BYTES));
	reads = open(name, O_RDONLY | O_CLOEXEC);
	CHECK(reads >= 0 && !unlink(name));
	close(fd);
	return reads;
}

/* It has other files where the neighbour has his, and nothing of the rings. */
static void make_stranger(void)
{
	int files[SHOWN_FILES];

	for (u32 i = 0; i < SHOWN_FILES; i++) {
		files[i] = peer_file_make(SHOWN_BYTES);
		CHECK(!fstat(files[i], &w->its[i]));
	}
	w->stranger = fork();
	CHECK(w->stranger >= 0);
	if (!w->stranger) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (u32 i = 0; i < SHOWN_FILES; i++)
			dup2(files[i], w->files[i]);
		for (;;)
			pause();
	}
	for (u32 i = 0; i < SHOWN_FILES; i++)
		close(files[i]);
}

void peer_files_make(void)
{
	int pair[2], fd;

	peer_names_make();
	w->files[SHOWN_SMALL] = peer_file_make(4096);
	w->files[SHOWN_LARGE] = peer_file_make(SHOWN_BYTES);
	fd = peer_file_make(SHOWN_BYTES);
	w->files[SHOWN_TO_READ] = open_again(fd, O_RDONLY);
	close(fd);
	w->files[SHOWN_CUT] = peer_file_make(SHOWN_BYTES);
	w->files[SHOWN_HUGE] = peer_file_make(UR_SHOWN_FILE_BYTES);
	fd = peer_file_make(SHOWN_BYTES);
	w->files[SHOWN_TO_WRITE] = open_again(fd, O_WRONLY);
	close(fd);
	fd = peer_file_make(SHOWN_BYTES);
	w->files[SHOWN_GONE] = make_nameless(fd);
	close(fd);
	CHECK(!pipe2(pair, O_CLOEXEC));
	w->files[SHOWN_PIPE] = pair[0];
	w->files[SHOWN_DEVICE] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	w->files[SHOWN_PROGRAM] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (u32 i = 0; i < SHOWN_FILES; i++)
		CHECK(w->files[i] >= 0);
	make_stranger();
}
