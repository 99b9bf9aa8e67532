// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Copies of descriptors: dup, fork, threads that open and close. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

static bool has_filters(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) < 0 &&
	       errno == EFAULT;
}

/* From here on fstat() is the end of this process. */
static void forbid_fstat(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

/* A child has it still: not closed for the last time. To read an event, or to
 * hear that there is none, is one system call. */
void test_event_fork(void)
{
	int fd = open_node(), comp = ioctl(fd, FAKE_COMP, 0), go[2], st;
	bool filters = has_filters();
	uint64_t event;
	pid_t pid;

	if (!filters)
		leave_out("how many system calls a read is, by a filter");
	CHECK(comp >= 0 && !pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(go[1]);
		CHECK_EQ(read(go[0], &event, 1), 0);
		CHECK(!fcntl(comp, F_SETFL, O_NONBLOCK));
		if (filters)
			forbid_fstat();
		CHECK_EQ(read(comp, &event, 8), 8);
		CHECK_EQ(event, 77);
		CHECK(read(comp, &event, 8) < 0 && errno == EAGAIN);
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

void test_dup(void)
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

/* qemu-user says yes to the request and forgets it. */
static bool wipes_on_fork(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	CHECK(page != MAP_FAILED && !madvise(page, 4096, MADV_WIPEONFORK));
	*page = 1;
	pid = fork();
	if (pid == 0)
		_exit(*page);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	munmap(page, 4096);
	return status == 0;
}

void test_fork(void)
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
	wait_files(watch, 2); /* the device notices the child's end */
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
	if (wipes_on_fork()) {
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (pid == 0)
			_exit(child(dup(watch)));
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	} else {
		leave_out("a raw fork; memory is not wiped on fork");
	}
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

void test_threads(void)
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
