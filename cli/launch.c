// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Starts uroced if none serves the run directory, and waits until it is ready. A lock in
 * that directory ensures that only one is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/netns.h"
#include "util/os/clock.h"
#include "util/os/preload.h"
#include "util/os/rundir.h"

/* lock of processes that start a daemon, not the daemon's own */
#define LOCK "start.lock"
#define LOG  "uroced.log"

/* uroced's exit status while another one holds the run directory. */
#define EXIT_BUSY 3

/* How long to wait for an on-demand device that is shutting down. */
#define BUSY_NS	      10000000000ull
#define BUSY_RETRY_MS 20

static int open_in(const char *dir, const char *name, int flags)
{
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);
	return fd < 0 ? -errno : fd;
}

/* Puts the option if it was given. Returns the number of words put. */
static int put_option(char **argv, const char *option, const char *value)
{
	if (!value)
		return 0;
	argv[0] = (char *)(uintptr_t)option;
	argv[1] = (char *)(uintptr_t)value;
	return 2;
}

/* Puts the options of the device on netdev i. */
static int put_device(char **argv, const struct ur_options *options, int i)
{
	int n = put_option(argv, "--name", options->name[i]);

	return n + put_option(argv + n, "--node", options->node[i]);
}

_Noreturn void ur_launch_exec(char **argv)
{
	char dir[PATH_MAX], path[PATH_MAX + 16];

	if (!ur_own_dir(dir, sizeof(dir))) {
		snprintf(path, sizeof(path), "%s/uroced", dir);
		execv(path, argv);
	}
	execv(UROCE_SBINDIR "/uroced", argv);
	execvp("uroced", argv);
	dprintf(2,
		"uroced is neither beside this program nor in %s nor in "
		"PATH: install the package uroced\n",
		UROCE_SBINDIR);
	_exit(1);
}

/* The child: never returns. */
static _Noreturn void exec_device(const struct ur_options *options, int ready,
				  int log)
{
	char number[16];
	char *argv[6 * UR_NETDEVS_MAX + 14];
	int n = 0, null;

	snprintf(number, sizeof(number), "%d", ready);
	argv[n++] = (char *)"uroced";
	argv[n++] = (char *)"--run-dir";
	argv[n++] = (char *)(uintptr_t)options->run_dir;
	argv[n++] = (char *)"--on-demand";
	argv[n++] = (char *)"--ready-fd";
	argv[n++] = number;
	for (int i = 0; i < options->netdevs; i++) {
		n += put_option(argv + n, "--netdev", options->netdev[i]);
		n += put_device(argv + n, options, i);
	}
	if (!options->netdevs)
		n += put_device(argv + n, options, 0);
	n += put_option(argv + n, "--like", options->like);
	if (options->only)
		argv[n++] = (char *)"--only";
	argv[n] = NULL;
	/* The device must see the real system. */
	unsetenv("LD_PRELOAD");
	unsetenv("UROCE_RUN_DIR");
	setsid();
	if (chdir("/"))
		_exit(1);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(log, 1);
	dup2(log, 2);
	/* Closes our descriptors in the device: it would keep a pipe open whose end the
	 * caller waits for. */
	if (ready != 3) {
		dup2(ready, 3);
		snprintf(number, sizeof(number), "3");
	}
	close_range(4, ~0U, 0);
	fcntl(3, F_SETFD, 0);
	if (options->devices && ur_netns_make(options))
		_exit(1);
	ur_launch_exec(argv);
}

/* Prints the log of a device that failed to start. */
static void show_log(const char *run_dir)
{
	char text[4096];
	int fd = open_in(run_dir, LOG, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof(text), 0);

	if (n > 0)
		fwrite(text, 1, (size_t)n, stderr);
	else
		ur_complain("uroced ended without a word");
	if (fd >= 0)
		close(fd);
}

/*
 * The intermediate child. A program that this process executes must have no unexpected
 * child, so the device is a grandchild and goes to init. Exit status: 0, or the device's.
 */
static _Noreturn void start_apart(const struct ur_options *options,
				  const int *ready, int log)
{
	char text[16] = "";
	pid_t pid = fork();
	int status;
	ssize_t n;

	if (pid < 0)
		_exit(1);
	if (pid == 0)
		exec_device(options, ready[1], log);
	close(ready[1]);
	do
		n = read(ready[0], text, sizeof(text) - 1);
	while (n < 0 && errno == EINTR);
	if (n > 0 && strncmp(text, "ready", 5) == 0)
		_exit(0);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			_exit(1);
	_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status)
						       : 1);
}

static int start_device(const struct ur_options *options, bool retry)
{
	int ready[2], log, status = 1;
	pid_t pid;

	log = open_in(options->run_dir, LOG, O_RDWR | O_CREAT | O_TRUNC);
	if (log < 0) {
		ur_complain("cannot write %s/%s: %s", options->run_dir, LOG,
			    strerror(-log));
		return log;
	}
	if (pipe2(ready, O_CLOEXEC)) {
		close(log);
		return -errno;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		start_apart(options, ready, log);
	close(ready[0]);
	close(ready[1]);
	close(log);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BUSY && retry)
		return -EBUSY;
	show_log(options->run_dir);
	ur_complain("the device could not be started");
	return -ENXIO;
}

static bool is_absent(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -EIO;
}

int ur_launch(const struct ur_options *options, bool *started)
{
	int lock, sock, err;
	u64 until;

	*started = false;
	sock = ur_client_connect(options->run_dir);
	if (sock >= 0 || !is_absent(sock))
		goto out;
	err = ur_rundir_make(options->run_dir);
	if (err) {
		ur_complain("cannot use the run directory %s: %s; name another "
			    "with --run-dir",
			    options->run_dir, strerror(-err));
		return err;
	}
	lock = open_in(options->run_dir, LOCK, O_RDWR | O_CREAT);
	if (lock < 0) {
		ur_complain("cannot write in the run directory %s: %s; name "
			    "another with --run-dir",
			    options->run_dir, strerror(-lock));
		return lock;
	}
	while (flock(lock, LOCK_EX) && errno == EINTR)
		;
	/* Another process may have started it while we waited for the lock. */
	sock = ur_client_connect(options->run_dir);
	until = ur_clock_ns(CLOCK_MONOTONIC) + BUSY_NS;
	while (sock < 0 && is_absent(sock)) {
		err = start_device(options,
				   ur_clock_ns(CLOCK_MONOTONIC) < until);
		if (err == -EBUSY) {
			poll(NULL, 0, BUSY_RETRY_MS);
		} else if (err) {
			close(lock);
			return err;
		}
		sock = ur_client_connect(options->run_dir);
		*started = !err;
		if (!err)
			break;
	}
	close(lock);
out:
	if (sock < 0)
		ur_complain("cannot talk to the device of %s: %s",
			    options->run_dir, strerror(-sock));
	return sock;
}
