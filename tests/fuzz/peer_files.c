// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The files of the door between neighbours, and the place where they are mapped. */
#include <fcntl.h>
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
	for (u32 i = SHOWN_SMALL; i <= SHOWN_HUGE; i++)
		if (!fstat(w->files[i], &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return true;
	return false;
}

/* Only files that are shown are mapped so, without any right at first. */
static bool is_shown(int prot, int flags, int fd)
{
	return fd >= 0 && prot == PROT_NONE && (flags & MAP_SHARED);
}

#define MAPS 64u
static struct {
	void *at;
	size_t len;
} mapped[MAPS];

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
	void *p = __real_mmap(addr, len, prot, flags, fd, at);

	if (!is_shown(prot, flags, fd) || p == MAP_FAILED)
		return p;
	CHECK(may_be_shown(fd));
	for (u32 i = 0; i < MAPS; i++)
		if (!mapped[i].at) {
			mapped[i].at = p;
			mapped[i].len = len;
			w->maps++;
			CHECK(w->maps <= UR_PEER_FILES);
			return p;
		}
	CHECK(!"room");
	return p;
}

int __wrap_munmap(void *addr, size_t len)
{
	for (u32 i = 0; i < MAPS; i++)
		if (addr && mapped[i].at == addr) {
			CHECK_EQ(mapped[i].len, len);
			mapped[i].at = NULL;
			w->maps--;
		}
	return __real_munmap(addr, len);
}

int __wrap_mprotect(void *addr, size_t len, int prot)
{
	for (u32 i = 0; i < MAPS; i++)
		CHECK(!addr || mapped[i].at != addr || prot == PROT_READ);
	return __real_mprotect(addr, len, prot);
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

/* It has other files where the neighbour has his, and nothing of the rings. */
static void make_stranger(void)
{
	w->stranger = fork();
	CHECK(w->stranger >= 0);
	if (w->stranger)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (u32 i = 0; i < SHOWN_FILES; i++)
		dup2(peer_file_make(SHOWN_BYTES), w->files[i]);
	for (;;)
		pause();
}

void peer_files_make(void)
{
	int pair[2], fd;

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
	CHECK(!pipe2(pair, O_CLOEXEC));
	w->files[SHOWN_PIPE] = pair[0];
	w->files[SHOWN_DEVICE] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	w->files[SHOWN_PROGRAM] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (u32 i = 0; i < SHOWN_FILES; i++)
		CHECK(w->files[i] >= 0);
	make_stranger();
}
