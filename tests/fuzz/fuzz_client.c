// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The client door: a client of the device process that sends anything over
 * its tunnel: uverbs and rdma_cm commands in both forms, descriptors that
 * are not what they should be, closings at odd times, garbage in its rings.
 *
 * Input: one byte of which file (see kinds[]), then steps, see step(). The
 * device under test is a whole one (client_world.c) with a session of its own
 * for each input. It must answer every command and be free of the session
 * once the client has gone.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/tunnel.h"
#include "tests/check.h"
#include "tests/fuzz/client_world.h"
#include "tests/fuzz/input.h"

#define STEPS_MAX     64
#define INPUT_MAX     4096
#define ATTRS_MAX     16
#define RING_BYTES    65536
#define PAYLOAD_MAX   400
#define EVENT_WAIT_MS 5

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static bool verbose;

static struct client {
	int sock;
	u32 kind;
	int visible; /* memfd of an uverbs file, or -1 */
	u8 *rings;   /* the begin of it, or NULL */
	u64 cookie[8];
	u32 n_cookies;
	u32 brk; /* next free byte of the arena */
} c;

/* Put bytes into the client's memory; their address there. */
static u64 place(const void *bytes, size_t n)
{
	u64 at = ARENA + c.brk;

	if (c.brk + n + 16 > ARENA_BYTES)
		c.brk = 0, at = ARENA;
	client_write(at, bytes, n);
	c.brk += (u32)ur_align_up(n ? n : 1, 16);
	return at;
}

/* Room for a response, which nobody reads. */
static u64 room(void)
{
	return ARENA + ARENA_BYTES - 4096;
}

/* Does as the front-end does when it is asked for a descriptor or given one. */
static void answer(const struct uroce_tun_msg *ask, struct input *in)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FD};
	int fd = -1;

	if (ask->op == UROCE_TUN_INSTALL) {
		msg.ret = 100;
		c.cookie[c.n_cookies++ % UR_ARRAY_SIZE(c.cookie)] =
			ask->install.cookie;
	} else {
		fd = client_fd(take(in));
		msg.ret = fd < 0 ? -EBADF : 0;
	}
	ur_daemon_send(c.sock, &msg, &fd, fd >= 0);
}

/* Send, serve the upcalls, return the result; -EPIPE: hung up. */
static s64 call(struct uroce_tun_msg *msg, struct input *in)
{
	int fds[UROCE_TUN_MAX_FDS];

	if (ur_daemon_send(c.sock, msg, NULL, 0))
		return -EPIPE;
	for (;;) {
		struct uroce_tun_msg reply;

		if (ur_daemon_recv(c.sock, &reply, fds))
			return -EPIPE;
		for (u32 i = 0; i < UROCE_TUN_MAX_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		if (reply.op == UROCE_TUN_DONE) {
			if (verbose)
				fprintf(stderr, "  op %u: %lld\n", msg->op,
					(long long)reply.ret);
			return reply.ret;
		}
		answer(&reply, in);
	}
}

static void do_ioctl(struct input *in, const void *bytes, size_t n)
{
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_IOCTL,
		.call.request = RDMA_VERBS_IOCTL,
		.call.arg = place(bytes, n),
	};

	call(&msg, in);
}

static void do_write(struct input *in, const void *bytes, size_t n, size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = place(bytes, n),
				    .call.len = len};

	call(&msg, in);
}

/* One attribute: a number, a pointer to bytes of the input, or output. */
static struct ib_uverbs_attr take_attr(struct input *in)
{
	struct ib_uverbs_attr a = {0};
	u8 bytes[256];

	a.attr_id = (u16)take_be(in, 2);
	a.len = (u16)take_be(in, 2);
	a.flags = (u16)take(in);
	switch (take(in) % 4) {
	case 0:
		a.data = take(in);
		break;
	case 1:
		a.data = (u64)take_be(in, 4) << 32 | take_be(in, 4);
		break;
	case 2:
		take_bytes(in, bytes, a.len % sizeof(bytes));
		a.data = place(bytes, a.len % sizeof(bytes));
		break;
	case 3:
		a.data = room();
		break;
	}
	return a;
}

static void step_ioctl(struct input *in)
{
	struct ib_uverbs_ioctl_hdr hdr = {0};
	u8 cmd[sizeof(hdr) + ATTRS_MAX * sizeof(struct ib_uverbs_attr)];
	size_t n = sizeof(hdr);

	hdr.object_id = (u16)take_be(in, 2);
	hdr.method_id = (u16)take_be(in, 2);
	hdr.num_attrs = (u16)(take(in) % (ATTRS_MAX + 1));
	for (u32 i = 0; i < hdr.num_attrs; i++) {
		struct ib_uverbs_attr a = take_attr(in);

		memcpy(cmd + n, &a, sizeof(a));
		n += sizeof(a);
	}
	hdr.length = (u16)n;
	memcpy(cmd, &hdr, sizeof(hdr));
	do_ioctl(in, cmd, n);
}

/* The payload of a write command; its first field is where the response goes
 * in nearly all of them. */
static size_t take_payload(struct input *in, u8 *to, u32 how)
{
	size_t n = take_be(in, 2) % PAYLOAD_MAX;

	take_bytes(in, to, n);
	if ((how & 8) && n >= 8) {
		u64 at = room();

		memcpy(to, &at, 8);
	}
	return n;
}

static void step_legacy(struct input *in, u32 how)
{
	u8 cmd[8 + PAYLOAD_MAX];
	struct ib_uverbs_cmd_hdr hdr = {.command = take(in)};
	size_t n = take_payload(in, cmd + 8, how);

	hdr.in_words = (u16)((8 + n) / 4);
	hdr.out_words = (u16)take(in);
	if (how & 0x10)
		hdr.command |= take_be(in, 4);
	if (how & 0x20)
		hdr.in_words = (u16)take_be(in, 2);
	memcpy(cmd, &hdr, sizeof(hdr));
	do_write(in, cmd, 8 + n, how & 0x40 ? take(in) : (8 + n) & ~3ull);
}

static void step_extended(struct input *in, u32 how)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		u8 payload[PAYLOAD_MAX];
	} cmd = {0};
	size_t n, core;

	cmd.hdr.command = take(in) | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	n = take_payload(in, cmd.payload, 0) & ~7ull;
	core = how & 0x10 ? take(in) * 8ull % (n + 1) : n;
	cmd.hdr.in_words = (u16)(core / 8);
	cmd.ex.provider_in_words = (u16)((n - core) / 8);
	cmd.hdr.out_words = (u16)take(in);
	cmd.ex.provider_out_words = (u16)(how & 0x20 ? take(in) : 0);
	cmd.ex.response = room();
	n += sizeof(cmd.hdr) + sizeof(cmd.ex);
	do_write(in, &cmd, n, n);
}

/* The front-end waits for one before it asks for an event; here not long, as
 * there may never be one. */
static void take_datagram(void)
{
	struct pollfd p = {.fd = c.visible, .events = POLLIN};
	char byte;

	if (poll(&p, 1, EVENT_WAIT_MS) == 1 &&
	    recv(c.visible, &byte, 1, MSG_DONTWAIT) < 0)
		CHECK(errno == EAGAIN || errno == ECONNRESET /* its end */);
}

static void step_cma(struct input *in, u32 how)
{
	u8 cmd[8 + PAYLOAD_MAX];
	struct rdma_ucm_cmd_hdr hdr = {.cmd = take(in)};
	size_t n = take_payload(in, cmd + 8, how);

	/* Some have their id first and the response behind it. */
	if ((how & 0x10) && n >= 24) {
		u64 at = room();

		memcpy(cmd + 8 + 8 * (1 + (how >> 5 & 1)), &at, 8);
	}
	hdr.in = (u16)n;
	hdr.out = (u16)(take(in) * 4);
	memcpy(cmd, &hdr, sizeof(hdr));
	if (hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		take_datagram();
	do_write(in, cmd, 8 + n, how & 0x40 ? take(in) : 8 + n);
}

static void step_raw(struct input *in, u32 how)
{
	u8 bytes[256];
	size_t n = take(in);

	take_bytes(in, bytes, n);
	if (how & 8)
		do_ioctl(in, bytes, n);
	else
		do_write(in, bytes, n, how & 0x10 ? take_be(in, 4) : n);
}

/* Garbage into rings and doorbells. */
static void step_scribble(struct input *in)
{
	u32 at = take_be(in, 2), n = take(in);

	for (u32 i = 0; i < n && c.rings; i++)
		c.rings[(at + i) % RING_BYTES] = (u8)take(in);
}

/* Messages that are not commands. */
static void step_message(struct input *in)
{
	struct uroce_tun_msg msg = {.op = take(in) % 40};
	u32 which = take(in);

	msg.closed.cookie =
		which < UR_ARRAY_SIZE(c.cookie) ? c.cookie[which] : which;
	if (msg.op == UROCE_TUN_STATUS)
		take_bytes(in, (u8 *)msg.name, 8);
	/* Answers that nobody asked for have none; neither has closing. */
	if (msg.op == UROCE_TUN_CLOSE_FD)
		ur_daemon_send(c.sock, &msg, NULL, 0);
	else
		call(&msg, in);
}

static void step(struct input *in)
{
	u32 how = take(in);

	switch (how & 7) {
	case 0:
	case 1:
		step_ioctl(in);
		break;
	case 2:
	case 3:
		if (c.kind == UROCE_TUN_RDMA_CM)
			step_cma(in, how);
		else
			step_legacy(in, how);
		break;
	case 4:
		step_extended(in, how);
		break;
	case 5:
		step_raw(in, how);
		break;
	case 6:
		step_scribble(in);
		break;
	case 7:
		step_message(in);
		break;
	}
}

static void client_open(u32 kind)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	int fds[UROCE_TUN_MAX_FDS], mem = client_mem();

	c = (struct client){
		.sock = client_connect(), .kind = kind, .visible = -1};
	snprintf(msg.name, sizeof(msg.name), "%s",
		 kind == UROCE_TUN_UVERBS ? client_uverbs_name() : "rdma_cm");
	/* The memory is not this process's: it is proved to be the client's. */
	msg.open.self = ARENA;
	msg.nfds = 1;
	client_write(ARENA, &msg, sizeof(msg));
	CHECK(!ur_daemon_send(c.sock, &msg, &mem, 1));
	CHECK(!ur_daemon_recv(c.sock, &msg, fds));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, 0);
	memset(&msg, 0, sizeof(msg));
	client_write(ARENA, &msg, sizeof(msg));
	close(mem);
	c.visible = fds[0];
	if (kind != UROCE_TUN_UVERBS)
		return;
	c.rings = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		       c.visible, 0);
	CHECK(c.rings != MAP_FAILED);
}

static void client_close(void)
{
	close(c.sock);
	client_wait_idle();
	if (c.rings)
		munmap(c.rings, RING_BYTES);
	if (c.visible >= 0)
		close(c.visible);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	verbose = getenv("REPLAY_VERBOSE");
	client_world_create();
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 kinds[] = {UROCE_TUN_UVERBS, UROCE_TUN_RDMA_CM};
	struct input in = {data, size};

	if (size > INPUT_MAX)
		return 0;
	client_open(kinds[take(&in) % 2]);
	for (int i = 0; i < STEPS_MAX && in.left; i++)
		step(&in);
	client_close();
	return 0;
}
