// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Runs a program in every host at once, and merges the output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fabric/fabric.h"

#define LINE_MAX_BYTES 4096

/* One host's program, and its unfinished line. */
struct stream {
	pid_t pid;
	char name[UR_FABRIC_NAME_MAX];
	size_t len;
	char line[LINE_MAX_BYTES];
};

static void print_line(struct stream *s, size_t len)
{
	printf("%s: %.*s\n", s->name, (int)len, s->line);
	fflush(stdout);
}

/* Prints complete lines, and too long ones in pieces. Returns whether more can come. */
static bool take_output(struct stream *s, int fd)
{
	ssize_t n = read(fd, s->line + s->len, sizeof(s->line) - s->len);
	char *end;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		if (s->len)
			print_line(s, s->len);
		return false;
	}
	s->len += (size_t)n;
	while ((end = memchr(s->line, '\n', s->len)) ||
	       s->len == sizeof(s->line)) {
		size_t len = end ? (size_t)(end - s->line) : s->len;
		size_t used = len + !!end;

		print_line(s, len);
		s->len -= used;
		memmove(s->line, s->line + used, s->len);
	}
	return true;
}

/* Returns 0 or -errno. */
static int start_one(struct ur_fabric *fabric, unsigned int host, char **argv,
		     struct stream *s, struct pollfd *p)
{
	int out[2];

	if (pipe2(out, O_CLOEXEC)) {
		ur_complain("fabric: a pipe: %s", strerror(errno));
		return -errno;
	}
	ur_fabric_host_name(host, s->name, sizeof(s->name));
	s->pid = ur_fabric_spawn(fabric, host, argv, out[1]);
	close(out[1]);
	*p = (struct pollfd){.fd = out[0], .events = POLLIN};
	return s->pid < 0 ? (int)s->pid : 0;
}

static void relay(struct stream *streams, struct pollfd *p, unsigned int count)
{
	unsigned int left = count;

	while (left) {
		if (poll(p, count, -1) < 0)
			continue;
		for (unsigned int i = 0; i < count; i++) {
			if (!p[i].revents || take_output(&streams[i], p[i].fd))
				continue;
			close(p[i].fd);
			p[i].fd = -1;
			left--;
		}
	}
}

int ur_fabric_run_all(struct ur_fabric *fabric, char **argv)
{
	unsigned int count = 0, hosts = fabric->plan.hosts;
	struct stream *streams = calloc(hosts, sizeof(*streams));
	struct pollfd *p = calloc(hosts, sizeof(*p));
	int status, ret = 0;

	while (streams && p && count < hosts &&
	       !start_one(fabric, count + 1, argv, &streams[count], &p[count]))
		count++;
	if (count < hosts)
		ret = UR_EXIT_NO_DEVICE;
	relay(streams, p, count);
	for (unsigned int i = 0; i < count; i++) {
		while (waitpid(streams[i].pid, &status, 0) < 0)
			;
		status = WIFEXITED(status) ? WEXITSTATUS(status)
					   : 128 + WTERMSIG(status);
		if (status > ret)
			ret = status;
	}
	free(streams);
	free(p);
	return ret;
}
