// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which file a descriptor is of, where numbers of inodes have come round: here
 * statx() says 7 for each. Whoever names a file of his own names no other.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/file_id.h"
#include "tests/check.h"

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The linker puts it in front of the C library's. */
long __wrap_syscall(long number, ...)
{
	va_list args;
	long a[6], ret;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	ret = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_statx && !ret)
		((struct statx *)a[4])->stx_ino = 7;
	return ret;
}

static struct ur_file_id id_of(int fd)
{
	struct ur_file_id id;

	CHECK(fd >= 0);
	CHECK_EQ(ur_file_id(fd, &id), 0);
	CHECK_EQ(id.ino, 7);
	return id;
}

static bool same(int a, int b)
{
	struct ur_file_id one = id_of(a), two = id_of(b);

	return ur_file_id_same(&one, &two);
}

/* The same file under another number, and another file of the kind. */
static void check(int fd, int other)
{
	CHECK(same(fd, fd));
	CHECK(same(fd, dup(fd)));
	CHECK(!same(fd, other));
	CHECK(!same(other, fd));
}

/* rdma_cm and umad files, completion channels, asynchronous events. */
static void test_sockets(void)
{
	int pair[2], other[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, other));
	check(pair[0], pair[1]);
	check(pair[0], other[0]);
	check(pair[0], socket(AF_INET, SOCK_DGRAM, 0));
}

/* uverbs files. */
static void test_memory(void)
{
	int fd = memfd_create("a", 0);
	int again;
	char path[32];

	check(fd, memfd_create("a", 0));
	/* An inode is what counts, not how it was opened. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	CHECK(same(fd, again));
	check(fd, socket(AF_UNIX, SOCK_STREAM, 0));
}

/* XRC domains. */
static void test_files(void)
{
	char one[] = "/tmp/uroce-id.XXXXXX", two[] = "/tmp/uroce-id.XXXXXX";
	int a = mkstemp(one), b = mkstemp(two), again = open(one, O_RDONLY);
	struct ur_file_id id;

	unlink(one);
	unlink(two);
	id = id_of(a);
	CHECK(same(a, again));
	/* Not every file system has handles; what has none has good numbers. */
	if (id.handle_bytes)
		check(a, b);
}

static void test_none(void)
{
	struct ur_file_id id;

	CHECK(ur_file_id(-1, &id) < 0);
}

int main(int argc, char **argv)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	cases(&argc, argv);
	if (getsockopt(socket(AF_UNIX, SOCK_DGRAM, 0), SOL_SOCKET, SO_COOKIE,
		       &cookie, &len))
		SKIP("sockets have no cookies here");
	CASE(test_sockets());
	CASE(test_memory());
	CASE(test_files());
	CASE(test_none());
	return cases_status();
}
