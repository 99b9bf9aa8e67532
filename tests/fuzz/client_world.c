// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The clients of the client door: their sessions, memory and descriptors. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/fuzz/client_world.h"
#include "tests/fuzz/device_world.h"

static int client_fds[4];
static int arena_fd;
static char uverbs_name[32];

static void map_arena(void)
{
	if (mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) == MAP_FAILED)
		_exit(1);
}

static void make_fds(void)
{
	client_fds[0] = eventfd(0, EFD_CLOEXEC);
	client_fds[1] = memfd_create("client", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	client_fds[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	client_fds[3] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(!ftruncate(client_fds[1], ARENA_BYTES));
	for (u32 i = 0; i < UR_ARRAY_SIZE(client_fds); i++)
		CHECK(client_fds[i] >= 0);
}

void client_world_create(void)
{
	struct ur_device *dev;

	signal(SIGPIPE, SIG_IGN);
	arena_fd = device_world_client(map_arena);
	make_fds();
	device_world_start();
	dev = ur_list_first(&device_world.devices, struct ur_device, node);
	snprintf(uverbs_name, sizeof(uverbs_name), "uverbs%u", dev->uverbs);
}

const char *client_uverbs_name(void)
{
	return uverbs_name;
}

int client_connect(void)
{
	int pair[2], err;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	ur_loop_lock(device_world.loop);
	err = ur_session_start(&device_world, pair[1]);
	ur_loop_unlock(device_world.loop);
	CHECK(!err);
	return pair[0];
}

void client_wait_idle(void)
{
	device_world_settle();
	/* Nothing of the session may be left. */
	device_world_look();
}

int client_mem(void)
{
	int fd = fcntl(arena_fd, F_DUPFD_CLOEXEC, 0);

	CHECK(fd >= 0);
	return fd;
}

void client_write(u64 addr, const void *bytes, size_t n)
{
	CHECK(pwrite(arena_fd, bytes, n, (off_t)addr) == (ssize_t)n);
}

int client_fd(u32 which)
{
	return which < UR_ARRAY_SIZE(client_fds) ? client_fds[which] : -1;
}
