// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The two tunnel commands that need no open file: SYNC and STATUS. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/client.h"
#include "kernel-abi/uroce-tunnel.h"
#include "util/os/proof.h"
#include "util/os/rundir.h"
#include "util/os/scm.h"
#include "util/text.h"

/* Far above any status text; a longer one is not from our device. */
#define STATUS_MAX (64u << 20)

static int ask_control(int sock, struct uroce_tun_msg *msg, const char *text,
		       size_t len, int fd, int *ret_fd)
{
	struct iovec iov[] = {{msg, sizeof(*msg)},
			      {(void *)(uintptr_t)text, len}};
	int flags;

	*ret_fd = -1;
	msg->nfds = fd >= 0;
	if (ur_scm_send(sock, iov, 2, &fd, msg->nfds, 0) ||
	    ur_scm_recv(sock, iov, 1, ret_fd, 1, &flags) != sizeof(*msg) ||
	    msg->op != UROCE_TUN_DONE)
		return -EIO;
	if (msg->ret >= 0 && *ret_fd < 0 && flags & MSG_CTRUNC)
		return -EMFILE;
	return msg->ret < 0 ? (int)msg->ret : 0;
}

int ur_client_ask(int sock, struct uroce_tun_msg *msg, int fd, int *ret_fd)
{
	return ask_control(sock, msg, "", 0, fd, ret_fd);
}

int ur_client_ask_text(int sock, struct uroce_tun_msg *msg, const char *text,
		       size_t len)
{
	int fd, err = ask_control(sock, msg, text, len, -1, &fd);

	if (fd >= 0)
		close(fd);
	return err;
}

static int sync_with(int sock, int proof)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int fd, err = ur_client_ask(sock, &msg, proof, &fd);

	if (!err && fd >= 0)
		close(fd);
	return err;
}

/* Does as ur_proof_net_admin() in the network namespace of the process that we are
 * connected to. The calling thread, the only one, is in ours again afterwards. */
static int proof_over_there(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char path[32];
	int there, here, proof = -EPERM;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)peer.pid);
	here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (here >= 0 && there >= 0 && !setns(there, CLONE_NEWNET)) {
		proof = ur_proof_net_admin();
		/* We must not go on in a foreign network namespace. */
		if (setns(here, CLONE_NEWNET))
			abort();
	}
	if (here >= 0)
		close(here);
	if (there >= 0)
		close(there);
	return proof;
}

/* Checks that the device answers, and proves our rights to it. */
static int introduce(const char *run_dir, int sock)
{
	int proof = ur_proof_of(run_dir), err = sync_with(sock, proof);

	if (proof >= 0)
		close(proof);
	if (err == -EXDEV) {
		proof = proof_over_there(sock);
		err = sync_with(sock, proof);
		if (proof >= 0)
			close(proof);
	}
	/* Goes on without the right: a command that needs it fails later. */
	return err == -EXDEV || err == -EPERM ? 0 : err;
}

int ur_client_connect(const char *run_dir)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int dirfd, sock, err = ur_rundir_check(run_dir);

	if (err)
		return err;

	/* Through a descriptor: a socket's name is limited to 107 characters. */
	dirfd = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/%s",
		 dirfd, UROCE_TUN_SOCKET);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	err = sock < 0 || connect(sock, (struct sockaddr *)&sun, sizeof(sun))
		      ? -errno
		      : 0;
	close(dirfd);
	if (!err)
		err = ur_rundir_check_peer(run_dir, sock);
	/* Another user's process gets no proof, since it could pass that on. */
	if (err >= 0)
		err = err ? sync_with(sock, -1) : introduce(run_dir, sock);
	if (!err)
		return sock;
	if (sock >= 0)
		close(sock);
	return err;
}

/* Returns the pid of the listening process; 0: it is outside our PID namespace. */
static pid_t peer_of(int sock)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len)
		       ? 0
		       : cred.pid;
}

bool ur_client_lives(int sock, const char *run_dir)
{
	int other = ur_client_connect(run_dir);
	bool same;

	if (other < 0)
		return false;
	same = peer_of(other) == peer_of(sock);
	close(other);
	return same;
}

/* Replaces control characters, raw or as JSON's \u and four digits, by "?": a terminal
 * would obey them. */
static void clean(char *text)
{
	char *to = text;
	unsigned int c;

	ur_text_clean(text, true);
	for (const char *s = text; *s; s++) {
		if (*s == '\\' && s[1] == 'u' &&
		    sscanf(s + 2, "%4x", &c) == 1 &&
		    (c < 0x20 || (c >= 0x7f && c < 0xa0))) {
			*to++ = '?';
			s += 5;
		} else if (*s == '\\' && s[1] && s[1] != 'u') {
			*to++ = strchr("bfr", s[1]) ? '?' : *s;
			s++;
			if (to[-1] == '\\')
				*to++ = *s;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

int ur_client_status(int sock, const char *subject, char **ret_text,
		     size_t *ret_size)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	size_t done = 0;
	int err, fd;
	char *text;

	snprintf(msg.name, sizeof(msg.name), "%s", subject);
	err = ur_client_ask(sock, &msg, -1, &fd);
	if (err)
		goto out;
	err = -EIO;
	if (fd < 0 || msg.text.len > STATUS_MAX)
		goto out;
	text = malloc(msg.text.len + 1);
	if (!text) {
		err = -ENOMEM;
		goto out;
	}
	while (done < msg.text.len) {
		ssize_t n = pread(fd, text + done, msg.text.len - done,
				  (off_t)done);

		if (n <= 0) {
			free(text);
			goto out;
		}
		done += (size_t)n;
	}
	text[done] = '\0';
	/* The answer to "record" is no text; record_read.c checks each name. */
	if (strcmp(subject, "record"))
		clean(text);
	*ret_text = text;
	*ret_size = strcmp(subject, "record") ? strlen(text) : done;
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	return err;
}
