// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Event files that a client shares with a process that begins to read and never
 * ends. Whoever takes events back waits for it, and nobody else does. And those into which a client puts
 * descriptors whose end takes long.
 *
 * usage: test_events UROCED
 */
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/stuck.h"

static struct daemon_proc dev;

static void send_write(int sock, const void *buf, size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)buf,
				    .call.len = len};

	client_send(sock, &msg, NULL, 0);
}

static uint32_t make_cq_at(int sock, int channel)
{
	struct ib_uverbs_create_cq req = {.cqe = 8, .comp_channel = channel};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct uroce_create_cq_resp udata;
	} resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.core.cq_handle;
}

/* A process that receives from the socket to memory that does not come, and has
 * begun to. Where that is not allowed, the test is skipped. */
static pid_t stuck_reader(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int ready[2];
	char c = 0;
	pid_t pid;

	CHECK(!pipe(ready));
	CHECK_EQ(poll(&p, 1, 30000), 1);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		void *page;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		page = stuck_fault();
		c = page != NULL;
		CHECK_EQ(write(ready[1], &c, 1), 1);
		if (page)
			recv(fd, page, 64, 0);
		_exit(0);
	}
	CHECK_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (!c) {
		CHECK_EQ(waitpid(pid, NULL, 0), pid);
		SKIP("no userfaultfd is allowed");
	}
	/* It has taken the event when there is none any more. */
	while (poll(&p, 1, 0))
		usleep(1000);
	return pid;
}

static void end_reader(pid_t reader)
{
	kill(reader, SIGKILL);
	CHECK_EQ(waitpid(reader, NULL, 0), reader);
}

/* An id of the connection manager with an event that nobody has read. */
static int open_with_event(int *visible, uint32_t *id)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id core;
	} create = {{RDMA_USER_CM_CMD_CREATE_ID, sizeof(create.core), 4},
		    {.uid = 1, .ps = RDMA_PS_TCP}};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_resolve_ip core;
	} resolve = {{RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(resolve.core), 0},
		     {.timeout_ms = 20000}};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	struct sockaddr_in *dst = (void *)&resolve.core.dst_addr;
	int sock = client_connect(&dev), mem = client_mem();

	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, visible));
	CHECK_EQ(msg.ret, 0);
	create.core.response = (uintptr_t)id;
	CHECK_EQ(client_write(sock, &create, sizeof(create)), sizeof(create));
	dst->sin_family = AF_INET;
	dst->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	resolve.core.id = *id;
	CHECK_EQ(client_write(sock, &resolve, sizeof(resolve)),
		 sizeof(resolve));
	return sock;
}

/* A client that destroys an id whose event is being read without end. */
struct held_destroy {
	int sock, visible;
	pid_t reader;
	struct rdma_ucm_destroy_id_resp resp;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_destroy_id core;
	} cmd;
};

static void hold_destroy(struct held_destroy *h)
{
	h->cmd.hdr = (struct rdma_ucm_cmd_hdr){RDMA_USER_CM_CMD_DESTROY_ID,
					       sizeof(h->cmd.core), 4};
	h->sock = open_with_event(&h->visible, &h->cmd.core.id);
	h->resp.events_reported = 77;
	h->cmd.core.response = (uintptr_t)&h->resp;
	h->reader = stuck_reader(h->visible);
	send_write(h->sock, &h->cmd, sizeof(h->cmd));
	/* It has begun when there is no id left. */
	while (client_status_has(&dev, "cm_ids", "\"state\""))
		usleep(1000);
	CHECK_EQ(h->resp.events_reported, 77);
}

static void close_held(const struct held_destroy *h)
{
	close(h->visible);
	close(h->sock);
}

/* The notice of the event is taken back from who waits for himself, and nobody else waits: the
 * destroy receives from the same socket. */
static void test_cm_reader(void)
{
	static struct held_destroy h;
	struct uroce_tun_msg answer;

	hold_destroy(&h);
	client_check(&dev);
	close(client_session(&dev));
	CHECK_EQ(h.resp.events_reported, 77);
	end_reader(h.reader);
	CHECK_EQ(client_hear(h.sock, &answer), sizeof(h.cmd));
	CHECK_EQ(h.resp.events_reported, 0);
	close_held(&h);
}

/* The thread of such a client cannot be broken off. A device that is stopped
 * gives up everything all the same, and a new one takes its place. */
static void test_stop_beside_reader(const char *uroced)
{
	static struct held_destroy h;
	struct daemon_proc old;
	int status;

	hold_destroy(&h);
	old = dev;
	kill(old.pid, SIGTERM);
	daemon_start_again(&dev, uroced);
	client_check(&dev);
	close(client_session(&dev));
	CHECK_EQ(waitpid(old.pid, &status, WNOHANG), 0);
	end_reader(h.reader);
	CHECK_EQ(daemon_wait(&old), 0);
	close_held(&h);
}

static int64_t ask_engine(int sock, uint16_t object, uint16_t method,
			  const uint32_t *handle, void *resp, uint16_t len)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.object_id = object, .method_id = method}};
	struct ib_uverbs_attr *a = cmd.attr;

	if (handle)
		*a++ = (struct ib_uverbs_attr){
			.attr_id = UROCE_ATTR_ENGINE_CQ_HANDLE,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = *handle};
	*a++ = (struct ib_uverbs_attr){
		.attr_id = handle ? UROCE_ATTR_ENGINE_CQ_RESP
				  : UROCE_ATTR_ENGINE_OPEN_RESP,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = len,
		.data = (uintptr_t)resp};
	cmd.hdr.num_attrs = (uint16_t)(a - cmd.attr);
	cmd.hdr.length =
		(uint16_t)(sizeof(cmd.hdr) + cmd.hdr.num_attrs * sizeof(*a));
	return client_ioctl(sock, &cmd);
}

/* An event file of each kind whose sending end the client has, for an engine in its program. */
struct lent_file {
	int sock, rx, tx;
};

static struct lent_file lend_async(void)
{
	struct uroce_engine_async async = {.tx = -1};
	struct lent_file f = {.sock = client_session(&dev)};
	static struct uroce_engine_open open;

	CHECK_EQ(ask_engine(f.sock, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_OPEN, NULL, &open,
			    sizeof(open)),
		 0);
	f.rx = client_alloc_async(f.sock);
	CHECK_EQ(ask_engine(f.sock, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_ASYNC, NULL, &async,
			    sizeof(async)),
		 0);
	f.tx = async.tx;
	return f;
}

static struct lent_file lend_channel(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp made;
	struct lent_file f = lend_async();
	uint32_t cq;

	close(f.rx);
	close(f.tx);
	CHECK_EQ(client_legacy(f.sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &made, sizeof(made)),
		 0);
	f.rx = (int)made.fd;
	cq = make_cq_at(f.sock, f.rx);
	CHECK_EQ(ask_engine(f.sock, UVERBS_OBJECT_CQ, UROCE_METHOD_ENGINE_CQ,
			    &cq, &f.tx, sizeof(f.tx)),
		 0);
	return f;
}

static void send_descriptor(int to, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(fd))];
		struct cmsghdr hdr;
	} control = {0};
	char bytes[16] = {0};
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control)};

	control.hdr = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fd)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.hdr), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(to, &mh, MSG_NOSIGNAL), (ssize_t)sizeof(bytes));
}

/* The client ends, and the last descriptor of s is in such a file. */
static void leave_in(struct lent_file f, const struct stuck_socket *s)
{
	send_descriptor(f.tx, s->sock);
	close(s->sock);
	close(f.tx);
	close(f.rx);
	close(f.sock);
}

/* The device has the reading end too, and the last to close that closes what is in it: nobody waits for
 * that. */
static void test_lent(struct lent_file (*lend)(void))
{
	struct stuck_socket s = stuck_socket();

	leave_in(lend(), &s);
	client_settle(&dev);
	client_check(&dev);
	close(client_session(&dev));
	client_check(&dev);
	stuck_socket_end(&s);
}

/* The device ends all the same. */
static void test_stop_beside_lent(const char *uroced)
{
	struct stuck_socket s = stuck_socket();

	leave_in(lend_channel(), &s);
	daemon_stop(&dev);
	stuck_socket_end(&s);
	daemon_start(&dev, uroced, 0);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_cm_reader());
	STEP(test_stop_beside_reader(argv[1]));
	STEP(test_lent(lend_async));
	STEP(test_lent(lend_channel));
	STEP(test_stop_beside_lent(argv[1]));
	client_settle(&dev);
	daemon_stop(&dev);
	return cases_status();
}
