// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual files: each system call is a conversation with the device (upcall.c
 * handles the device's requests in the middle). Only the device interprets the
 * calls, except rdma_cm's GET_EVENT, which may block.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel-abi/uroce-resumes.h"
#include "preload/file.h"
#include "preload/reply_cache.h"
#include "preload/real.h"
#include "preload/reattach.h"
#include "preload/tunnel.h"
#include "preload/upcall.h"
#include "util/os/clock.h"

/* Bytes sent of a command on the stack: header and attributes, and behind them,
 * in the caller's frame, what they point to. */
#define STACK_WINDOW 2048
_Static_assert(STACK_WINDOW <= UROCE_TUN_WINDOW, "it is sent as a window");
/* Commands that name descriptors are shorter. */
#define COMMAND_BYTES 512
/* More than all frames of ours and the verbs library's together. */
#define STACK_REACH 65536

static void close_raw(int fd)
{
	syscall(SYS_close, fd);
}

/* Applies open()'s flags to the visible descriptor, which came
 * close-on-exec. */
static void set_open_flags(int fd, int flags)
{
	if (!(flags & O_CLOEXEC))
		syscall(SYS_fcntl, fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL,
			syscall(SYS_fcntl, fd, F_GETFL, 0) | O_NONBLOCK);
}

int ur_file_open(const struct ur_rewritten *path, int flags)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS], sock, err;
	struct ur_file *file;

	sock = path->kind == UROCE_TUN_UMAD ? ur_tunnel_connect_with_rights()
					    : ur_tunnel_connect();
	if (sock < 0) /* the tree outlived its device */
		return sock == -ECONNREFUSED || sock == -ENOENT ? -ENXIO : sock;
	err = ur_tunnel_send_open(sock, &msg, path->kind, path->node, 0, 0);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (err) {
		close_raw(sock);
		return err;
	}
	if (msg.op != UROCE_TUN_DONE || msg.ret < 0 || fds[0] < 0) {
		err = msg.op != UROCE_TUN_DONE ? -EIO
		      : msg.ret < 0	       ? (int)msg.ret
		      : fds[0] == -EMFILE      ? -EMFILE
					       : -EIO;
		goto err_close;
	}
	file = ur_fdmap_new(path->kind, sock);
	if (!file) {
		err = -ENFILE;
		goto err_close;
	}
	if (fds[1] >= 0) {
		file->reply_cache = ur_reply_cache_open(fds[1]);
		close_raw(fds[1]);
	}
	file->cookie = msg.opened.cookie;
	file->rdev = msg.opened.rdev;
	file->features = msg.opened.features;
	set_open_flags(fds[0], flags);
	err = ur_fdmap_bind(fds[0], file) ? fds[0] : -EMFILE;
	if (err < 0)
		close_raw(fds[0]);
	ur_fdmap_put(file);
	return err;

err_close:
	ur_tunnel_close_fds(fds);
	close_raw(sock);
	return err;
}

/* Returns whether number is a descriptor of an event file, with *known
 * filled. */
static bool is_event_fd(const struct ur_file *file, uint64_t number,
			struct uroce_tun_known *known)
{
	struct ur_file *event;
	uint32_t kind;

	if (number >= UR_FDMAP_FDS)
		return false;
	kind = ur_fdmap_looks((int)number);
	if (kind != UROCE_TUN_COMP && kind != UROCE_TUN_ASYNC)
		return false;
	event = ur_fdmap_get((int)number);
	if (!event)
		return false;
	known->cookie = event->cookie;
	known->fd = (int32_t)number;
	known->kind = event->parent == ur_fdmap_index(file) &&
				      event->parent_serial == file->serial
			      ? event->kind
			      : 0;
	ur_fdmap_put(event);
	return known->kind != 0;
}

/* Reports which words of a command may be event files' descriptors; only the
 * device knows which are. The first word contains the command's length. */
static void add_known(const struct ur_file *file, struct uroce_tun_msg *msg)
{
	const uint64_t *word = (const void *)(uintptr_t)msg->call.arg;
	size_t n = *word & 0xffff;

	n = (n < COMMAND_BYTES ? n : COMMAND_BYTES) / sizeof(*word);
	for (size_t i = 0, k = 0; i < n && k < UROCE_TUN_MAX_KNOWN; i++)
		k += is_event_fd(file, word[i], &msg->known[k]);
}

/* If the argument is on the stack, so is all between our own frame and STACK_WINDOW
 * bytes from it on: we store what the command writes there. */
static int64_t converse(struct ur_file *file, struct uroce_tun_msg *msg,
			size_t len)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	int64_t ret;

	if (file->features & UROCE_TUN_F_CPU)
		msg->cpu = (uint32_t)sched_getcpu() + 1;
	if (msg->call.arg > here && msg->call.arg - here < STACK_REACH) {
		msg->call.out_from = here;
		msg->call.out_to = msg->call.arg + STACK_WINDOW;
		if (file->features & UROCE_TUN_F_KNOWN &&
		    msg->op == UROCE_TUN_IOCTL && !(msg->call.arg & 7))
			add_known(file, msg);
	}
	ret = ur_tunnel_send_call(file->sock, msg,
				  (const void *)(uintptr_t)msg->call.arg, len);
	return ret ? ret
		   : ur_upcall_serve(file, msg, msg->call.out_from,
				     msg->call.out_to);
}

/* Tracks another descriptor of a known file, after a raw dup() or a transfer
 * over a socket. */
static bool claim_known(int fd)
{
	struct ur_file *file = ur_fdmap_find(fd);
	bool bound;

	if (!file)
		return false;
	bound = ur_fdmap_bind(fd, file);
	ur_fdmap_put(file);
	return bound;
}

bool ur_file_claim(int fd)
{
	struct uroce_tun_msg msg;
	struct ur_file *file;
	bool bound = false;
	struct stat st;
	int sock;

	if (syscall(SYS_fstat, fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_nlink || (uint64_t)st.st_size != UROCE_TUN_UVERBS_BYTES ||
	    ur_fdmap_borrowed())
		return false;
	if (claim_known(fd))
		return true;
	sock = ur_tunnel_connect();
	if (sock < 0)
		return false;
	file = ur_fdmap_new(UROCE_TUN_UVERBS, sock);
	if (!file) {
		close_raw(sock);
		return false;
	}
	atomic_store(&file->joined, 1);
	if (!ur_tunnel_send_open(sock, &msg, UROCE_TUN_UVERBS, "", 0,
				 (uint64_t)fd) &&
	    !ur_upcall_serve(file, &msg, 0, 0)) {
		file->cookie = msg.opened.cookie;
		file->rdev = msg.opened.rdev;
		file->features = msg.opened.features;
		bound = ur_fdmap_bind(fd, file);
	}
	ur_fdmap_put(file);
	return bound;
}

static bool is_shortage(int64_t err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE ||
	       err == -EAGAIN;
}

/*
 * Connects a forked child on its own: the device accesses the memory of the
 * process that connected. Both can use all but rdma_cm files, as with the
 * kernel.
 */
static int join(struct ur_file *file)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS], sock, err;

	if (file->generation == ur_fdmap_generation())
		return 0;
	if (file->kind == UROCE_TUN_RDMA_CM || !file->cookie)
		return -EIO;
	sock = ur_tunnel_connect();
	if (sock < 0)
		return -EIO;
	err = ur_tunnel_send_open(sock, &msg, file->kind, "", file->cookie, 0);
	err = ur_tunnel_recv_first(sock, &msg, fds, err);
	if (err || msg.op != UROCE_TUN_DONE || msg.ret) {
		close_raw(sock);
		return !err && is_shortage(msg.ret) ? (int)msg.ret : -EIO;
	}
	ur_fdmap_replace(file, sock);
	atomic_store(&file->joined, 1);
	file->generation = ur_fdmap_generation();
	return 0;
}

static int64_t call(struct ur_file *file, struct uroce_tun_msg *msg, size_t len)
{
	int64_t ret = -EIO;

	ur_fdmap_begin_call(file);
	if (!atomic_load(&file->dead))
		ret = join(file);
	if (!ret)
		ret = converse(file, msg, len);
	ur_fdmap_end_call(file);
	return ret;
}

/* Gives a command on an rdma_cm file. If the device process was killed, repeats it with the next
 * one, which knows by the number of answers whether it was executed. */
static int64_t call_or_reattach(struct ur_file *file, int fd,
				const struct uroce_tun_msg *msg, size_t len)
{
	struct uroce_tun_msg first = *msg, m;
	uint64_t until = 0;
	int64_t ret = -EIO;

	pthread_mutex_lock(&file->lock);
	first.call.request =
		ur_reply_cache_take_report(file->reply_cache, &first.created);
	m = first;
	if (!atomic_load(&file->dead))
		ret = converse(file, &m, len);
	while (m.op != UROCE_TUN_DONE) {
		if (!until)
			until = ur_clock_ns(CLOCK_MONOTONIC) +
				UROCE_RESUMES_WAIT_NS;
		if (!ur_file_reattach(file, fd, until))
			break;
		m = first;
		ret = converse(file, &m, len);
	}
	file->answers += m.op == UROCE_TUN_DONE;
	pthread_mutex_unlock(&file->lock);
	return ret;
}

/* Returns the file with which another thread has replaced this one, with a reference, or NULL. */
static struct ur_file *replaced(const struct ur_file *file, int fd)
{
	struct ur_file *now = ur_fdmap_get(fd);

	if (now && now != file && now->kind == UROCE_TUN_UVERBS)
		return now;
	if (now)
		ur_fdmap_put(now);
	return NULL;
}

/* Returns the file on which to repeat a command, with a reference, or NULL. *fd becomes its
 * descriptor. */
static struct ur_file *next_file(const struct ur_file *file, int *fd,
				 const struct uroce_tun_msg *msg)
{
	struct ur_file *next = replaced(file, *fd);

	if (!next)
		next = ur_file_successor(
			fd, msg->call.request,
			(const void *)(uintptr_t)msg->call.arg);
	return next ? next : replaced(file, *fd);
}

/* Gives a command on another file; repeats it on the next file whenever the device process was
 * killed. */
static int64_t call_or_turn(struct ur_file *file, int fd,
			    const struct uroce_tun_msg *msg, size_t len)
{
	struct uroce_tun_msg m = *msg;
	struct ur_file *last = NULL;
	int64_t ret = call(file, &m, len);
	uint64_t until = 0, now;

	while (m.op != UROCE_TUN_DONE && file->kind == UROCE_TUN_UVERBS) {
		now = ur_clock_ns(CLOCK_MONOTONIC);
		until = until ? until : now + UROCE_RESUMES_WAIT_NS;
		file = now < until ? next_file(file, &fd, msg) : NULL;
		if (last)
			ur_fdmap_put(last);
		last = file;
		if (!file)
			break;
		m = *msg;
		ret = call(file, &m, len);
	}
	if (last)
		ur_fdmap_put(last);
	return ret;
}

long ur_file_ioctl(struct ur_file *file, int fd, unsigned long cmd,
		   uint64_t arg)
{
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_IOCTL, .call.request = cmd, .call.arg = arg};

	return (long)call_or_turn(file, fd, &msg, STACK_WINDOW);
}

static ssize_t write_once(struct ur_file *file, int fd, const void *buf,
			  size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uint64_t)(uintptr_t)buf,
				    .call.len = len};

	return (ssize_t)(file->kind == UROCE_TUN_RDMA_CM
				 ? call_or_reattach(file, fd, &msg, len)
				 : call_or_turn(file, fd, &msg, len));
}

/* Stores the reply if the device has sent it ahead, within the part of the
 * stack that converse() takes for the caller's. Returns whether it did. */
static bool answer_from_cache(struct ur_file *file, const void *buf, size_t len)
{
	const bool event = len == UR_REPLY_CACHE_EVENT;
	const bool create = len == UR_REPLY_CACHE_CREATE;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	uint64_t arg = (uint64_t)(uintptr_t)buf;
	bool known;

	if ((!event && !create && len != UR_REPLY_CACHE_QUESTION) ||
	    arg < here || arg - here >= STACK_REACH)
		return false;
	pthread_mutex_lock(&file->lock);
	if (event)
		known = ur_reply_cache_take(file->reply_cache, buf, here,
					    arg + STACK_WINDOW);
	else if (create)
		known = !atomic_load(&file->dead) &&
			ur_reply_cache_create(file->reply_cache, buf, here,
					      arg + STACK_WINDOW);
	else
		known = !atomic_load(&file->dead) && file->reply_cache &&
			ur_reply_cache_get(file->reply_cache, buf, here,
					   arg + STACK_WINDOW);
	pthread_mutex_unlock(&file->lock);
	return known;
}

/* Returns whether an event was sent ahead, whose datagram is in the socket. */
static bool has_event(struct ur_file *file)
{
	bool has;

	pthread_mutex_lock(&file->lock);
	has = ur_reply_cache_has_event(file->reply_cache);
	pthread_mutex_unlock(&file->lock);
	return has;
}

/* Makes the kernel's checks of a GET_EVENT before it waits. */
static int check_get_event(const struct rdma_ucm_cmd_hdr *hdr, size_t len)
{
	if (hdr->in < sizeof(struct rdma_ucm_get_event) ||
	    sizeof(*hdr) + hdr->in > len)
		return -EINVAL;
	/* the response of before ECE */
	return hdr->out < offsetof(struct rdma_ucm_event_resp, reserved)
		       ? -ENOSPC
		       : 0;
}

/* Keeps what came in a datagram, which was read when the file had had so many
 * lives, if it is still true. */
static void hear(struct ur_file *file, const uint8_t *p, size_t len,
		 uint32_t lives)
{
	struct uroce_tun_event head;

	if (len < sizeof(head))
		return;
	memcpy(&head, p, sizeof(head));
	pthread_mutex_lock(&file->lock);
	if (lives == atomic_load(&file->lives) && head.answers == file->answers)
		ur_upcall_keep(file, p + sizeof(head), len - sizeof(head));
	pthread_mutex_unlock(&file->lock);
}

/* Before an id leaves a file, tells the device of the file's event that was sent
 * ahead, and of the id that was made from a spare one: either may be the id's. */
static void report_migration(const void *buf, size_t len)
{
	const struct rdma_ucm_cmd_hdr nothing = {.cmd = UINT32_MAX};
	struct rdma_ucm_migrate_id cmd;
	struct ur_file *file;
	bool owes = false;

	if (len < sizeof(nothing) + sizeof(cmd))
		return;
	memcpy(&cmd, (const uint8_t *)buf + sizeof(nothing), sizeof(cmd));
	file = ur_fdmap_get((int)cmd.fd);
	if (!file)
		return;
	if (file->kind == UROCE_TUN_RDMA_CM && !atomic_load(&file->joined) &&
	    file->generation == ur_fdmap_generation()) {
		pthread_mutex_lock(&file->lock);
		owes = ur_reply_cache_owes(file->reply_cache);
		pthread_mutex_unlock(&file->lock);
	}
	if (owes)
		write_once(file, (int)cmd.fd, &nothing, sizeof(nothing));
	ur_fdmap_put(file);
}

static int is_open(const struct ur_file *file, int fd)
{
	struct ur_file *now = ur_fdmap_get(fd);

	if (now)
		ur_fdmap_put(now);
	return now == file;
}

/* Waits for an event of a file that another thread has closed: the kernel keeps
 * the file for the waiting thread. */
static int wait_closed(int flags)
{
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	pause();
	return -EINTR;
}

ssize_t ur_file_write(struct ur_file *file, int fd, const void *buf, size_t len)
{
	uint8_t token[sizeof(struct uroce_tun_event) + UROCE_TUN_WINDOW];
	struct rdma_ucm_cmd_hdr hdr;
	uint32_t lives;
	ssize_t ret;
	int flags;

	/* umad does not check open()'s credentials. */
	if (file->kind == UROCE_TUN_UMAD)
		return write_once(file, fd, buf, len);
	/* Like the kernel, refuses a forked child, a process that got the
	 * descriptor in another way, and one that has changed its user: they
	 * lack the opener's credentials. */
	if (atomic_load(&file->joined) ||
	    file->generation != ur_fdmap_generation())
		return -EACCES;
	/* The device refuses bad pointers, so an incomplete command is not read
	 * here. */
	if (file->kind != UROCE_TUN_RDMA_CM || len < sizeof(hdr) || !buf)
		return ur_fdmap_is_opener(file) ? write_once(file, fd, buf, len)
						: -EACCES;
	memcpy(&hdr, buf, sizeof(hdr));
	/* The user is looked at where the device is asked: what was sent ahead is
	 * the process's already. */
	if (hdr.cmd != RDMA_USER_CM_CMD_GET_EVENT &&
	    answer_from_cache(file, buf, len))
		return (ssize_t)len;
	if (!(hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT && has_event(file)) &&
	    !ur_fdmap_is_opener(file))
		return -EACCES;
	if (hdr.cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		report_migration(buf, len);
	if (hdr.cmd != RDMA_USER_CM_CMD_GET_EVENT)
		return write_once(file, fd, buf, len);
	ret = check_get_event(&hdr, len);
	if (ret)
		return ret;
	flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
	if (flags < 0)
		return -EBADF;
	do {
		/* Blocks as the descriptor's O_NONBLOCK says; a signal
		 * interrupts it, like the kernel's wait. */
		lives = atomic_load(&file->lives);
		ret = ur_real(read)(fd, token, sizeof(token));
		if (ret < 0 && errno == EBADF)
			return wait_closed(flags);
		if (ret < 0)
			return errno == ECONNRESET ? -EIO : -errno;
		if (ret == 0)
			return -EIO;
		hear(file, token, (size_t)ret, lives);
		/* A token without an event: the event went with its id. Or the
		 * file was closed meanwhile, which the device saw first. */
		if (answer_from_cache(file, buf, len))
			return (ssize_t)len;
		ret = write_once(file, fd, buf, len);
		if ((ret == -EAGAIN || ret == -EPIPE || ret == -EIO) &&
		    !is_open(file, fd))
			return wait_closed(flags);
	} while (ret == -EAGAIN);
	return ret;
}
