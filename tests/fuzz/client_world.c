// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A whole device process for the client door, without its main(). */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/netlink.h"
#include "device/session.h"
#include "device/sysfs.h"
#include "device/ucma.h"
#include "device/ufile.h"
#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"
#include "tests/fuzz/client_world.h"

static struct ur_daemon daemon_ = {
	.listen_fd = -1,
	.lock_fd = -1,
	.file_ops = {[UROCE_TUN_UVERBS] = &ur_ufile_ops},
};
static pid_t client;
static int client_fds[4];
static int arena_fd;
static char uverbs_name[32];

/* Port 4791 of 127.0.0.1 and ::1 must be free, and stay inside. */
static void own_network(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int sock;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP("network namespaces are not allowed here");
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(sock >= 0);
	CHECK(!ioctl(sock, SIOCGIFFLAGS, &ifr));
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(sock, SIOCSIFFLAGS, &ifr))
		SKIP("the loopback of a new namespace cannot be set up");
	close(sock);
}

/* The client is this process as it is now, plus an arena, asleep. */
static void start_client(void)
{
	char path[64];

	client = fork();
	CHECK(client >= 0);
	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0) == MAP_FAILED)
			_exit(1);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)client);
	arena_fd = open(path, O_RDWR | O_CLOEXEC);
	if (arena_fd < 0)
		SKIP("the memory of a child process cannot be opened");
	client_fds[0] = eventfd(0, EFD_CLOEXEC);
	client_fds[1] = memfd_create("client", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	client_fds[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	client_fds[3] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(!ftruncate(client_fds[1], ARENA_BYTES));
	for (u32 i = 0; i < UR_ARRAY_SIZE(client_fds); i++)
		CHECK(client_fds[i] >= 0);
}

static void *serve(void *arg)
{
	ur_loop_serve(daemon_.loop);
	return NULL;
}

static void remove_run_dir(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", daemon_.run_dir);
	if (system(command))
		fprintf(stderr, "%s stays behind\n", daemon_.run_dir);
}

static void make_run_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(daemon_.run_dir, sizeof(daemon_.run_dir),
		 "%s/uroce-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(daemon_.run_dir));
	atexit(remove_run_dir);
}

void client_world_create(void)
{
	struct ur_device *dev;
	pthread_t thread;

	signal(SIGPIPE, SIG_IGN);
	own_network();
	start_client();
	make_run_dir();
	ur_daemon_init(&daemon_);
	CHECK(!ur_loop_create(&daemon_.loop));
	ur_loop_lock(daemon_.loop);
	CHECK(!ur_ucma_init(&daemon_));
	CHECK(!ur_sysfs_init(&daemon_));
	CHECK(!ur_netlink_open(&daemon_));
	CHECK(!ur_device_create(&daemon_, "lo", NULL));
	dev = ur_list_first(&daemon_.devices, struct ur_device, node);
	snprintf(uverbs_name, sizeof(uverbs_name), "uverbs%u", dev->uverbs);
	ur_loop_unlock(daemon_.loop);
	CHECK(!pthread_create(&thread, NULL, serve, NULL));
	pthread_detach(thread);
}

const char *client_uverbs_name(void)
{
	return uverbs_name;
}

int client_connect(void)
{
	int pair[2], err;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	ur_loop_lock(daemon_.loop);
	err = ur_session_start(&daemon_, pair[1]);
	ur_loop_unlock(daemon_.loop);
	CHECK(!err);
	return pair[0];
}

void client_wait_idle(void)
{
	bool idle;

	do {
		sched_yield();
		ur_loop_lock(daemon_.loop);
		idle = !daemon_.n_sessions;
		ur_loop_unlock(daemon_.loop);
	} while (!idle);
	/* Nothing of the session may be left. */
	CHECK(ur_list_empty(&daemon_.files));
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
