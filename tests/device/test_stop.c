// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients that have a lock of the kernel's on something that the device has too,
 * for ever. Nobody else waits for it, and a stop is over in time, whatever it is.
 *
 * usage: test_stop UROCED
 */
#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"
#include "tests/device/stuck.h"

#define PAGE 4096
/* Meant is 1.5 s; a busy machine has some more. */
#define STOP_MS (1500 + 3000)

static struct daemon_proc dev;
static char *stuck;

/* ---- who has a lock, since a page of his does not come ---- */

struct holder {
	pthread_t thread;
	int fd;
	char *page;
	void (*hold)(const struct holder *h);
};

static void *hold(void *arg)
{
	const struct holder *h = arg;

	h->hold(h);
	return NULL;
}

static void begin_hold(struct holder *h, int fd, int n,
		       void (*fn)(const struct holder *h))
{
	/* Its own: the other end of this one may be closed meanwhile. */
	*h = (struct holder){
		.fd = dup(fd), .page = stuck + n * PAGE, .hold = fn};
	CHECK(h->fd >= 0);
	CHECK(!pthread_create(&h->thread, NULL, hold, h));
	stuck_wait();
}

/* The lock of the file's inode. */
static void write_far(const struct holder *h)
{
	CHECK_EQ(pwrite(h->fd, h->page, 64, (off_t)1 << 39), -1);
	CHECK_EQ(errno, EFAULT);
}

/* The lock of the directory. */
static void read_directory(const struct holder *h)
{
	CHECK_EQ(syscall(SYS_getdents64, h->fd, h->page, PAGE), -1);
	CHECK_EQ(errno, EFAULT);
}

static void sync_counters(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int sock = client_connect(&dev);

	client_send(sock, &msg, NULL, 0);
	CHECK_EQ(client_hear(sock, &msg), 0);
	close(sock);
}

/* ---- what others do meanwhile ---- */

static uint32_t make_queue(struct user *u)
{
	struct ib_uverbs_create_cq req = {.cqe = 8000, .comp_channel = -1};
	struct ib_uverbs_create_cq_resp resp = {0};

	CHECK_EQ(client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.cq_handle;
}

/* Rings come and go while their file is written to. */
static void test_rings(struct user *u)
{
	uint32_t queue[16];

	for (int i = 0; i < 16; i++)
		queue[i] = make_queue(u);
	for (int i = 0; i < 16; i++) {
		struct ib_uverbs_destroy_cq req = {.cq_handle = queue[i]};
		struct ib_uverbs_destroy_cq_resp resp;

		CHECK_EQ(client_legacy(u->sock, IB_USER_VERBS_CMD_DESTROY_CQ,
				       &req, sizeof(req), &resp, sizeof(resp)),
			 0);
	}
	client_check(&dev);
}

static uint64_t count(const char *name)
{
	unsigned long long n;
	char path[192], text[32] = "";
	int fd;

	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/uroce0/ports/1/hw_counters/%s",
		 dev.dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	CHECK_EQ(sscanf(text, "%llu", &n), 1);
	return n;
}

/* Returns a socket for datagrams to the device. */
static int to_device(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(4791),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(sock >= 0);
	CHECK(!connect(sock, (struct sockaddr *)&to, sizeof(to)));
	return sock;
}

/* Counters move while their directory is read: a packet that is refused. */
static void test_counters(void)
{
	static const char bytes[64];
	uint64_t before;
	int sock = to_device();

	sync_counters();
	before = count("bad_gid");
	CHECK_EQ(send(sock, bytes, sizeof(bytes), 0), sizeof(bytes));
	do
		sync_counters();
	while (count("bad_gid") == before);
	close(sock);
	client_check(&dev);
}

static int64_t now_ms(void)
{
	struct timespec t;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* Whatever clients hold, the process ends. */
static void check_stop(void)
{
	int64_t at = now_ms();

	daemon_stop(&dev);
	CHECK(now_ms() - at < STOP_MS);
}

/* A thread of it cannot end, but the next one has all that it needs. */
static void check_next(struct daemon_proc *stuck_one, const char *uroced)
{
	*stuck_one = dev;
	CHECK(!kill(dev.pid, SIGTERM));
	daemon_start_again(&dev, uroced);
	client_check(&dev);
	CHECK_EQ(waitpid(stuck_one->pid, NULL, WNOHANG), 0);
}

/* A client whose command does not come: its thread waits. Reading another's memory takes a lock of
 * it, so this is a process of its own. */
static pid_t begin_stall(int n)
{
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_WRITE,
		.call = {.arg = (uintptr_t)stuck + (uint64_t)n * PAGE,
			 .len = 64}};
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		client_send(client_session(&dev), &msg, NULL, 0);
		for (;;)
			pause();
	}
	stuck_wait();
	return pid;
}

int main(int argc, char **argv)
{
	struct daemon_proc stuck_one;
	struct holder inode, directory;
	struct user user;
	char path[160];
	pid_t staller;
	struct uroce_alloc_ucontext_resp ctx;
	int visible;

	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	stuck = stuck_map();
	if (!stuck)
		SKIP("no file system of our own is allowed");
	alarm(60); /* a thread of ours may wait as well */
	/* As /run is: elsewhere to make a file may take long. */
	strcpy(dev.dir, "/dev/shm/uroce-test.XXXXXX");
	CHECK(mkdtemp(dev.dir));
	daemon_start(&dev, argv[1], 0);
	user.sock = client_open(&dev, "uverbs0", &visible);
	CHECK_EQ(client_get_context(user.sock, &ctx), 0);
	begin_hold(&inode, visible, 0, write_far);
	STEP(test_rings(&user));
	STEP(check_stop());
	close(visible);
	close(user.sock);
	daemon_start(&dev, argv[1], 0);
	staller = begin_stall(4);
	STEP(check_next(&stuck_one, argv[1]));
	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/uroce0/ports/1/hw_counters", dev.dir);
	begin_hold(&directory, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		   2, read_directory);
	STEP(test_counters());
	stuck_end();
	CHECK(!pthread_join(inode.thread, NULL));
	CHECK(!pthread_join(directory.thread, NULL));
	CHECK_EQ(daemon_wait(&stuck_one), 0);
	CHECK(!kill(staller, SIGKILL));
	CHECK_EQ(waitpid(staller, NULL, 0), staller);
	daemon_stop(&dev);
	snprintf(path, sizeof(path), "%s/lock", dev.dir);
	CHECK(!unlink(path));
	CHECK(!rmdir(dev.dir));
	return cases_status();
}
