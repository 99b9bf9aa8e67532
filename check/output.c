// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Writes reports to descriptors that are still the same files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check/output.h"

struct output_place {
	int fd;
	bool known;
	struct stat is;
};

static struct output_place text_place = {.fd = STDERR_FILENO},
			   json_place = {.fd = -1};
static const char *json_file;

int ur_fd_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 900);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static void learn(struct output_place *place)
{
	place->known = place->fd >= 0 && !fstat(place->fd, &place->is);
}

static bool is_same(const struct output_place *place, const struct stat *now)
{
	return place->known && now->st_dev == place->is.st_dev &&
	       now->st_ino == place->is.st_ino;
}

static void open_json(void)
{
	json_place.fd = open(json_file,
			     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (json_place.fd >= 0)
		json_place.fd = ur_fd_high(json_place.fd);
	learn(&json_place);
}

void ur_output_init(const char *json)
{
	learn(&text_place);
	json_file = json;
	if (!json)
		return;
	open_json();
	if (json_place.fd < 0)
		dprintf(STDERR_FILENO, "rdma-check: %s: %s\n", json,
			strerror(errno));
}

bool ur_output_has_json(void)
{
	return json_file != NULL;
}

static void write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n <= 0)
			return;
		text += n;
		size -= (size_t)n;
	}
}

/* A closed pipe must not kill the program. */
static void write_quietly(int fd, const char *text, size_t size)
{
	static const struct timespec at_once;
	sigset_t pipe, before, waiting;
	int saved = errno;
	bool was;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&waiting);
	was = sigismember(&waiting, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	write_all(fd, text, size);
	if (!was)
		sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
}

/* Accepts a log that the program has put in the place of standard error. A
 * connection, or a file that the program also reads, got the number by
 * chance. */
static bool may_write(const struct stat *now)
{
	if (is_same(&text_place, now))
		return true;
	return !S_ISSOCK(now->st_mode) &&
	       !(S_ISREG(now->st_mode) &&
		 (fcntl(text_place.fd, F_GETFL) & O_ACCMODE) == O_RDWR);
}

void ur_output_text(const char *text, size_t size)
{
	int saved = errno;
	struct stat now;

	if (!fstat(text_place.fd, &now) && may_write(&now))
		write_quietly(text_place.fd, text, size);
	errno = saved;
}

void ur_output_json(const char *text, size_t size)
{
	int saved = errno;
	struct stat now;

	if (!json_file)
		return;
	/* The program has closed all descriptors, or reused the number. */
	if (json_place.fd < 0 || fstat(json_place.fd, &now) ||
	    !is_same(&json_place, &now))
		open_json();
	if (json_place.fd >= 0)
		write_quietly(json_place.fd, text, size);
	errno = saved;
}
