// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file that memory is, found and mapped by another process: which may not be made to map
 * what the first one could not read, nor anything of a stranger.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/ground/file_search.h"
#include "tests/check.h"
#include "tests/machine.h"

#define BYTES (64u << 10)
#define MANY  2000u

static int known, known_read;
static const char secret[] = "/dev/shm/uroce-unit-secret";

static u8 *map(int fd, int flags)
{
	u8 *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static int make(void)
{
	int fd = memfd_create("shown", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, BYTES));
	return fd;
}

static int open_again(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_RDONLY | O_CLOEXEC);
}

static bool find(const u8 *at, u64 len, struct ur_shown_file *file)
{
	struct ur_file_search *s;
	int ret = -EAGAIN;

	s = ur_file_search_begin((uintptr_t)at, len);
	CHECK(s);
	while (ret == -EAGAIN)
		ret = ur_file_search_step(s, file);
	ur_file_search_end(s);
	if (ret)
		file->fd = -1;
	return !ret;
}

/* Only memory that is one file in memory, whole and shared. */
static void test_find(void)
{
	int fd = make(), plain = open(".", O_TMPFILE | O_RDWR, 0600);
	u8 *p = map(fd, MAP_SHARED), *q;
	struct ur_shown_file file;

	CHECK(find(p + 100, BYTES - 100, &file));
	CHECK(file.offset == 100 && file.bytes == BYTES - 100 && file.fd >= 0);
	close(file.fd);
	CHECK(!find(p, BYTES + 4096, &file));
	CHECK(!mprotect(p, 4096, PROT_NONE));
	CHECK(!find(p, BYTES, &file) && find(p + 4096, 4096, &file));
	close(file.fd);
	munmap(p, BYTES);
	p = map(fd, MAP_PRIVATE);
	CHECK(!find(p, BYTES, &file));
	munmap(p, BYTES);
	p = map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
	CHECK(!find(p, BYTES, &file));
	munmap(p, BYTES);
	q = map(-1, MAP_SHARED | MAP_ANONYMOUS);
	CHECK(!find(q, BYTES, &file)); /* nobody has a descriptor of it */
	munmap(q, BYTES);
	if (plain >= 0 && !ftruncate(plain, BYTES)) {
		struct stat a, b;

		p = map(plain, MAP_SHARED);
		CHECK(!fstat(plain, &a) && !fstat(fd, &b));
		if (!find(p, BYTES, &file))
			file.fd = -1; /* no tmpfs */
		munmap(p, BYTES);
	}
	if (file.fd >= 0)
		close(file.fd);
	if (plain >= 0)
		close(plain);
	close(fd);
}

/* Linux before 6.11 has no such question. */
static void refuse_question(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

/* Where all mappings are read, no step reads many of them. */
static void test_text(void)
{
	size_t bytes = (size_t)MANY * 2 * 4096;
	struct ur_shown_file file;
	struct ur_file_search *s;
	u32 steps = 0;
	int fd, err;
	u8 *lots, *p;

	refuse_question();
	test_find();
	fd = make();
	p = map(fd, MAP_SHARED);
	lots = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(lots != MAP_FAILED && lots < p);
	for (u32 i = 0; i < MANY; i++)
		CHECK(!mprotect(lots + (size_t)i * 8192, 4096, PROT_READ));
	s = ur_file_search_begin((uintptr_t)p, BYTES);
	CHECK(s);
	do {
		err = ur_file_search_step(s, &file);
		steps++;
	} while (err == -EAGAIN);
	CHECK_EQ(err, 0);
	CHECK(steps > MANY / 500);
	ur_file_search_end(s);
	close(file.fd);
	close(fd);
	munmap(p, BYTES);
	munmap(lots, bytes);
}

/* A process of its own: a filter stays. */
static void test_older_kernel(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		test_text();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

/* By its name, where the descriptor was closed. */
static void test_name(void)
{
	int fd = open(secret, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct ur_shown_file file;
	u8 *p;

	CHECK(fd >= 0 && !ftruncate(fd, BYTES));
	p = map(fd, MAP_SHARED);
	close(fd);
	CHECK(find(p, BYTES, &file) && file.fd >= 0);
	close(file.fd);
	CHECK(!unlink(secret) && !find(p, BYTES, &file));
	munmap(p, BYTES);
}

/* The other process does so before it shows. */
struct shower {
	uid_t uid;
	bool undumpable;
	int flags; /* with which it has the file open; 0: by a descriptor of its own */
	bool other; /* says that it is another file */
	bool no_proof, reader;
};

static void show(const struct shower *s, int sock)
{
	int fd = s->flags ? open(secret, s->flags | O_CLOEXEC) : make();
	struct ur_shown_file shown = {.bytes = BYTES, .number = 1};
	struct stat st;
	u8 *p;

	CHECK(fd >= 0 && !fstat(fd, &st));
	if (!s->flags) {
		p = map(fd, MAP_SHARED);
		memset(p, 7, BYTES);
	}
	if (s->uid)
		CHECK(!setgid(s->uid) && !setuid(s->uid));
	CHECK(!prctl(PR_SET_DUMPABLE, !s->undumpable));
	shown.dev = st.st_dev;
	shown.ino = st.st_ino + s->other;
	shown.pid = getpid();
	shown.fd = fd;
	shown.proof = s->no_proof ? fd : s->reader ? known_read : known;
	CHECK_EQ(send(sock, &shown, sizeof(shown), 0), sizeof(shown));
	for (;;)
		pause();
}

static int see(const struct shower *s, struct ur_seen_file *seen,
	       struct ur_shown_file *shown)
{
	int pair[2], ret;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	pid = fork();
	if (!pid)
		show(s, pair[1]);
	CHECK_EQ(recv(pair[0], shown, sizeof(*shown), 0), sizeof(*shown));
	*seen = (struct ur_seen_file){0};
	ret = ur_seen_file_map(shown, known, seen);
	CHECK_EQ(ur_process_is_kin(shown->pid, shown->proof, known),
		 s->reader || ret != -EPERM);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	close(pair[0]);
	close(pair[1]);
	return ret;
}

static void test_map(void)
{
	const struct shower good = {0}, other = {.other = true},
			    no_proof = {.no_proof = true},
			    reader = {.reader = true};
	struct ur_shown_file shown;
	struct ur_seen_file seen;

	CHECK_EQ(see(&good, &seen, &shown), 0);
	/* It stays when its process has gone. */
	CHECK(seen.bytes == BYTES && seen.at[0] == 7 &&
	      seen.at[BYTES - 1] == 7);
	ur_seen_file_unmap(&seen);
	CHECK(!seen.map);
	CHECK_EQ(ur_seen_file_map(&shown, known, &seen), -EPERM);
	CHECK_EQ(see(&other, &seen, &shown), -EACCES);
	CHECK_EQ(see(&no_proof, &seen, &shown), -EPERM);
	/* It is as we are, and not the one who writes to us. */
	CHECK_EQ(see(&reader, &seen, &shown), -EPERM);
}

/* It names a file of ours that it cannot read; or is a stranger, also one that looks like root's by the owner of its
 * directory in /proc. */
static void test_deputy(void)
{
	const struct shower path = {.flags = O_PATH},
			    write_only = {.flags = O_WRONLY},
			    read_only = {.flags = O_RDONLY},
			    user = {.uid = 65534},
			    hidden = {.uid = 65534, .undumpable = true},
			    given = {.uid = 65534,
				     .undumpable = true,
				     .flags = O_PATH};
	struct ur_shown_file shown;
	struct ur_seen_file seen;
	int fd = open(secret, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, BYTES));
	CHECK_EQ(see(&path, &seen, &shown), -EACCES);
	CHECK_EQ(see(&write_only, &seen, &shown), -EACCES);
	CHECK_EQ(see(&read_only, &seen, &shown), 0);
	ur_seen_file_unmap(&seen);
	if (!geteuid()) {
		CHECK_EQ(see(&user, &seen, &shown), -EPERM);
		CHECK_EQ(see(&hidden, &seen, &shown), -EPERM);
		CHECK_EQ(see(&given, &seen, &shown), -EPERM);
	}
	close(fd);
	unlink(secret);
}

/* Bytes that are not in the file, and numbers that are none. */
static void test_nonsense(void)
{
	int fd = make();
	struct ur_shown_file file, bad;
	struct ur_seen_file seen = {0};
	u8 *p = map(fd, MAP_SHARED);
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	CHECK(find(p, BYTES, &file));
	file.pid = pid;
	file.proof = known;
	file.fd = fd;
	bad = file;
	bad.offset = BYTES - 10;
	CHECK_EQ(ur_seen_file_map(&bad, known, &seen), -EINVAL);
	bad.offset = UINT64_MAX - 10;
	CHECK_EQ(ur_seen_file_map(&bad, known, &seen), -EINVAL);
	bad = file;
	bad.bytes = UINT64_MAX;
	CHECK_EQ(ur_seen_file_map(&bad, known, &seen), -EINVAL);
	bad = file;
	bad.fd = 0x7fffffff;
	CHECK(ur_seen_file_map(&bad, known, &seen));
	bad = file;
	bad.pid = -1;
	CHECK(ur_seen_file_map(&bad, known, &seen));
	CHECK(!seen.map);
	bad = file;
	bad.offset = 4097;
	bad.bytes = 10;
	p[4097] = 9;
	CHECK(!ur_seen_file_map(&bad, known, &seen) && seen.at[0] == 9);
	ur_seen_file_unmap(&seen);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	close(fd);
}

/* Huge pages are mapped whole, where there are any. */
static void test_huge(void)
{
	const size_t page = 2u << 20;
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	struct ur_shown_file file;
	struct ur_seen_file seen = {0};
	pid_t pid;
	u8 *p;

	if (fd < 0 || ftruncate(fd, 2 * page))
		return;
	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return;
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	p[page + 5000] = 3;
	CHECK(find(p + page + 5000, 100, &file));
	file.pid = pid;
	file.proof = known;
	file.fd = fd;
	CHECK(!ur_seen_file_map(&file, known, &seen) && seen.at[0] == 3);
	CHECK_EQ(seen.map_bytes, page);
	ur_seen_file_unmap(&seen);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	munmap(p, 2 * page);
	close(fd);
}

int main(void)
{
	if (is_emulated())
		return 77;
	known = make();
	known_read = open_again(known);
	CHECK(known_read >= 0);
	test_find();
	test_older_kernel();
	test_name();
	test_map();
	test_deputy();
	test_nonsense();
	test_huge();
	return 0;
}
