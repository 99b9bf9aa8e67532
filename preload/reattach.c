// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files whose device process was killed. The device's keeper keeps the event socket of an rdma_cm
 * file, by which the next device process knows the file. The provider recovers uverbs files.
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel-abi/uroce-resumes.h"
#include "preload/fdmap.h"
#include "preload/real.h"
#include "preload/sender.h"
#include "preload/reply_cache.h"
#include "preload/reattach.h"
#include "preload/tunnel.h"
#include "util/os/clock.h"

#define STEP_NS 10000000

/* Returns whether the keeper has closed the device's end, so that nobody will
 * know the file. */
static bool has_hung_up(int fd)
{
	struct pollfd p = {.fd = fd};
	struct timespec none = {0};

	return syscall(SYS_ppoll, &p, 1, &none, NULL, 0) < 0 ||
	       (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void use(struct ur_file *file, int sock, const struct uroce_tun_msg *msg,
		int fds[UROCE_TUN_MAX_FDS])
{
	ur_fdmap_replace(file, sock);
	ur_reply_cache_close(file->reply_cache);
	file->reply_cache = fds[1] >= 0 ? ur_reply_cache_open(fds[1]) : NULL;
	file->cookie = msg->opened.cookie;
	file->features = msg->opened.features;
	atomic_store(&file->dead, 0);
	atomic_fetch_add(&file->lives, 1);
}

/* Shows the file to the device and takes the reply. Returns 0, -EAGAIN where another try may help,
 * or the refusal. */
static int show(struct ur_file *file, int fd, int sock)
{
	const uint64_t shown = (uint64_t)file->answers << 32 | (uint32_t)fd;
	struct uroce_tun_msg msg, answer = {.op = UROCE_TUN_FD};
	int fds[UROCE_TUN_MAX_FDS], err;

	err = ur_tunnel_send_open(sock, &msg, file->kind, "", 0, shown);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (!err && msg.op == UROCE_TUN_FGET) {
		ur_tunnel_close_fds(fds);
		err = ur_tunnel_send(sock, &answer, fd);
		if (!err)
			err = ur_tunnel_recv(sock, &msg, fds);
	}
	if (err)
		return -EAGAIN;
	if (msg.op == UROCE_TUN_DONE && !msg.ret)
		use(file, sock, &msg, fds);
	ur_tunnel_close_fds(fds);
	if (msg.op != UROCE_TUN_DONE)
		return -EIO;
	return msg.ret == -ENOMEM || msg.ret == -EMFILE || msg.ret == -ENFILE
		       ? -EAGAIN
		       : (int)msg.ret;
}

static int try_to_reattach(struct ur_file *file, int fd)
{
	int sock = ur_tunnel_connect(), err;

	if (sock < 0)
		return sock == -EMFILE || sock == -EACCES ? sock : -EAGAIN;
	err = show(file, fd, sock);
	if (err)
		syscall(SYS_close, sock);
	return err;
}

bool ur_file_reattach(struct ur_file *file, int fd, uint64_t until)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	if (ur_fdmap_borrowed())
		return false;
	while (!has_hung_up(fd)) {
		int err = try_to_reattach(file, fd);

		if (err != -EAGAIN)
			return !err;
		if (ur_clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		syscall(SYS_nanosleep, &step, NULL);
	}
	return false;
}

static int (*_Atomic listener)(int fd, unsigned long request,
			       const void *command); /* or NULL */

static void tell_commands(int (*reattach)(int fd, unsigned long request,
					  const void *command))
{
	atomic_store(&listener, reattach);
}

struct ur_file *ur_file_successor(int *fd, unsigned long request,
				  const void *command)
{
	int (*reattach)(int, unsigned long, const void *) =
		atomic_load_explicit(&listener, memory_order_acquire);
	int next = reattach ? reattach(*fd, request, command) : -1;

	if (next < 0)
		return NULL;
	*fd = next;
	return ur_fdmap_get(next);
}

static void has_engine(int number, const void *engine)
{
	struct ur_file *file = ur_fdmap_get(number);

	if (!file)
		return;
	atomic_store(&file->engine_name, engine);
	atomic_store(&file->engine, ur_fdmap_generation());
	ur_fdmap_put(file);
}

static int take_sender(int number)
{
	struct ur_file *file = ur_fdmap_get(number);
	int fd = -ENOENT;

	if (!file)
		return fd;
	fd = ur_sender_take(file);
	ur_fdmap_put(file);
	return fd;
}

static void keep_sender(int number, int rx, int tx, const void *engine)
{
	struct ur_file *file = ur_fdmap_get(number);

	if (!file)
		return;
	ur_sender_keep(file, rx, tx, engine);
	ur_fdmap_put(file);
}

UR_EXPORT const struct uroce_resumes uroce_resumes = {
	.version = UROCE_RESUMES_VERSION,
	.tell = tell_commands,
	.has_engine = has_engine,
	.take_sender = take_sender,
	.keep_sender = keep_sender,
	.end_senders = ur_sender_end_all,
};
