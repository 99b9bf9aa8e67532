// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The kernel releases the lock of the run directory when the last thread of its process has
 * ended. A thread that waits for a file system may outlive SIGKILL until that answers. The
 * file has the pid, so that the next uroced can see whether the process is ending.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "device/run_lock.h"
#include "engine/ground/log.h"
#include "util/os/clock.h"
#include "util/os/rundir.h"

#define WAIT_S 10u
/* Number of checks before a process counts as not ending: the effect of a signal shows a
 * moment later. */
#define LOOKS 4u

#define ENDING "ending\n"

/* From the kernel's include/linux/sched.h, and the bit of SIGKILL in a mask of /proc. */
#define EXITING 0x4u
#define KILLED	(1ull << 8)

static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[48];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Returns whether the first thread has exited, is exiting, or has SIGKILL pending. */
static bool is_dying(pid_t pid)
{
	unsigned long long pending = 0;
	char text[4096], state = 0;
	const char *at;
	u32 flags = 0;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	if (at &&
	    sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 &&
	    (strchr("ZXx", state) || (flags & EXITING)))
		return true;
	if (!read_proc(pid, "status", text, sizeof(text)))
		return false;
	at = strstr(text, "\nSigPnd:");
	return at && sscanf(at, " SigPnd: %llx", &pending) == 1 &&
	       (pending & KILLED);
}

/* Reads the holder's pid from the file; it may be of another pid namespace. An older uroced
 * has written none. */
static bool is_ending(int fd, pid_t *pid)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	*pid = atoi(text);
	return *pid > 0 && (strstr(text, ENDING) || is_dying(*pid));
}

static int try_lock(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

static int wait_for(const struct ur_daemon *daemon, int fd)
{
	static const struct timespec step = {.tv_nsec = 5000000};
	u64 end = ur_clock_ns(CLOCK_MONOTONIC) + WAIT_S * 1000000000ull;
	u32 looks = 0;
	bool said = false;
	pid_t pid;
	int err;

	while ((err = try_lock(fd)) == -EBUSY) {
		bool ending = is_ending(fd, &pid);

		if (!ending && ++looks == LOOKS)
			break;
		if (ending && !said)
			ur_log("the uroced of %s, process %d, is ending: waiting for it, %u s at most",
			       daemon->run_dir, (int)pid, WAIT_S);
		said |= ending;
		if (ending && ur_clock_ns(CLOCK_MONOTONIC) >= end) {
			ur_log("it has not ended");
			break;
		}
		nanosleep(&step, NULL);
	}
	return err;
}

int ur_run_lock(struct ur_daemon *daemon)
{
	char path[PATH_MAX + 16];
	int fd, err;

	err = ur_rundir_make(daemon->run_dir);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/lock", daemon->run_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = wait_for(daemon, fd);
	if (err) {
		close(fd);
		return err;
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0)
		ur_debug("%s: %s", path, strerror(errno));
	daemon->lock_fd = fd;
	return 0;
}

void ur_run_lock_ending(const struct ur_daemon *daemon)
{
	if (daemon->lock_fd >= 0 &&
	    write(daemon->lock_fd, ENDING, strlen(ENDING)) < 0)
		ur_debug("the lock does not say that this process ends");
}
