// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Event files that a client shares with a process that begins to read and never
 * ends. Whoever takes events back waits for it, and nobody else does.
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

/* enum ibv_qp_attr_mask, enum ibv_qp_state */
#define QP_STATE      (1u << 0)
#define QP_ACCESS     (1u << 3)
#define QP_PKEY_INDEX (1u << 4)
#define QP_PORT	      (1u << 5)
#define QPS_INIT      1
#define QPS_ERR	      6

static struct daemon_proc dev;

static void send_write(int sock, const void *buf, size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)buf,
				    .call.len = len};

	client_send(sock, &msg, NULL, 0);
}

static uint32_t make_cq(int sock)
{
	struct ib_uverbs_create_cq req = {.cqe = 8, .comp_channel = -1};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct uroce_create_cq_resp udata;
	} resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.core.cq_handle;
}

/* A queue pair in ERR: it has an event, of the last receive of its SRQ. */
static uint32_t make_failed(int sock)
{
	uint32_t pd = client_alloc_pd(sock), cq = make_cq(sock);
	struct ib_uverbs_create_srq srq_req = {
		.pd_handle = pd, .max_wr = 16, .max_sge = 1};
	struct ib_uverbs_create_srq_resp srq = {0};
	struct ib_uverbs_create_qp req = {
		.pd_handle = pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = 16,
		.max_send_sge = 1,
		.is_srq = 1,
		.qp_type = IB_UVERBS_QPT_RC,
	};
	struct ib_uverbs_create_qp_resp qp = {0};
	struct ib_uverbs_modify_qp to = {.attr_mask = QP_STATE | QP_PKEY_INDEX |
						      QP_PORT | QP_ACCESS,
					 .qp_state = QPS_INIT,
					 .port_num = 1};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_SRQ, &srq_req,
			       sizeof(srq_req), &srq, sizeof(srq)),
		 0);
	req.srq_handle = srq.srq_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			       sizeof(req), &qp, sizeof(qp)),
		 0);
	to.qp_handle = qp.qp_handle;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_MODIFY_QP, &to,
			       sizeof(to), NULL, 0),
		 0);
	to.attr_mask = QP_STATE;
	to.qp_state = QPS_ERR;
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_MODIFY_QP, &to,
			       sizeof(to), NULL, 0),
		 0);
	return qp.qp_handle;
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

/* A client that destroys a queue pair whose event is being read without end. */
struct held_destroy {
	int sock, async;
	pid_t reader;
	struct ib_uverbs_destroy_qp_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp core;
	} cmd;
};

static void hold_destroy(struct held_destroy *h)
{
	h->sock = client_session(&dev);
	h->async = client_alloc_async(h->sock);
	h->resp.events_reported = 77;
	h->cmd.hdr = (struct ib_uverbs_cmd_hdr){
		.command = IB_USER_VERBS_CMD_DESTROY_QP,
		.in_words = sizeof(h->cmd) / 4,
		.out_words = 1};
	h->cmd.core.qp_handle = make_failed(h->sock);
	h->cmd.core.response = (uintptr_t)&h->resp;
	h->reader = stuck_reader(h->async);
	send_write(h->sock, &h->cmd, sizeof(h->cmd));
	/* It has begun when there is no queue pair left. */
	while (client_status_has(&dev, "qps", "\"qpn\""))
		usleep(1000);
	CHECK_EQ(h->resp.events_reported, 77);
}

static void close_held(const struct held_destroy *h)
{
	close(h->async);
	close(h->sock);
}

/* Events are taken back from who waits for himself, and nobody else waits: the
 * destroy of a queue pair receives from the same socket. */
static void test_event_reader(void)
{
	static struct held_destroy h;
	struct uroce_tun_msg answer;
	int other;

	hold_destroy(&h);
	client_check(&dev);
	other = client_session(&dev);
	make_failed(other); /* by the engine */
	close(other);
	CHECK_EQ(h.resp.events_reported, 77);
	end_reader(h.reader);
	CHECK_EQ(client_hear(h.sock, &answer), sizeof(h.cmd));
	CHECK_EQ(h.resp.events_reported, 1);
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

/* The same with the connection manager's: the destroy of an id takes back the
 * notice of its event. */
static void test_cm_reader(void)
{
	static struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_destroy_id core;
	} destroy = {{RDMA_USER_CM_CMD_DESTROY_ID, sizeof(destroy.core), 4},
		     {0}};
	struct rdma_ucm_destroy_id_resp resp = {77};
	struct uroce_tun_msg answer;
	int visible, sock = open_with_event(&visible, &destroy.core.id);
	pid_t reader = stuck_reader(visible);

	destroy.core.response = (uintptr_t)&resp;
	send_write(sock, &destroy, sizeof(destroy));
	while (client_status_has(&dev, "cm_ids", "\"state\""))
		usleep(1000);
	client_check(&dev);
	CHECK_EQ(resp.events_reported, 77);
	end_reader(reader);
	CHECK_EQ(client_hear(sock, &answer), sizeof(destroy));
	CHECK_EQ(resp.events_reported, 0);
	close(visible);
	close(sock);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_event_reader());
	STEP(test_cm_reader());
	STEP(test_stop_beside_reader(argv[1]));
	client_settle(&dev);
	daemon_stop(&dev);
	return cases_status();
}
