// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command door: any uverbs commands, in both forms, on an open file of a
 * whole device (control and engine) over the loopback interface. The client's
 * memory is that of a child which does nothing: an input may point anywhere. A
 * second thread answers the upcalls.
 *
 * Input: records of an operation byte and what it needs (see step()). Handles
 * are small numbers, so that random ones name objects.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/tunnel.h"
#include "device/uverbs/ufile.h"
#include "tests/fuzz/device_world.h"
#include "tests/fuzz/input.h"
#include "util/os/scm.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ARENA 0x10000000ul

static struct ur_session session;

/* Shared with the child, at the same addresses. */
static u8 *in_buf, *out_buf, *payload;

/* ---- the world, made once ---- */

/* The other end of the tunnel: odd numbers are good descriptors. */
static void front_end(int sock)
{
	int number = 100;
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS];

	while (!ur_daemon_recv(sock, &msg, fds)) {
		struct uroce_tun_msg reply = {.op = UROCE_TUN_FD};
		int fd = -1;

		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
		if (msg.op == UROCE_TUN_INSTALL)
			reply.ret = number++;
		else if (msg.ret & 1)
			fd = eventfd(0, EFD_CLOEXEC);
		else
			reply.ret = -EBADF;
		if (ur_daemon_send(sock, &reply, &fd, fd >= 0))
			break;
		if (fd >= 0)
			close(fd);
	}
}

/* Something to register, where the seeds know it; the client has it too. */
static void map_arena(void)
{
	int fd = memfd_create("client", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 1 << 20) < 0 ||
	    mmap((void *)ARENA, 1 << 20, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) != (void *)ARENA)
		abort();
	close(fd);
	in_buf = (u8 *)ARENA + (512 << 10);
	out_buf = in_buf + 8192;
	payload = out_buf + 16384;
}

static void make_world(void)
{
	int mem;

	map_arena();
	mem = device_world_client(NULL);
	device_world_start();
	device_world_session(&session, mem, front_end);
}

static void say(const char *form, u32 a, u32 b, s64 ret)
{
	if (getenv("REPLAY_VERBOSE"))
		fprintf(stderr, "  %s %u.%u: %lld\n", form, a, b,
			(long long)ret);
}

#define F_KNOWN	      (1u << 7) /* of the step, not the command */
#define F_EXTENDED    (1u << 0)
#define F_LIE	      (1u << 1) /* sizes that do not fit */
#define F_OWN_POINTER (1u << 2) /* leave the response pointer as it is */

static void step_write(struct ur_ufile *file, struct input *in)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)in_buf;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)(hdr + 1);
	u8 command = take(in), flags = take(in), provider = take(in) & 15;
	u32 bytes = take(in) * 4u;
	u64 response = (uintptr_t)out_buf;
	size_t len;
	u8 *core;

	hdr->command = command;
	if (flags & F_EXTENDED) {
		bytes &= ~7u;
		core = (u8 *)(ex + 1);
		hdr->command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		hdr->in_words = (u16)(bytes / 8);
		hdr->out_words = 64;
		ex->response = response;
		ex->provider_in_words = provider;
		ex->provider_out_words = 16;
		ex->cmd_hdr_reserved = 0;
		len = sizeof(*hdr) + sizeof(*ex) + bytes + provider * 8u;
	} else {
		core = (u8 *)(hdr + 1);
		len = sizeof(*hdr) + bytes;
		hdr->in_words = (u16)(len / 4);
		hdr->out_words = 128;
	}
	take_bytes(in, core, bytes + provider * 8u);
	if (!(flags & (F_EXTENDED | F_OWN_POINTER)) && bytes >= 8)
		memcpy(core, &response, 8);
	if (flags & F_LIE) {
		hdr->in_words = take16(in);
		hdr->out_words = take16(in);
		len = take16(in);
	}
	say("write", command, flags & F_EXTENDED,
	    ur_uverbs_write(file, (uintptr_t)in_buf, len));
	ur_session_give_back(&session);
}

static void step_ioctl(struct ur_ufile *file, struct input *in)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)in_buf;
	u8 *p = payload;

	memset(hdr, 0, sizeof(*hdr));
	hdr->object_id = take(in) & 31;
	hdr->method_id = take(in);
	if (hdr->method_id & 0x80)
		hdr->method_id = (u16)(0x1000 | (hdr->method_id & 15));
	hdr->num_attrs = take(in) & 31;
	hdr->length = (u16)(sizeof(*hdr) + hdr->num_attrs * 16);
	for (u32 i = 0; i < hdr->num_attrs; i++) {
		struct ib_uverbs_attr *a = &hdr->attrs[i];
		u8 id = take(in), mode = take(in);

		memset(a, 0, sizeof(*a));
		a->attr_id = id & 0x80 ? (u16)(0x1000 | (id & 15)) : id;
		a->len = take(in);
		a->flags = mode & 3;
		switch (mode >> 6) {
		case 0: /* a handle, a descriptor or a small number */
			a->data = take16(in);
			break;
		case 1: /* a buffer to fill */
			a->len = (u16)(a->len * 8);
			a->data = (uintptr_t)out_buf;
			break;
		case 2: /* a buffer with bytes of the input */
			take_bytes(in, p, a->len);
			a->data = (uintptr_t)p;
			if (a->len <= 8)
				memcpy(&a->data, p, 8);
			p += a->len;
			break;
		case 3:
			take_bytes(in, (u8 *)&a->data, 8);
			break;
		}
	}
	say("ioctl", hdr->object_id, hdr->method_id,
	    ur_uverbs_ioctl(file, RDMA_VERBS_IOCTL, (uintptr_t)in_buf));
	ur_session_give_back(&session);
}

/* Reads the descriptor that the client names with the command. */
static void take_known(u8 op, struct input *in)
{
	session.known[0].kind = 0;
	if (!(op & F_KNOWN))
		return;
	session.known[0].fd = take16(in);
	session.known[0].cookie = take(in);
	session.known[0].kind = take(in);
}

static void step(struct ur_ufile *file, struct input *in)
{
	u8 op = take(in);

	if ((op & 3) != 3)
		take_known(op, in);
	switch (op & 3) {
	case 0:
	case 1:
		step_write(file, in);
		break;
	case 2:
		step_ioctl(file, in);
		break;
	case 3:
		ur_loop_lock(device_world.loop);
		ur_ufile_ops.close_fd(file, op >> 2);
		ur_loop_unlock(device_world.loop);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};
	int visible[UROCE_TUN_MAX_FDS];
	void *file;
	u64 rdev;

	if (!device_world.loop)
		make_world();
	ur_loop_lock(device_world.loop);
	if (ur_ufile_ops.open(&session, "uverbs0", &file, visible, &rdev))
		abort();
	ur_loop_unlock(device_world.loop);
	while (in.left)
		step(file, &in);
	ur_loop_lock(device_world.loop);
	ur_ufile_ops.close(file);
	ur_loop_unlock(device_world.loop);
	device_world_look();
	return 0;
}
