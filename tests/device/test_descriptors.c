// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Descriptors that clients show and that keep whoever looks at them, or gives
 * them back, waiting: nobody waits but the client's own thread.
 *
 * usage: test_descriptors UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/stuck.h"

/* An ordinary user, where we can be one. */
#define STRANGER 65534

static struct daemon_proc dev;
/* The descriptors that commands name with UROCE_TUN_F_KNOWN. */
static struct uroce_tun_known named[UROCE_TUN_MAX_KNOWN];

static int make_channel(int sock)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &resp, sizeof(resp)),
		 0);
	return (int)resp.fd;
}

/* The device asks for a descriptor in the middle of the command that was sent:
 * it gets that one, and has an answer when it is rid of it. */
static void show(int sock, int fd)
{
	struct uroce_tun_msg msg;
	int none;

	CHECK(!client_recv(sock, &msg, &none));
	CHECK_EQ(msg.op, UROCE_TUN_FGET);
	memset(&msg, 0, sizeof(msg));
	msg.op = UROCE_TUN_FD;
	daemon_pause(&dev);
	client_hand_over(&dev, sock, &msg, fd);
}

static int64_t answer(int sock)
{
	struct uroce_tun_msg msg;
	int none;

	CHECK(!client_recv(sock, &msg, &none));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	return msg.ret > 0 ? 0 : msg.ret;
}

static void send_legacy(int sock, uint32_t command, const void *core,
			size_t len, void *resp, size_t out)
{
	static uint64_t buf[64];
	struct ib_uverbs_cmd_hdr hdr = {
		.command = command,
		.in_words = (uint16_t)((sizeof(hdr) + len) / 4),
		.out_words = (uint16_t)(out / 4)};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)buf,
				    .call.len = sizeof(hdr) + len};
	uint64_t response = (uintptr_t)resp;

	CHECK(msg.call.len <= sizeof(buf));
	memcpy(msg.known, named, sizeof(named));
	memcpy(buf, &hdr, sizeof(hdr));
	memcpy((char *)buf + sizeof(hdr), core, len);
	memcpy((char *)buf + sizeof(hdr), &response, sizeof(response));
	client_send(sock, &msg, NULL, 0);
}

static void show_channel(int sock, int fd)
{
	static struct ib_uverbs_create_cq_resp resp;
	struct ib_uverbs_create_cq req = {.cqe = 16, .comp_channel = 5};

	send_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp,
		    sizeof(resp));
	show(sock, fd);
}

static void show_memory(int sock, int fd)
{
	static struct client_dmabuf cmd;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_IOCTL,
				    .call.request = RDMA_VERBS_IOCTL,
				    .call.arg = (uintptr_t)&cmd};

	client_dmabuf_init(&cmd, client_alloc_pd(sock), 5, 0, 4096);
	memcpy(msg.known, named, sizeof(named));
	client_send(sock, &msg, NULL, 0);
	show(sock, fd);
}

static void show_domain(int sock, int fd)
{
	static struct ib_uverbs_open_xrcd_resp resp;
	struct ib_uverbs_open_xrcd req = {.fd = 5, .oflags = O_CREAT};

	send_legacy(sock, IB_USER_VERBS_CMD_OPEN_XRCD, &req, sizeof(req), &resp,
		    sizeof(resp));
	show(sock, fd);
}

static int open_kind(uint32_t kind, const char *name, int *visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	int sock = client_connect(&dev), mem = client_mem();

	strcpy(msg.name, name);
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, visible));
	CHECK_EQ(msg.ret, 0);
	return sock;
}

static void show_cm(int sock, int fd)
{
	static uint32_t out;
	static struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_migrate_id core;
	} req = {{RDMA_USER_CM_CMD_MIGRATE_ID, sizeof(req.core), 4},
		 {.id = 0, .fd = 5}};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)&req,
				    .call.len = sizeof(req)};

	req.core.response = (uintptr_t)&out;
	client_send(sock, &msg, NULL, 0);
	show(sock, fd);
}

static void show_file(int sock, int fd)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION,
				    .open.fd = 5};
	int mem = client_mem();

	client_send(sock, &msg, &mem, 1);
	close(mem);
	show(sock, fd);
}

static int uverbs(void)
{
	return client_session(&dev);
}

static int rdma_cm(void)
{
	int visible, sock = open_kind(UROCE_TUN_RDMA_CM, "rdma_cm", &visible);

	close(visible);
	return sock;
}

static int plain(void)
{
	return client_connect(&dev);
}

static const struct way {
	const char *name;
	int (*session)(void);
	void (*show)(int sock, int fd);
	int64_t answer; /* to a socket that is none of the device's */
} ways[] = {
	{"channel", uverbs, show_channel, -EBADF},
	{"memory", uverbs, show_memory, -EOPNOTSUPP},
	{"domain", uverbs, show_domain, 0},
	{"rdma_cm", rdma_cm, show_cm, -EINVAL},
	{"file", plain, show_file, -ENOENT},
};

static void check_others(void)
{
	uid_t as = dev.as;

	dev.as = 0;
	client_check(&dev);
	dev.as = as;
}

/* Nobody waits but who showed it. */
static void test_shown(const struct way *w)
{
	struct stuck_socket s = stuck_socket();
	int sock = w->session();

	w->show(sock, s.sock);
	check_others();
	stuck_socket_end(&s);
	CHECK_EQ(answer(sock), w->answer);
	close(sock);
}

/* Descriptors in messages that nobody reads any more. */
static void test_unread(void)
{
	struct uroce_tun_msg bad = {.op = 99}, sync = {.op = UROCE_TUN_SYNC};
	struct stuck_socket s = stuck_socket();
	int sock = client_connect(&dev);

	daemon_pause(&dev);
	client_send(sock, &bad, NULL, 0);
	client_hand_over(&dev, sock, &sync, s.sock);
	check_others();
	stuck_socket_end(&s);
	close(sock);
	client_settle(&dev);
}

/* Nobody puts a descriptor into an event file, which the device alone writes
 * to. */
static void test_event_files(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FD};
	int sock = client_session(&dev), visible;
	int channel = make_channel(sock);
	int cm = open_kind(UROCE_TUN_RDMA_CM, "rdma_cm", &visible);

	CHECK(send(channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0);
	CHECK_EQ(errno, EPIPE);
	CHECK(send(visible, &msg, sizeof(msg), MSG_NOSIGNAL) < 0);
	CHECK_EQ(errno, EPIPE);
	close(cm);
	close(visible);
	close(channel);
	close(sock);
}

/* Whether the device asks for the channel of a queue that is made. */
static bool asks(int sock, int channel)
{
	static struct ib_uverbs_create_cq_resp resp;
	struct ib_uverbs_create_cq req = {.cqe = 16, .comp_channel = channel};
	struct uroce_tun_msg msg;
	int fd, n = 0;

	send_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp,
		    sizeof(resp));
	while (!client_recv(sock, &msg, &fd) && msg.op == UROCE_TUN_FGET) {
		CHECK_EQ(msg.ret, channel);
		n++;
		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_FD;
		client_send(sock, &msg, &channel, 1);
	}
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK(msg.ret > 0);
	CHECK(n <= 1);
	return n;
}

/* The client says which object a number is; it is believed as to its own, and
 * asked where what it says cannot be. */
static void test_known(void)
{
	struct uroce_alloc_ucontext_resp ctx;
	int sock = client_open_with(&dev, "uverbs0", UROCE_TUN_F_KNOWN, NULL);
	struct uroce_tun_known right = {.kind = UROCE_TUN_COMP};
	static const uint64_t far[] = {1000, UINT32_MAX, 1ull << 32,
				       1ull << 63};
	uint32_t pd;

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	pd = client_alloc_pd(sock);
	right.fd = make_channel(sock);
	right.cookie = client_installed;
	CHECK(asks(sock, right.fd));
	named[0] = right;
	CHECK(!asks(sock, right.fd));
	named[0].kind = UROCE_TUN_ASYNC;
	CHECK(asks(sock, right.fd));
	named[1] = right;
	CHECK(!asks(sock, right.fd));
	named[0].kind = 0;
	CHECK(asks(sock, right.fd));
	named[1].kind = 0;
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		named[0] = right;
		named[0].cookie += far[i];
		CHECK(asks(sock, right.fd));
	}
	named[0] = right;
	named[0].cookie = pd;
	CHECK(asks(sock, right.fd));
	named[0] = right;
	named[0].fd++;
	CHECK(asks(sock, right.fd));
	memset(named, 0, sizeof(named));
	close(right.fd);
	close(sock);
	client_settle(&dev);
}

/* A client without the feature is asked, whatever is in its messages. */
static void test_unknown(void)
{
	int sock = client_session(&dev), channel = make_channel(sock);

	named[0] = (struct uroce_tun_known){.kind = UROCE_TUN_COMP,
					    .fd = channel,
					    .cookie = client_installed};
	CHECK(asks(sock, channel));
	memset(named, 0, sizeof(named));
	close(channel);
	close(sock);
	client_settle(&dev);
}

/* A file whose server answers nobody: not even its end can be broken off.
 * Others are served, the device gives up everything when it is stopped, and a
 * new one takes its place. */
static void test_server(const char *uroced)
{
	struct daemon_proc old;
	int fd = stuck_open(), sock, status;

	if (fd < 0) {
		printf("no file system of our own is allowed\n");
		return;
	}
	sock = uverbs();
	show_channel(sock, fd);
	stuck_wait();
	check_others();
	old = dev;
	kill(old.pid, SIGTERM);
	/* The old one has let go of the directory and of the port. */
	daemon_start_again(&dev, uroced);
	check_others();
	CHECK_EQ(waitpid(old.pid, &status, WNOHANG), 0);
	stuck_end();
	CHECK_EQ(daemon_wait(&old), 0);
	close(sock);
}

/* It ends while what it would wait for goes on. */
static void test_stop(const char *uroced)
{
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct stuck_socket s = stuck_socket();
		int sock = ways[i].session();

		ways[i].show(sock, s.sock);
		daemon_stop(&dev);
		stuck_socket_end(&s);
		close(sock);
		daemon_start(&dev, uroced, 0);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755));
	if (!geteuid())
		dev.as = STRANGER;
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		printf("%s\n", ways[i].name);
		STEP(test_shown(&ways[i]));
	}
	STEP(test_unread());
	STEP(test_event_files());
	STEP(test_known());
	STEP(test_unknown());
	STEP(test_stop(argv[1]));
	dev.as = 0;
	STEP(test_server(argv[1]));
	daemon_stop(&dev);
	return cases_status();
}
