// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Asks the device, over a connection of its own, to explain a failure. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "check/mute.h"
#include "check/object.h"
#include "check/output.h"
#include "check/stack.h"
#include "check/why.h"
#include "kernel-abi/uroce-tunnel.h"

/* The most explanations: a program that keeps failing needs no more. */
#define STORIES 64

static int join(void)
{
	const char *run_dir = secure_getenv("UROCE_RUN_DIR");
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const struct timeval second = {.tv_sec = 1};
	int sock;

	if (!run_dir ||
	    snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", run_dir,
		     UROCE_TUN_SOCKET) >= (int)sizeof(sun.sun_path))
		return -1;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	if (!connect(sock, (struct sockaddr *)&sun, sizeof(sun)))
		return sock;
	close(sock);
	return -1;
}

/* Returns a descriptor of the text, or -1. */
static int ask_device(int sock, uint32_t qpn)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = {&msg, sizeof(msg)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int fd = -1;

	snprintf(msg.name, sizeof(msg.name), "story %u", qpn);
	if (send(sock, &msg, sizeof(msg), MSG_NOSIGNAL) != sizeof(msg) ||
	    recvmsg(sock, &mh, MSG_CMSG_CLOEXEC) != sizeof(msg))
		return -1;
	c = CMSG_FIRSTHDR(&mh);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return msg.ret ? -1 : fd;
}

static void write_story(int fd)
{
	char text[4096], line[sizeof(text) + 32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return;
	text[n] = '\0';
	n = snprintf(line, sizeof(line), "rdma-check: why: %s", text);
	ur_output_text(line, (size_t)n);
}

static bool is_muted(void)
{
	struct ur_stack here;
	bool muted;

	ur_stack_take(&here);
	ur_table_lock();
	muted = ur_mute_has("WHY", &here);
	ur_table_unlock();
	return muted;
}

/* Returns whether the context is ours: another card's queue pair may have the
 * same number. */
static bool is_ours(const void *context)
{
	const struct ur_watched_context *kept;
	bool ours;

	if (!context)
		return true;
	ur_table_lock();
	kept = ur_watched(UR_KIND_CONTEXT, context);
	ours = kept && !strcmp(kept->provider, "uroce");
	ur_table_unlock();
	return ours;
}

void ur_check_why(const void *context, uint32_t qpn)
{
	static int told;
	int saved = errno, sock, fd;

	if (!is_ours(context))
		return;
	if (__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED) >= STORIES ||
	    is_muted())
		return;
	sock = join();
	if (sock >= 0) {
		fd = ask_device(sock, qpn);
		if (fd >= 0) {
			write_story(fd);
			close(fd);
		}
		close(sock);
	}
	errno = saved;
}
