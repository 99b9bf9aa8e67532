// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device without room for one more descriptor, and how long one takes to end.
 *
 * usage: test_room UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/stuck.h"

/* An ordinary user, where we can be one. */
#define STRANGER 65534
#define STOPS	 20

static int64_t create_cq(int sock, int32_t channel)
{
	struct ib_uverbs_create_cq req = {.cqe = 16, .comp_channel = channel};
	struct ib_uverbs_create_cq_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			     sizeof(req), &resp, sizeof(resp));
}

static int make_channel(int sock)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &resp, sizeof(resp)),
		 0);
	return (int)resp.fd;
}

/* Until this is set to all again, the device can have no descriptor more. */
static void crowd(const struct daemon_proc *d, struct rlimit *all)
{
	struct rlimit few;
	char path[64];
	int n = 0;

	CHECK(!prlimit(d->pid, RLIMIT_NOFILE, NULL, all));
	do
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)d->pid,
			 n++);
	while (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW));
	few = *all;
	few.rlim_cur = (rlim_t)n - 1;
	CHECK(!prlimit(d->pid, RLIMIT_NOFILE, &few, NULL));
}

/* The device has no descriptor left: a client that shows one gets that error,
 * and is served when there is room again. */
static void test_no_room(const char *uroced)
{
	struct daemon_proc small = {0};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "uverbs0"};
	struct uroce_tun_msg sync = {.op = UROCE_TUN_SYNC};
	int sock, late, channel, fd;
	int mem = client_mem();
	struct rlimit all;

	daemon_start(&small, uroced, 0);
	sock = client_session(&small);
	channel = make_channel(sock);
	CHECK_EQ(create_cq(sock, channel), 0);
	late = client_connect(&small);
	client_send(late, &sync, NULL, 0);
	CHECK(!client_recv(late, &sync, &fd));
	crowd(&small, &all);
	CHECK_EQ(create_cq(sock, channel), (int64_t)-ENFILE);
	client_send(late, &msg, &mem, 1);
	CHECK(!client_recv(late, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, (int64_t)-ENFILE);
	close(late);
	CHECK(!prlimit(small.pid, RLIMIT_NOFILE, &all, NULL));
	client_settle_to(&small, 1);
	CHECK_EQ(create_cq(sock, channel), 0);
	client_check(&small);
	close(channel);
	close(sock);
	close(mem);
	daemon_stop(&small);
}

/* A descriptor that came with its last message is given back with nobody
 * waiting. */
static void test_turned_away(const char *uroced)
{
	struct daemon_proc small = {.as = geteuid() ? 0 : STRANGER};
	struct uroce_tun_msg sync = {.op = UROCE_TUN_SYNC};
	struct stuck_socket s = stuck_socket();
	struct rlimit all;
	int sock, away, fd;

	daemon_start(&small, uroced, 0);
	CHECK(!chmod(small.dir, 0755));
	sock = client_session(&small);
	crowd(&small, &all);
	daemon_pause(&small);
	away = client_connect(&small);
	client_hand_over(&small, away, &sync, s.sock);
	/* Its message is not read, so it may see that first (ECONNRESET). */
	if (!client_recv(away, &sync, &fd))
		CHECK_EQ(sync.ret, (int64_t)-ENFILE);
	client_alloc_pd(sock); /* it is served */
	stuck_socket_end(&s);
	close(away);
	close(sock);
	daemon_stop(&small);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A stop takes away all that a start makes; with clients or without, it waits
 * for nothing else. */
static void test_stop_time(const char *uroced)
{
	uint64_t starts[STOPS], stops[STOPS], t;
	struct daemon_proc d = {0};
	int sock = -1;

	for (int i = 0; i < STOPS; i++) {
		t = now();
		daemon_start(&d, uroced, 0);
		starts[i] = now() - t;
		if (i & 1)
			sock = client_session(&d);
		t = now();
		daemon_stop(&d);
		stops[i] = now() - t;
		if (i & 1)
			close(sock);
	}
	qsort(starts, STOPS, sizeof(*starts), by_size);
	qsort(stops, STOPS, sizeof(*stops), by_size);
	printf("start %llu us, stop %llu us, at most %llu us\n",
	       (unsigned long long)starts[STOPS / 2] / 1000,
	       (unsigned long long)stops[STOPS / 2] / 1000,
	       (unsigned long long)stops[STOPS - 1] / 1000);
	CHECK(stops[STOPS / 2] < 2 * starts[STOPS / 2]);
}

static uint64_t processor_ns(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	CHECK(!clock_getcpuclockid(pid, &clock));
	CHECK(!clock_gettime(clock, &ts));
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Not even the spare descriptor can be had: who waits to be let in waits, costs
 * nothing, and is served when there is one. */
static void test_no_spare(const char *uroced)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	struct daemon_proc d = {0};
	struct rlimit few, all;
	int sock, late, fd;
	uint64_t t, used;

	daemon_start(&d, uroced, 0);
	sock = client_session(&d);
	CHECK(!prlimit(d.pid, RLIMIT_NOFILE, NULL, &all));
	few = all;
	few.rlim_cur = 3;
	CHECK(!prlimit(d.pid, RLIMIT_NOFILE, &few, NULL));
	late = client_connect(&d);
	client_send(late, &msg, NULL, 0);
	/* The others go on meanwhile. */
	used = processor_ns(d.pid);
	for (t = now(); now() - t < 500000000u;) {
		client_alloc_pd(sock);
		usleep(10000);
	}
	used = processor_ns(d.pid) - used;
	printf("half a second with nobody to be let in: %llu us\n",
	       (unsigned long long)used / 1000);
	CHECK(used < 250000000u);
	CHECK(!prlimit(d.pid, RLIMIT_NOFILE, &all, NULL));
	CHECK(!client_recv(late, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	close(late);
	close(sock);
	daemon_stop(&d);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	STEP(test_stop_time(argv[1]));
	STEP(test_no_room(argv[1]));
	STEP(test_no_spare(argv[1]));
	STEP(test_turned_away(argv[1]));
	return cases_status();
}
