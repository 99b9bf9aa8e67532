// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests of the device in the middle of a command: for a descriptor of the
 * process, a place for a new one, or memory (memory.c). Also parses the data
 * behind the reply.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/rundir_choice.h"
#include "preload/reply_cache.h"
#include "preload/sender.h"
#include "preload/tunnel.h"
#include "preload/upcall.h"
#include "util/os/proof.h"
#include "util/os/rundir.h"

/* The most descriptors that one kernel method installs. */
#define MAX_INSTALLED 16

/* Installs a descriptor that the device sent. *sender: a channel's sending end; -1 once the file
 * has it. */
static int install(struct ur_file *parent, const struct uroce_tun_msg *msg,
		   int fd, int *sender)
{
	struct ur_file *file;

	if (msg->kind != UROCE_TUN_COMP && msg->kind != UROCE_TUN_ASYNC)
		return fd;
	file = ur_fdmap_new(msg->kind, -1);
	if (!file)
		return -ENFILE;
	file->cookie = msg->install.cookie;
	file->parent = ur_fdmap_index(parent);
	file->parent_serial = parent->serial;
	if (*sender >= 0 && msg->kind == UROCE_TUN_COMP &&
	    atomic_load(&parent->engine) == ur_fdmap_generation()) {
		atomic_store(&file->engine_name,
			     atomic_load(&parent->engine_name));
		ur_sender_set(file, *sender);
		*sender = -1;
	}
	if (!ur_fdmap_bind(fd, file))
		fd = -EMFILE;
	ur_fdmap_put(file);
	return fd;
}

/* Undoes an install. The device knows that the command failed, so it gets no
 * message. */
static void uninstall(int fd)
{
	struct ur_file *file = ur_fdmap_get(fd);

	if (!file)
		return;
	file->generation = 0;
	ur_fdmap_put(file);
	ur_fdmap_forget(fd);
}

static int answer_fd(struct ur_file *file, int wanted)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FD};
	int err = -EBADF;

	if (wanted >= 0 && !ur_fdmap_is_kept(wanted))
		err = ur_tunnel_send(file->sock, &msg, wanted);
	if (err == -EBADF) {
		msg.ret = -EBADF;
		err = ur_tunnel_send(file->sock, &msg, -1);
	}
	return err;
}

/* Proves a right that this thread has, as the kernel would check it. */
static int answer_proof(struct ur_file *file, uint32_t right)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FD};
	int err, fd = -EPERM;

	/* Another user's device could misuse the proof. */
	if (ur_rundir_check_peer(ur_chosen_rundir(), file->sock))
		right = 0;
	if (right == UROCE_TUN_NET_RAW)
		fd = ur_proof_net_raw();
	else if (right == UROCE_TUN_NET_RAW_IP)
		fd = ur_proof_net_raw_ip();
	else if (right == UROCE_TUN_NET_BIND)
		fd = ur_proof_net_bind();
	msg.ret = fd < 0 ? fd : 0;
	err = ur_tunnel_send(file->sock, &msg, fd);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return err;
}

/* Stores the bytes that the command has written, and replies sent ahead.
 * file->lock held where there can be such. */
static int64_t store(struct ur_file *file, const uint8_t *p, size_t len,
		     uint64_t from, uint64_t to)
{
	struct uroce_tun_out out;

	while (len) {
		size_t padded;

		if (len < sizeof(out))
			return -EIO;
		memcpy(&out, p, sizeof(out));
		p += sizeof(out);
		len -= sizeof(out);
		padded = out.len <= len ? (out.len + 7) & ~(size_t)7 : SIZE_MAX;
		if (padded > len)
			return -EIO;
		if (!out.addr)
			ur_reply_cache_put(file->reply_cache, p, out.len);
		else if (out.addr < from || out.addr > to ||
			 out.len > to - out.addr)
			return -EIO;
		else
			memcpy((void *)(uintptr_t)out.addr, p, out.len);
		p += padded;
		len -= padded;
	}
	return 0;
}

void ur_upcall_keep(struct ur_file *file, const void *outs, size_t len)
{
	store(file, outs, len, 1, 0);
}

int64_t ur_upcall_serve(struct ur_file *file, struct uroce_tun_msg *msg,
			uint64_t from, uint64_t to)
{
	uint8_t outs[UROCE_TUN_WINDOW];
	size_t len;
	int fds[UROCE_TUN_MAX_FDS], installed[MAX_INSTALLED], count = 0;
	int64_t ret = 0;

	while (!ret) {
		ret = ur_tunnel_recv_done(file->sock, msg, fds, outs, &len);
		if (ret)
			break;
		if (msg->op == UROCE_TUN_DONE) {
			ret = store(file, outs, len, from, to);
			if (!ret)
				ret = msg->ret;
			break;
		}
		if (msg->op == UROCE_TUN_FGET) {
			ret = answer_fd(file, (int)msg->ret);
		} else if (msg->op == UROCE_TUN_PROVE) {
			ret = answer_proof(file, msg->kind);
		} else if (msg->op == UROCE_TUN_INSTALL && fds[0] != -1) {
			struct uroce_tun_msg answer = {.op = UROCE_TUN_FD};

			answer.ret =
				fds[0] >= 0 && count < MAX_INSTALLED
					? install(file, msg, fds[0], &fds[1])
					: -EMFILE;
			if (answer.ret >= 0) {
				installed[count++] = fds[0];
				fds[0] = -1;
			}
			ret = ur_tunnel_send(file->sock, &answer, -1);
		} else if (msg->op == UROCE_TUN_GET_MEMORY) {
			ret = ur_tunnel_get_memory(file->sock, msg);
		} else if (msg->op == UROCE_TUN_PUT_MEMORY) {
			ret = ur_tunnel_put_memory(file->sock, msg);
		} else {
			ret = -EIO;
		}
		ur_tunnel_close_fds(fds);
	}
	/* A device that breaks the protocol counts as gone. */
	if (ret == -EIO && msg->op != UROCE_TUN_DONE)
		atomic_store(&file->dead, 1);
	if (ret < 0) {
		/* The application has never got these numbers. */
		while (count--) {
			uninstall(installed[count]);
			syscall(SYS_close, installed[count]);
		}
	}
	return ret;
}
