/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The preload library in front of a device that is a few lines of test code:
 * what an application sees of the virtual files. The program starts the fake
 * device, then itself again with the library loaded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/preload/fake_device.h"

#define NODE "/dev/infiniband/uverbs0"
#define CM   "/dev/infiniband/rdma_cm"
#define CA   "/sys/class/infiniband/uroce0"

static int open_node(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static void check_cdev(const struct stat *st)
{
	CHECK(S_ISCHR(st->st_mode));
	CHECK_EQ(st->st_rdev, makedev(FAKE_MAJOR, FAKE_MINOR));
}

static void wait_files(int fd, int count)
{
	/* The device notices a hang-up on its own time. */
	while (ioctl(fd, FAKE_FILES, 0) != count)
		sched_yield();
}

static void test_stat(void)
{
	int fd = open_node(), dirfd;
	struct statx stx;
	struct stat st;

	CHECK(!fstat(fd, &st));
	check_cdev(&st);
	CHECK(!stat(NODE, &st));
	check_cdev(&st);
	CHECK(!lstat("/dev//infiniband/uverbs0", &st));
	check_cdev(&st);
	CHECK(!fstatat(fd, "", &st, AT_EMPTY_PATH));
	check_cdev(&st);
	dirfd = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
	CHECK(!fstatat(dirfd, "uverbs0", &st, 0));
	check_cdev(&st);
	CHECK(!statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &stx));
	CHECK(S_ISCHR(stx.stx_mode));
	CHECK_EQ(stx.stx_rdev_major, FAKE_MAJOR);
	CHECK_EQ(stx.stx_rdev_minor, FAKE_MINOR);
	CHECK(!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx));
	CHECK(S_ISCHR(stx.stx_mode));
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(stat("/dev/infiniband/uverbs7", &st) && errno == ENOENT);
	close(fd);
	fd = openat(dirfd, "uverbs0", O_RDWR);
	CHECK(!fstat(fd, &st));
	check_cdev(&st);
	CHECK_EQ(fcntl(fd, F_GETFD), 0);
	close(fd);
	close(dirfd);
}

static void test_tree(void)
{
	char buf[4096], *p;
	struct dirent *e;
	int root, fd, found = 0;
	glob_t g;
	DIR *d;
	FILE *f;

	d = opendir("/sys/class/infiniband_verbs");
	CHECK(d);
	while ((e = readdir(d)))
		found += strcmp(e->d_name, "uverbs0") == 0;
	CHECK_EQ(found, 1);
	fd = openat(dirfd(d), "uverbs0/ibdev", O_RDONLY);
	CHECK_EQ(read(fd, buf, sizeof(buf)), 7);
	close(fd);
	closedir(d);
	f = fopen(CA "/node_type", "r");
	CHECK(f && fgets(buf, sizeof(buf), f));
	fclose(f);
	CHECK(!access(CA, F_OK));
	CHECK(access("/sys/class/infiniband/none", F_OK) && errno == ENOENT);
	CHECK(realpath(CA "/ports/1", buf));
	CHECK(!strcmp(buf, CA "/ports/1"));
	p = realpath("/sys/class/infiniband/uroce0", NULL);
	CHECK(p && !strcmp(p, CA));
	free(p);
	root = open("/", O_RDONLY | O_DIRECTORY);
	fd = openat(root, "sys/class/infiniband/uroce0/node_type", O_RDONLY);
	CHECK(fd >= 0);
	close(fd);
	close(root);
	CHECK(!glob("/sys/class/infiniband/*/node_type", 0, NULL, &g));
	CHECK_EQ(g.gl_pathc, 1);
	CHECK(!strcmp(g.gl_pathv[0], CA "/node_type"));
	globfree(&g);
	CHECK(!glob("/dev/infiniband/u*", 0, NULL, &g));
	CHECK(!strcmp(g.gl_pathv[0], NODE));
	globfree(&g);
	CHECK(socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA) < 0 &&
	      errno == EPROTONOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	CHECK(fd >= 0);
	close(fd);
}

/* Kept open and read again, as perftest does: each read is new. */
static void test_open_counter(int before)
{
	int fd = open(CA "/ports/1/counters/x", O_RDONLY), copy, now;
	char text[16] = "";
	struct stat st;

	CHECK(fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode));
	CHECK(read(fd, text, sizeof(text)) > 0);
	now = atoi(text);
	CHECK(now > before);
	CHECK_EQ(read(fd, text, sizeof(text)), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	copy = dup(fd);
	close(fd);
	CHECK(read(copy, text, sizeof(text)) > 0);
	CHECK(atoi(text) > now);
	now = atoi(text);
	CHECK(pread(copy, text, sizeof(text), 0) > 0);
	CHECK(atoi(text) > now);
	CHECK(write(copy, text, 1) < 0 && errno == EBADF);
	close(copy);
}

static void test_counters(void)
{
	int fd = open_node(), before = ioctl(fd, FAKE_SYNCS, 0);
	char text[16] = "";
	FILE *f = fopen(CA "/ports/1/counters/x", "r");

	CHECK(f && fgets(text, sizeof(text), f));
	fclose(f);
	CHECK(atoi(text) > before);
	CHECK_EQ(ioctl(fd, FAKE_SYNCS, 0), atoi(text));
	test_open_counter(atoi(text));
	close(fd);
}

static void test_ioctl(void)
{
	uint64_t value = 41;
	char buf[16] = {1};
	struct iovec iov[2] = {{buf, 16}, {buf, 8}};
	int fd = open_node(), one = 1, outs = ioctl(fd, FAKE_OUTS, 0);
	static uint64_t far = 6;

	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 42);
	CHECK_EQ(ioctl(fd, FAKE_OUTS, 0), outs + 1);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &far), 0);
	CHECK_EQ(far, 7);
	CHECK_EQ(ioctl(fd, FAKE_OUTS, 0), outs + 1);
	CHECK(ioctl(fd, FAKE_ADD_ONE, (void *)8) < 0 && errno == EFAULT);
	CHECK(ioctl(fd, FAKE_REFUSE, 0) < 0 && errno == EOPNOTSUPP);
	CHECK(ioctl(fd, 999, 0) < 0 && errno == ENOTTY);
	CHECK_EQ(ioctl(fd, FIONBIO, &one), 0);
	CHECK_EQ(write(fd, buf, 16), 16);
	CHECK_EQ(writev(fd, iov, 2), 24);
	CHECK(write(fd, buf, 4) < 0 && errno == EINVAL);
	CHECK(read(fd, buf, 16) < 0 && errno == EINVAL);
	CHECK(pwrite(fd, buf, 16, 0) < 0 && errno == ESPIPE);
	CHECK_EQ(ioctl(fd, FAKE_FGET, fd), 0);
	CHECK(ioctl(fd, FAKE_FGET, 9999) < 0 && errno == EBADF);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	close(fd);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) < 0 && errno == EBADF);
}

static void test_mmap(void)
{
	int fd = open_node();
	/* As UCX does, past any wrapper. */
	char *map = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED,
				    fd, 8192);

	CHECK(map != MAP_FAILED);
	CHECK(!memcmp(map, "ring", 4));
	syscall(SYS_munmap, map, 4096);
	close(fd);
}

static void test_events(void)
{
	int fd = open_node(), comp, dup1, async;
	uint64_t event[2];
	struct pollfd pfd;

	comp = ioctl(fd, FAKE_COMP, 0);
	CHECK(comp >= 0);
	pfd = (struct pollfd){.fd = comp, .events = POLLIN};
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 1234), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(read(comp, event, 4) < 0 && errno == EINVAL);
	CHECK_EQ(read(comp, event, 8), 8);
	CHECK_EQ(event[0], 1234);
	CHECK(!fcntl(comp, F_SETFL, O_NONBLOCK));
	CHECK(read(comp, event, 8) < 0 && errno == EAGAIN);
	dup1 = dup(comp);
	close(comp);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), 0);
	CHECK(read(dup1, event, 4) < 0 && errno == EINVAL);
	/* dup2() over it is a close as well. */
	CHECK_EQ(dup2(0, dup1), dup1);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), FAKE_COOKIE);
	close(dup1);
	async = ioctl(fd, FAKE_ASYNC, 0);
	CHECK(async >= 0);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 7), 0);
	CHECK_EQ(read(async, event, 16), 16);
	CHECK_EQ(event[0], 7);
	/* A number that the command took back is free again. */
	CHECK(ioctl(fd, FAKE_FAIL_LATE, 0) < 0 && errno == EPERM);
	comp = open("/dev/null", O_RDWR);
	CHECK_EQ(read(comp, event, 1), 0);
	close(comp);
	close(async);
	close(fd);
}

/* A child has it still: not closed for the last time. */
static void test_event_fork(void)
{
	int fd = open_node(), comp = ioctl(fd, FAKE_COMP, 0), go[2], st;
	uint64_t event;
	pid_t pid;

	CHECK(comp >= 0 && !pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(go[1]);
		CHECK_EQ(read(go[0], &event, 1), 0);
		CHECK_EQ(read(comp, &event, 8), 8);
		CHECK_EQ(event, 77);
		_exit(0);
	}
	close(go[0]);
	close(comp);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), 0);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 77), 0);
	close(go[1]);
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK_EQ(st, 0);
	/* One that is made after the fork is the parent's alone. */
	comp = ioctl(fd, FAKE_COMP, 0);
	close(comp);
	CHECK_EQ(ioctl(fd, FAKE_CLOSED, 0), FAKE_COOKIE);
	close(fd);
}

static void test_dup(void)
{
	int watch = open_node(), fd, copies[4];
	uint64_t value = 0;

	wait_files(watch, 1);
	fd = open_node();
	wait_files(watch, 2);
	copies[0] = dup(fd);
	copies[1] = fcntl(fd, F_DUPFD, 100);
	copies[2] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	copies[3] = dup3(fd, 200, O_CLOEXEC);
	CHECK_EQ(copies[3], 200);
	close(fd);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(ioctl(copies[i], FAKE_ADD_ONE, &value), 0);
		if (i < 3)
			close(copies[i]);
	}
	CHECK_EQ(value, 4);
	CHECK_EQ(ioctl(watch, FAKE_FILES, 0), 2);
	CHECK_EQ(close_range(150, 250, 0), 0);
	wait_files(watch, 1);
	/* The hidden twins survive a loop over all numbers. */
	fd = open_node();
	for (int i = fd + 1; i < 5000; i++)
		close(i);
	closefrom(fd + 1);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(ioctl(watch, FAKE_ADD_ONE, &value), 0);
	/* Also somebody who wants their number. */
	for (int i = 500; i < 520; i++)
		dup2(0, i);
	for (int i = 4090; i < 4110; i++)
		dup2(0, i);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(ioctl(watch, FAKE_ADD_ONE, &value), 0);
	closefrom(500);
	CHECK_EQ(value, 8);
	/* A number closed behind the library's back is not ours any more. */
	syscall(SYS_close, fd);
	CHECK_EQ(syscall(SYS_dup, 0), fd);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) < 0 && errno == ENOTTY);
	wait_files(watch, 1);
	close(fd);
	close(watch);
}

static int child(int fd)
{
	uint64_t value = 1;
	struct stat st;
	int mine;

	/* Its own memory, over a connection of its own. */
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 2);
	/* The kernel's write() wants the credentials of open(). */
	CHECK(write(fd, &value, 8) < 0 && errno == EACCES);
	value = 1;
	CHECK(!fstat(fd, &st));
	check_cdev(&st);
	mine = open_node();
	CHECK_EQ(ioctl(mine, FAKE_ADD_ONE, &value), 0);
	CHECK_EQ(value, 2);
	close(mine);
	close(fd);
	return 0;
}

static void test_fork(void)
{
	int watch = open_node(), fd = open_node(), status, go[2];
	uint64_t value = 0;
	char c;
	pid_t pid = fork();

	if (pid == 0)
		_exit(child(fd));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
	wait_files(watch, 2); /* the device hears of the child's end */
	/* A child holds the file open after the parent closed it. */
	CHECK(!pipe(go));
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		CHECK_EQ(read(go[0], &c, 1), 0);
		_exit(0);
	}
	close(go[0]);
	close(fd);
	CHECK_EQ(ioctl(watch, FAKE_FILES, 0), 2);
	CHECK_EQ(ioctl(watch, FAKE_FILES, 0), 2);
	close(go[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	wait_files(watch, 1);
	/* A raw fork runs no handlers and is a fork all the same. */
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(child(dup(watch)));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	/* A vfork child closes its own descriptors, not ours. */
	pid = vfork();
	if (pid == 0) {
		close(watch);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(ioctl(watch, FAKE_ADD_ONE, &value), 0);
	close(watch);
}

static void *add_many(void *arg)
{
	int *fds = arg;
	uint64_t value = 0;

	for (int i = 0; i < 300; i++) {
		int fd = open(NODE, O_RDWR | O_CLOEXEC);

		CHECK(fd >= 0);
		CHECK_EQ(ioctl(fds[i & 1], FAKE_ADD_ONE, &value), 0);
		CHECK_EQ(ioctl(fd, FAKE_ADD_ONE, &value), 0);
		close(fd);
	}
	CHECK_EQ(value, 600);
	return NULL;
}

static void test_threads(void)
{
	int fds[2] = {open_node(), open_node()};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, add_many, fds));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	wait_files(fds[0], 2);
	close(fds[0]);
	close(fds[1]);
}

static _Atomic int got_event;

static void *get_event(void *arg)
{
	uint32_t command[4] = {12, 8 | 336 << 16};

	CHECK_EQ(write((int)(intptr_t)arg, command, 16), 16);
	got_event = 1;
	return NULL;
}

static void on_signal(int sig)
{
}

static void test_rdma_cm(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	int fd = open_node(), cm = open(CM, O_RDWR | O_CLOEXEC);
	uint32_t command[4] = {12, 8 | 336 << 16};
	struct pollfd pfd = {.fd = cm, .events = POLLIN};
	pthread_t thread;
	struct stat st;

	CHECK(!fstat(cm, &st) && S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_rdev, makedev(10, 58));
	command[0] = 0;
	CHECK_EQ(write(cm, command, 16), 16);
	command[0] = 12;
	/* What cannot succeed is refused before it waits. */
	command[1] = 8 | 100 << 16;
	CHECK(write(cm, command, 16) < 0 && errno == ENOSPC);
	command[1] = 9 | 336 << 16;
	CHECK(write(cm, command, 16) < 0 && errno == EINVAL);
	command[1] = 8 | 336 << 16;
	CHECK(!fcntl(cm, F_SETFL, O_NONBLOCK));
	CHECK(write(cm, command, 16) < 0 && errno == EAGAIN);
	CHECK_EQ(ioctl(fd, FAKE_PEERS, 0), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK_EQ(write(cm, command, 16), 16);
	CHECK_EQ(ioctl(fd, FAKE_WITHDRAWN, 0), 0);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(write(cm, command, 16) < 0 && errno == EAGAIN);
	CHECK(!fcntl(cm, F_SETFL, 0));
	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
	CHECK(write(cm, command, 16) < 0 && errno == EINTR);
	CHECK(!pthread_create(&thread, NULL, get_event, (void *)(intptr_t)cm));
	/* Commands go through while somebody waits for an event. */
	command[0] = 0;
	CHECK_EQ(write(cm, command, 16), 16);
	CHECK_EQ(got_event, 0);
	CHECK_EQ(ioctl(fd, FAKE_PEERS, 0), 0);
	pthread_join(thread, NULL);
	CHECK(ioctl(cm, FAKE_ADD_ONE, 0) < 0 && errno == ENOTTY);
	CHECK(read(cm, command, 16) < 0 && errno == EINVAL);
	close(cm);
	close(fd);
}

static void run(char *const argv[], char *const envp[])
{
	int status;
	pid_t pid;

	CHECK(!posix_spawnp(&pid, argv[0], NULL, NULL, argv, envp));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void test_programs(const char *script)
{
	char name[1024];
	char *shell[] = {(char *)"sh", (char *)"-c",
			 (char *)"test -c " NODE " && test -c " CM, NULL};
	char *python[] = {(char *)"python3", name, NULL};
	char *other[] = {(char *)"LD_PRELOAD=", NULL};
	char *none[] = {NULL};

	run(shell, environ);
	/* An environment made up by the caller has the device too. */
	run(shell, none);
	run(shell, other);
	snprintf(name, sizeof(name), "%s", script);
	run(python, environ);
}

static void test_death(void)
{
	int fd = open_node(), async = ioctl(fd, FAKE_ASYNC, 0), again;
	struct {
		uint64_t element;
		uint32_t type, rsv;
	} event;
	struct pollfd pfd = {.fd = async, .events = POLLIN};
	uint64_t value = 0;

	CHECK(async >= 0);
	CHECK(ioctl(fd, FAKE_DIE, 0) < 0 && errno == EIO);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) < 0 && errno == EIO);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(pfd.revents & POLLIN);
	CHECK_EQ(read(async, &event, sizeof(event)), sizeof(event));
	CHECK_EQ(event.type, 8); /* IBV_EVENT_DEVICE_FATAL */
	CHECK(read(async, &event, sizeof(event)) < 0 && errno == EIO);
	/* Its listening socket is among the last things to go. */
	do
		again = open(NODE, O_RDWR);
	while (again < 0 && errno == EIO);
	CHECK(again < 0 && errno == ENXIO);
	close(async);
	close(fd);
}

static int inner(const char *script)
{
	int before = dup(0), after;

	close(before);
	test_stat();
	test_tree();
	test_counters();
	test_ioctl();
	test_mmap();
	test_events();
	test_event_fork();
	test_dup();
	test_fork();
	test_threads();
	test_rdma_cm();
	test_programs(script);
	test_death();
	after = dup(0);
	CHECK_EQ(after, before);
	return 0;
}

/* argv: the library, the python script */
int main(int argc, char **argv)
{
	char dir[] = "/tmp/uroce-preload-XXXXXX", command[64];
	int listener, status;
	pid_t device, pid;

	if (getenv("PRELOAD_TEST_INNER"))
		return inner(argv[2]);
	CHECK(argc == 3);
	CHECK(mkdtemp(dir));
	fake_device_make_tree(dir);
	listener = fake_device_listen(dir);
	device = fork();
	if (device == 0)
		fake_device_serve(listener, dir);
	close(listener);
	pid = fork();
	if (pid == 0) {
		setenv("PRELOAD_TEST_INNER", "1", 1);
		setenv("UROCE_RUN_DIR", dir, 1);
		setenv("LD_PRELOAD", argv[1], 1);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	kill(device, SIGKILL);
	waitpid(device, NULL, 0);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK_EQ(system(command), 0);
	CHECK_EQ(status, 0);
	return 0;
}
