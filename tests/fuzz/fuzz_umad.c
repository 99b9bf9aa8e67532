// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad door, from both sides: any commands on two open files of a whole
 * device on the loopback interface, whose agents may ask each other through its
 * QP1, and any datagrams that come for QP1. The client's memory is that of a
 * child which does nothing.
 *
 * Input: records of an operation byte and what it needs (see step()). Each
 * read is judged: whole MADs, of agents that the file may have.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/open_file.h"
#include "device/umad/umad.h"
#include "tests/check.h"
#include "tests/device/company.h"
#include "tests/fuzz/device_world.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ARENA	    0x20000000ul
#define ARENA_BYTES (1u << 16)
#define FILES	    2

static struct ur_session session;
static void *files[FILES];
static int visible[FILES][UROCE_TUN_MAX_FDS];
static u8 *arena; /* shared with the child, at the same address */

static void front_end(int sock)
{
}

/* The client has it too. */
static void make_world(void)
{
	int mem;

	arena = mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (arena != (u8 *)ARENA)
		abort();
	mem = device_world_client(NULL);
	device_world_start();
	device_world_session(&session, mem, front_end);
}

static const struct ur_file_ops *ops(void)
{
	return device_world.file_ops[UROCE_TUN_UMAD];
}

static struct ur_device *device(void)
{
	return ur_list_first(&device_world.devices, struct ur_device, node);
}

static void step_ioctl(u32 file, struct input *in)
{
	static const u64 requests[] = {
		IB_USER_MAD_REGISTER_AGENT, IB_USER_MAD_REGISTER_AGENT2,
		IB_USER_MAD_UNREGISTER_AGENT, IB_USER_MAD_ENABLE_PKEY};
	u8 which = take(in);

	take_bytes(in, arena, sizeof(struct ib_user_mad_reg_req2));
	ops()->ioctl(files[file],
		     requests[which % UR_ARRAY_SIZE(requests)] + which / 128,
		     which & 64 ? 8 : ARENA);
}

/* One that succeeds where the class is free. */
static void step_register(u32 file, u8 mgmt_class, u8 method)
{
	struct ib_user_mad_reg_req req = {.qpn = 1,
					  .mgmt_class = mgmt_class,
					  .mgmt_class_version = 1,
					  .oui = {1, 2, 3},
					  .rmpp_version = method >> 7};

	req.method_mask[method >> 6 & 1] = 1ul << (method & 63);
	memcpy(arena, &req, sizeof(req));
	ops()->ioctl(files[file], IB_USER_MAD_REGISTER_AGENT, ARENA);
}

static void put_gid(u8 *gid)
{
	const struct ur_gid *g;

	ur_loop_lock(device_world.loop);
	g = ur_gid_get(device(), 0);
	if (g)
		memcpy(gid, g->gid, 16);
	ur_loop_unlock(device_world.loop);
}

/* Any bytes; but the address is mostly ours. */
static void step_write(u32 file, struct input *in)
{
	u8 a = take(in), timeout = take(in);
	struct ib_user_mad_hdr hdr = {.id = a & 3,
				      .timeout_ms = timeout & 15,
				      .retries = timeout >> 4,
				      .qpn = htonl(a & 4 ? take(in) : 1),
				      .grh_present = !(a & 8)};
	u32 front = umad_hdr_bytes(files[file]), bytes = take(in);

	put_gid(hdr.gid);
	if (a & 16)
		take_bytes(in, (u8 *)&hdr, sizeof(hdr));
	memcpy(arena, &hdr, front);
	memset(arena + front, 0, 600);
	take_bytes(in, arena + front, bytes);
	ops()->write(files[file], ARENA,
		     a & 32 ? bytes : front + UR_MAD_BYTES + (a >> 7));
}

/* From the wire, of any peer. */
static void step_rx(struct input *in)
{
	u8 mad[UR_MAD_BYTES] = {1}, a = take(in);
	struct ur_rx_meta meta = {.tos = a};

	take_bytes(in, mad, a & 1 ? 64 : 12);
	take_bytes(in, meta.saddr, 2);
	put_gid(meta.daddr);
	if (a & 2)
		put_gid(meta.saddr);
	ur_loop_lock(device_world.loop);
	ur_mad_dispatch(device(), &meta, a & 4 ? take(in) : 1, mad);
	ur_loop_unlock(device_world.loop);
}

/* A file whose agents have received a MAD has its size of header for good. */
static void read_all(u32 file)
{
	u8 buf[600];
	ssize_t n;

	while ((n = recv(visible[file][0], buf, sizeof(buf), MSG_DONTWAIT)) >
	       0) {
		u32 front = umad_hdr_bytes(files[file]);
		struct ib_user_mad_hdr hdr = {0};

		memcpy(&hdr, buf, front);
		CHECK(hdr.id < UMAD_FILE_AGENTS_MAX);
		CHECK(!hdr.status || hdr.status == ETIMEDOUT);
		CHECK_EQ(n, front + (hdr.status ? UR_MAD_HEADER_BYTES
						: UR_MAD_BYTES));
	}
}

static void step(struct input *in)
{
	u8 op = take(in), a;
	u32 file = op >> 7;

	switch (op & 7) {
	case 0:
		step_ioctl(file, in);
		break;
	case 1:
	case 2:
		a = take(in);
		step_register(file, a, take(in));
		break;
	case 3:
	case 4:
		step_write(file, in);
		break;
	case 5:
		step_rx(in);
		break;
	case 6:
		read_all(file);
		break;
	default:
		ur_loop_lock(device_world.loop);
		umad_send_expire(files[file]);
		ur_loop_unlock(device_world.loop);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};
	u32 left = 0;
	u64 rdev;

	if (!device_world.loop)
		make_world();
	ur_loop_lock(device_world.loop);
	for (u32 i = 0; i < FILES; i++)
		if (ops()->open(&session, "umad0", &files[i], visible[i],
				&rdev))
			abort();
	ur_loop_unlock(device_world.loop);
	while (in.left)
		step(&in);
	for (u32 i = 0; i < FILES; i++)
		read_all(i);
	ur_loop_lock(device_world.loop);
	for (u32 i = 0; i < FILES; i++)
		ops()->close(files[i]);
	ur_list_for_each(it, &((struct ur_umad *)device_world.umad)->agents)
		left++;
	ur_loop_unlock(device_world.loop);
	CHECK_EQ(left, COMPANY_AGENTS);
	device_world_look();
	return 0;
}
