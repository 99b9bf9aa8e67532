// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client is not trusted about its memory: its descriptors may be anything. Bytes that it
 * sends instead are copied, bounded in length, and checked as if read from its memory. A
 * client that does not answer blocks only its own thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/client_memory.h"
#include "device/tunnel.h"
#include "util/os/scm.h"

/* ---- descriptors ---- */

/* Copies the descriptors of another connection of the same process, made before the process
 * changed its user or became non-dumpable. They are still to be proved: the process may
 * have exec'ed another program since. */
static void borrow(struct ur_session *s, int *fds)
{
	const struct ur_user_mem *mem = NULL;

	ur_loop_lock(s->daemon->loop);
	ur_list_each(const struct ur_session, o, &s->daemon->sessions, node) {
		if (o != s && o->pid == s->pid && o->mem &&
		    ur_user_mem_reaches(o->mem))
			mem = o->mem; /* the last one is the newest */
	}
	if (mem) {
		fds[0] = fcntl(mem->fd, F_DUPFD_CLOEXEC, 0);
		if (fds[0] >= 0 && mem->maps >= 0)
			fds[1] = fcntl(mem->maps, F_DUPFD_CLOEXEC, 0);
	}
	ur_loop_unlock(s->daemon->loop);
}

/* Other threads read s->mem with the lock held: status, and borrow(). */
static void set_memory(struct ur_session *s, struct ur_user_mem *mem)
{
	ur_loop_lock(s->daemon->loop);
	ur_assert(!s->mem);
	s->mem = mem;
	ur_loop_unlock(s->daemon->loop);
}

/* Proves that the descriptors are the client's, with its access rights. */
static int take_memfd(struct ur_session *s, const struct uroce_tun_msg *msg,
		      int *fds)
{
	struct ur_user_mem *mem;
	int err = ur_user_mem_create(fds[0], s->pid, &mem);

	if (err)
		return err;
	fds[0] = -1;
	mem->uid = s->uid;
	if (msg->open.self)
		err = ur_user_mem_prove(mem, msg->open.self, msg,
					offsetof(struct uroce_tun_msg, name));
	else if (!mem->same)
		err = -EINVAL;
	if (!err && fds[1] >= 0) {
		err = ur_user_mem_maps(mem, fds[1], msg->open.self);
		if (!err)
			fds[1] = -1;
	}
	if (err) {
		ur_user_mem_put(mem);
		return err;
	}
	set_memory(s, mem);
	return 0;
}

int ur_client_memory_take(struct ur_session *s, const struct uroce_tun_msg *msg,
			  u64 features, int *fds)
{
	int known[UROCE_TUN_MAX_FDS] = {-1, -1};
	struct ur_user_mem *mem;

	if (fds[0] != -1 || !(features & UROCE_TUN_F_MEMORY))
		return take_memfd(s, msg, fds);
	/* Only uroced's user may get a descriptor of that memory. */
	s->guarded = true;
	if (msg->open.self)
		borrow(s, known);
	if (known[0] >= 0 && !take_memfd(s, msg, known))
		return 0;
	ur_scm_close(known, UROCE_TUN_MAX_FDS);
	mem = ur_user_mem_unreached(s->pid);
	if (!mem)
		return -ENOMEM;
	mem->uid = s->uid;
	set_memory(s, mem);
	ur_debug("session %llu: process %d shows no memory: it is asked",
		 (unsigned long long)s->id, (int)s->pid);
	return 0;
}

/* ---- upcalls ---- */

static int hang_up(struct ur_session *s)
{
	shutdown(s->sock, SHUT_RDWR);
	return -EPIPE;
}

/* Receives the reply to an upcall. If its ret is 0, want bytes follow. */
static int answer(struct ur_session *s, void *dst, u32 want)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS];
	u32 got;

	for (;;) {
		int err = ur_daemon_recv_more(s->sock, &msg, fds, dst, want,
					      &got);

		if (err)
			return hang_up(s);
		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
		if (msg.op != UROCE_TUN_CLOSE_FD)
			break;
		if (!ur_session_note_closed(s, msg.closed.cookie))
			return hang_up(s);
	}
	if (msg.op != UROCE_TUN_MEMORY)
		return hang_up(s);
	if (msg.ret == -EFAULT && !got)
		return -EFAULT;
	return msg.ret || got != want ? hang_up(s) : 0;
}

static int ask_client(struct ur_session *s, u32 op, u64 addr, size_t len)
{
	struct uroce_tun_msg msg = {.op = op,
				    .memory = {.addr = addr, .len = len}};

	return ur_daemon_send(s->sock, &msg, NULL, 0) ? hang_up(s) : 0;
}

int ur_client_memory_read(struct ur_session *s, u64 addr, void *dst, size_t len)
{
	u8 *to = dst;

	if (ur_user_mem_reaches(s->mem))
		return ur_user_read(s->mem, addr, dst, len);
	if (addr > UINT64_MAX - len)
		return -EFAULT;
	while (len) {
		u32 n = (u32)ur_min_u64(len, UROCE_TUN_WINDOW);
		int err = ask_client(s, UROCE_TUN_GET_MEMORY, addr, n);

		if (!err)
			err = answer(s, to, n);
		if (err)
			return err;
		addr += n;
		to += n;
		len -= n;
	}
	return 0;
}

int ur_client_memory_write(struct ur_session *s, u64 addr, const void *src,
			   size_t len)
{
	const u8 *from = src;

	if (ur_user_mem_reaches(s->mem))
		return ur_user_write(s->mem, addr, src, len);
	if (addr > UINT64_MAX - len)
		return -EFAULT;
	while (len) {
		u32 n = (u32)ur_min_u64(len, UROCE_TUN_WINDOW);
		int err = ask_client(s, UROCE_TUN_PUT_MEMORY, addr, n);

		if (!err)
			err = ur_daemon_send_bytes(s->sock, from, n)
				      ? hang_up(s)
				      : answer(s, NULL, 0);
		if (err)
			return err;
		addr += n;
		from += n;
		len -= n;
	}
	return 0;
}
