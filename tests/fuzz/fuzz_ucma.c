// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rdma_cm door: any commands on two open rdma_cm files of a whole device on
 * the loopback interface, whose ids may connect to each other through its QP1.
 * The client's memory is that of a child which does nothing.
 *
 * Input: records of an operation byte and what it needs (see step()). Bodies of
 * commands are bytes of the input, with an address and a valid id put in where
 * an operation says so, so that random ones get past the first checks.
 *
 * A reply that was sent ahead and not taken back is what the device answers when asked. The
 * program says of an event that was sent ahead whatever the input says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/open_file.h"
#include "device/tunnel.h"
#include "device/ucma/ucma.h"
#include "tests/check.h"
#include "tests/fuzz/device_world.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ARENA	    0x20000000ul
#define ARENA_BYTES (1u << 16)
#define FILES	    2

static struct ur_session session;
static void *files[FILES];
static int visible[FILES][UROCE_TUN_MAX_FDS];

/* Shared with the child, at the same address. */
static u8 *in_buf, *out_buf, *option;

/* The other end of the tunnel: asked for a descriptor, it gives one of the
 * rdma_cm files or none. */
static void front_end(int sock)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS];

	while (!ur_daemon_recv(sock, &msg, fds)) {
		struct uroce_tun_msg reply = {.op = UROCE_TUN_FD};
		const int *fd = visible[(u64)msg.ret % FILES];

		if (msg.ret & 4)
			reply.ret = -EBADF;
		if (ur_daemon_send(sock, &reply, fd, !(msg.ret & 4)))
			break;
	}
}

/* The client has it too. */
static void map_arena(void)
{
	in_buf = mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (in_buf != (u8 *)ARENA)
		abort();
	out_buf = in_buf + 4096;
	option = out_buf + 4096;
}

static void make_world(void)
{
	int mem;

	map_arena();
	mem = device_world_client(NULL);
	device_world_start();
	device_world_session(&session, mem, front_end);
	session.features = UROCE_TUN_F_ALL;
}

static bool took_ahead, has_created; /* for the next command */
static u32 spare[FILES];	     /* ids sent ahead */

static s64 write_command(u32 file, u64 len)
{
	s64 ret;

	session.outs_len = 0;
	session.took_ahead = took_ahead;
	took_ahead = false;
	session.has_created = has_created;
	session.created =
		(struct uroce_tun_created){.uid = len, .id = spare[file]};
	has_created = false;
	ret = device_world.file_ops[UROCE_TUN_RDMA_CM]->write(
		files[file], (uintptr_t)in_buf, len);
	ur_session_give_back(&session);
	return ret;
}

/* ---- replies sent ahead ---- */

static struct cached_reply {
	u32 file, bytes;
	struct uroce_tun_cached_reply cached;
	u8 answer[512];
} cached_reply[256];

static u32 n_cached_replies; /* of all; the newest are kept */

/* An event that was sent ahead is the device's first while nobody has taken it. */
static void check_event(u32 file, const u8 *cached, u32 bytes)
{
	struct ucma_file *f = files[file];
	struct uroce_tun_cached_reply c;

	memcpy(&c, cached, sizeof(c));
	CHECK(f->ahead && !f->in_command);
	CHECK(bytes <= sizeof(f->ahead->resp));
	CHECK(!memcmp(&f->ahead->resp, cached + sizeof(c), bytes));
}

/* No command can name a spare id. */
static bool is_hidden(u32 file, u32 number)
{
	const struct ucma_file *f = files[file];

	return f->spare && f->spare->number == number && f->spare->unreported &&
	       f->spare->state == UCMA_SPARE && !f->spare->dev;
}

static void keep_cached_replies(u32 file, const u8 *outs, u32 len)
{
	struct uroce_tun_out out;

	for (u32 at = 0; at < len;
	     at += (u32)(sizeof(out) + ur_align_up(out.len, 8))) {
		const u8 *p = outs + at + sizeof(out);
		struct cached_reply *f;
		u32 slot;

		memcpy(&out, p - sizeof(out), sizeof(out));
		CHECK(!out.addr);
		memcpy(&slot, p, sizeof(slot));
		if (slot == UROCE_TUN_SPARE) {
			memcpy(&spare[file],
			       p + offsetof(struct uroce_tun_cached_reply,
					    change),
			       sizeof(spare[file]));
			CHECK(is_hidden(file, spare[file]));
			continue;
		}
		if (slot == UROCE_TUN_AHEAD) {
			check_event(file, p,
				    (u32)(out.len - sizeof(f->cached)));
			continue;
		}
		f = &cached_reply[n_cached_replies++ %
				  UR_ARRAY_SIZE(cached_reply)];
		f->file = file;
		f->bytes = (u32)(out.len - sizeof(f->cached));
		CHECK(f->bytes && f->bytes <= sizeof(f->answer));
		memcpy(&f->cached, p, sizeof(f->cached));
		memcpy(f->answer, p + sizeof(f->cached), f->bytes);
	}
}

/* Reads a datagram of a file, as the front-end before a GET_EVENT. */
static void read_datagram(u32 file)
{
	struct {
		struct uroce_tun_event head;
		u8 outs[UROCE_TUN_WINDOW];
	} m;
	ssize_t n = recv(visible[file][0], &m, sizeof(m), MSG_DONTWAIT);
	const struct ucma_file *f = files[file];

	CHECK(n <= 1 || n >= (ssize_t)sizeof(m.head));
	if (n > 1 && m.head.answers == f->answers && f->ahead)
		keep_cached_replies(file, m.outs, (u32)n - sizeof(m.head));
}

static void check_cached_replies(void)
{
	u32 n = ur_min_u32(n_cached_replies, UR_ARRAY_SIZE(cached_reply));
	u64 response = (uintptr_t)out_buf;

	for (u32 i = 0; i < n; i++) {
		const struct cached_reply *f = &cached_reply[i];
		const struct ucma_file *file = files[f->file];
		u32 len = sizeof(f->cached.question);

		if (file->generations[f->cached.slot] != f->cached.change)
			continue;
		memcpy(in_buf, f->cached.question, len);
		memcpy(in_buf + 8, &response, sizeof(response));
		memset(out_buf, 0xa5, f->bytes + 1);
		CHECK_EQ(write_command(f->file, len), len);
		CHECK(!memcmp(out_buf, f->answer, f->bytes));
		CHECK_EQ(out_buf[f->bytes], 0xa5);
		CHECK_EQ(session.outs_len, 0);
	}
}

/* While the socket has room, it has a datagram for each event: otherwise a program waits for ever. */
static void check_datagrams(u32 file)
{
	const struct ucma_file *f = files[file];
	u32 due = f->n_events + (f->ahead && f->ahead_token);

	CHECK(f->tokens >= ur_min_u32(due, 16));
}

static s64 command(u32 file, u32 cmd, u32 in, u32 out, u64 len)
{
	struct rdma_ucm_cmd_hdr hdr = {cmd, (u16)in, (u16)out};
	s64 ret;

	memcpy(in_buf, &hdr, sizeof(hdr));
	ret = write_command(file, len);
	if (ret >= 0)
		keep_cached_replies(file, session.outs, session.outs_len);
	check_datagrams(file);
	check_cached_replies();
	return ret;
}

static void put_address(u8 *at, u8 kind, u8 port)
{
	union ur_sa sa = {0};

	if (kind & 1) {
		sa.in6.sin6_family = AF_INET6;
		sa.in6.sin6_addr = kind & 2 ? in6addr_loopback : in6addr_any;
	} else {
		sa.in.sin_family = AF_INET;
		sa.in.sin_addr.s_addr = kind & 2 ? htonl(INADDR_LOOPBACK) : 0;
		if (kind & 4)
			sa.in.sin_addr.s_addr = htonl(0xef010101);
	}
	sa.in.sin_port = htons(port);
	memcpy(at, &sa, sizeof(sa.in6));
}

/* Any command, its body from the input. */
static void step_any(u32 file, struct input *in)
{
	u8 cmd = take(in) % 26, bytes = take(in), out = take(in);
	u64 response = (uintptr_t)out_buf;
	u8 *body = in_buf + sizeof(struct rdma_ucm_cmd_hdr);

	take_bytes(in, body, bytes);
	if (!(out & 1) && bytes >= 8)
		memcpy(body, &response, sizeof(response));
	command(file, cmd, bytes, out * 8u, bytes + 8u - (out & 2));
}

static void step_create(u32 file, u8 a)
{
	static const u16 spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB,
				     RDMA_PS_IPOIB};
	struct rdma_ucm_create_id *c = (void *)(in_buf + 8);

	memset(c, 0, sizeof(*c));
	c->uid = a | 1;
	c->response = (uintptr_t)out_buf;
	c->ps = spaces[a & 3];
	c->qp_type = 2 + (a >> 2) % 9;
	command(file, RDMA_USER_CM_CMD_CREATE_ID, sizeof(*c), 4,
		8 + sizeof(*c));
}

static void step_bind(u32 file, u8 id, u8 kind, u8 port)
{
	struct rdma_ucm_bind *b = (void *)(in_buf + 8);

	memset(b, 0, sizeof(*b));
	b->id = id;
	b->addr_size = sizeof(struct sockaddr_in6);
	put_address((u8 *)&b->addr, kind, port);
	command(file, RDMA_USER_CM_CMD_BIND, sizeof(*b), 0, 8 + sizeof(*b));
}

static void step_listen(u32 file, u8 id, u8 backlog)
{
	struct rdma_ucm_listen l = {id, backlog};

	memcpy(in_buf + 8, &l, sizeof(l));
	command(file, RDMA_USER_CM_CMD_LISTEN, sizeof(l), 0, 8 + sizeof(l));
}

static void step_resolve(u32 file, u8 id, u8 kind, u8 port)
{
	struct rdma_ucm_resolve_addr *r = (void *)(in_buf + 8);
	struct rdma_ucm_resolve_route route = {id, 1};

	memset(r, 0, sizeof(*r));
	r->id = id;
	r->dst_size = sizeof(struct sockaddr_in6);
	put_address((u8 *)&r->dst_addr, kind | 2, port);
	command(file, RDMA_USER_CM_CMD_RESOLVE_ADDR, sizeof(*r), 0,
		8 + sizeof(*r));
	memcpy(in_buf + 8, &route, sizeof(route));
	command(file, RDMA_USER_CM_CMD_RESOLVE_ROUTE, sizeof(route), 0,
		8 + sizeof(route));
}

/* CONNECT and ACCEPT differ by the uid in front. */
static void step_connect(u32 file, u8 id, u8 a, bool accept)
{
	struct rdma_ucm_connect c = {.id = id,
				     .conn_param = {.qp_num = a,
						    .private_data_len = a,
						    .valid = !(a & 1)}};
	u64 uid = a;
	u32 at = 8;

	if (accept) {
		memcpy(in_buf + at, &uid, sizeof(uid));
		at += sizeof(uid);
	}
	memcpy(in_buf + at, &c, sizeof(c));
	at += sizeof(c);
	command(file,
		accept ? RDMA_USER_CM_CMD_ACCEPT : RDMA_USER_CM_CMD_CONNECT,
		at - 8, 0, at);
}

static void step_response(u32 file, u32 cmd, u8 id, u8 a, u32 out)
{
	u64 response = (uintptr_t)out_buf;
	u32 rest[2] = {id, a};

	memcpy(in_buf + 8, &response, sizeof(response));
	memcpy(in_buf + 16, rest, sizeof(rest));
	command(file, cmd, 16, out, 24);
}

static void step_option(u32 file, u8 id, u8 a, struct input *in)
{
	struct rdma_ucm_set_option s = {.optval = (uintptr_t)option,
					.id = id,
					.level = a >> 7,
					.optname = a & 7,
					.optlen = take(in)};

	take_bytes(in, option, s.optlen);
	memcpy(in_buf + 8, &s, sizeof(s));
	command(file, RDMA_USER_CM_CMD_SET_OPTION, sizeof(s), 0, 8 + sizeof(s));
}

static void step_join(u32 file, u8 id, u8 a)
{
	struct rdma_ucm_join_mcast j = {.response = (uintptr_t)out_buf,
					.uid = 5,
					.id = id,
					.addr_size =
						sizeof(struct sockaddr_in6),
					.join_flags = a >> 6};

	put_address((u8 *)&j.addr, 4, 0);
	memcpy(in_buf + 8, &j, sizeof(j));
	command(file, RDMA_USER_CM_CMD_JOIN_MCAST, sizeof(j), 4, 8 + sizeof(j));
}

static void step(struct input *in)
{
	u8 op = take(in), id, a, b;
	u32 file = op >> 7;

	took_ahead = op & 16;
	has_created = op & 64;
	if (op & 32)
		read_datagram(file);
	if ((op & 15) == 0) {
		step_any(file, in);
		return;
	}
	id = take(in) & 15;
	a = take(in);
	b = a >> 4;
	switch (op & 15) {
	case 1:
	case 2:
		step_create(file, a);
		return;
	case 3:
		step_bind(file, id, a, b);
		return;
	case 4:
		step_listen(file, id, a);
		return;
	case 5:
		step_resolve(file, id, a, b);
		return;
	case 6:
		step_connect(file, id, a, false);
		return;
	case 7:
		step_connect(file, id, a, true);
		return;
	case 8:
		step_response(file, RDMA_USER_CM_CMD_DESTROY_ID, id, 0, 4);
		return;
	case 9:
		step_response(file, RDMA_USER_CM_CMD_QUERY, id, a & 3, a * 8u);
		return;
	case 10:
		step_response(file, RDMA_USER_CM_CMD_INIT_QP_ATTR, id, a & 7,
			      144);
		return;
	case 11:
		step_response(file, RDMA_USER_CM_CMD_MIGRATE_ID, id, a & 7, 4);
		return;
	case 12:
		step_option(file, id, a, in);
		return;
	case 13:
		step_join(file, id, a);
		return;
	case 14:
		step_response(file, RDMA_USER_CM_CMD_LEAVE_MCAST, a & 7, 0, 4);
		return;
	default:
		step_response(file, RDMA_USER_CM_CMD_GET_EVENT, id, a, 336);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct ur_file_ops *ops;
	struct input in = {data, size};
	u64 rdev;

	if (!device_world.loop)
		make_world();
	ops = device_world.file_ops[UROCE_TUN_RDMA_CM];
	ur_loop_lock(device_world.loop);
	for (u32 i = 0; i < FILES; i++)
		if (ops->open(&session, "rdma_cm", &files[i], visible[i],
			      &rdev))
			abort();
	n_cached_replies = 0;
	ur_loop_unlock(device_world.loop);
	while (in.left)
		step(&in);

	ur_loop_lock(device_world.loop);
	if (ur_cm_check(((struct ur_ucma *)device_world.cm)->cm))
		abort();
	for (u32 i = 0; i < FILES; i++)
		ops->close(files[i]);
	ur_loop_unlock(device_world.loop);
	device_world_look();
	return 0;
}
