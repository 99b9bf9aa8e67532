// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Children of fork have no engine: its thread and its packets are the parent's. Their
 * verbs fail (uroce_guest_info, own), and what they would sleep at has ended: a child
 * that read its parent's completion channel would wait for ever once the parent has
 * gone, and take its events before.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/process/process.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list waits = {&waits, &waits};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* 0 or -errno */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void enter_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static bool is_same(const struct ur_process_wait *wait)
{
	struct stat st;

	return !fstat(wait->fd, &st) && st.st_dev == wait->dev &&
	       st.st_ino == wait->ino;
}

/* The numbers stay what they are for whoever stands between the program and the
 * system calls, so these are made past it. */
static void enter_child(void)
{
	int pair[2];

	if (!ur_list_empty(&waits) &&
	    !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		syscall(SYS_close, pair[0]);
		ur_list_for_each(it, &waits) {
			struct ur_process_wait *wait =
				ur_list_entry(it, struct ur_process_wait, node);

			if (is_same(wait))
				syscall(SYS_dup3, pair[1], wait->fd, O_CLOEXEC);
		}
		syscall(SYS_close, pair[1]);
	}
	pthread_mutex_unlock(&lock);
}

static void make_handlers(void)
{
	registered = -pthread_atfork(before_fork, enter_parent, enter_child);
}

int ur_process_wait_add(struct ur_process_wait *wait, int fd)
{
	struct stat st;

	pthread_once(&once, make_handlers);
	if (registered)
		return registered;
	if (fstat(fd, &st) < 0)
		return -errno;
	wait->fd = fd;
	wait->dev = st.st_dev;
	wait->ino = st.st_ino;
	pthread_mutex_lock(&lock);
	ur_list_add_tail(&waits, &wait->node);
	pthread_mutex_unlock(&lock);
	return 0;
}

void ur_process_wait_del(struct ur_process_wait *wait)
{
	pthread_mutex_lock(&lock);
	ur_list_del(&wait->node);
	pthread_mutex_unlock(&lock);
}
