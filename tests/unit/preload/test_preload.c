// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The preload library in front of a device that is a few lines of test code:
 * what an application sees of the virtual files. The program starts the fake
 * device, then itself again with the library loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/machine.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

int open_node(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

void check_cdev(const struct stat *st)
{
	CHECK(S_ISCHR(st->st_mode));
	CHECK_EQ(st->st_rdev, makedev(FAKE_MAJOR, FAKE_MINOR));
}

void wait_files(int fd, int count)
{
	/* The device notices a hang-up on its own time. */
	while (ioctl(fd, FAKE_FILES, 0) != count)
		sched_yield();
}

static bool left_out;

void leave_out(const char *what)
{
	printf("skipped: all else passed, but not tried: %s\n", what);
	fflush(stdout); /* not once more by a child */
	left_out = true;
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

	if (!is_own_machine("/bin/sh")) {
		leave_out("other programs; those here are of another machine");
		return;
	}
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
	CHECK(write(async, "x", 1) < 0 && errno == EBADF);
	CHECK_EQ(ioctl(fd, FAKE_EVENT, 7), 0);
	CHECK(ioctl(fd, FAKE_DIE, 0) < 0 && errno == EIO);
	CHECK(ioctl(fd, FAKE_ADD_ONE, &value) < 0 && errno == EIO);
	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK(pfd.revents & POLLIN);
	/* An earlier event comes first. */
	CHECK_EQ(read(async, &event, sizeof(event)), sizeof(event));
	CHECK_EQ(event.element, 7);
	CHECK_EQ(event.type, 3);
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
	test_access();
	test_counters();
	test_netlink();
	test_ioctl();
	test_known_events();
	test_closed_unnoticed();
	test_no_room();
	test_mmap();
	test_events();
	test_event_fork();
	test_dup();
	test_fork();
	test_threads();
	test_closing();
	test_hidden_numbers();
	test_ends();
	test_rdma_cm();
	test_reply_cache();
	test_reply_cache_spare();
	test_events_ahead();
	test_programs(script);
	test_death();
	after = dup(0);
	CHECK_EQ(after, before);
	return left_out ? 77 : 0;
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
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	CHECK_EQ(status, 0);
	return 0;
}
