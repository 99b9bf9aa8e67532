// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENT_OWN_LINES
#include "tests/device/client.h"
#include "tests/own_net.h"
#include "util/os/proof.h"
#include "util/os/scm.h"

void client_private_net(void)
{
	if (!own_net())
		SKIP("no network namespace of our own is allowed");
}

static char *made[64];
static int n_made;
static pid_t maker;

/* At the end nothing is left but the lock file. */
static void remove_made(void)
{
	char path[80];

	for (int i = 0; i < n_made && getpid() == maker; i++) {
		snprintf(path, sizeof(path), "%s/lock", made[i]);
		unlink(path);
		rmdir(made[i]);
	}
}

static void make_dir(struct daemon_proc *d)
{
	const char *tmp = getenv("TMPDIR");

	CHECK((size_t)snprintf(d->dir, sizeof(d->dir), "%s/uroce-test.XXXXXX",
			       tmp && *tmp ? tmp : "/tmp") < sizeof(d->dir));
	CHECK(mkdtemp(d->dir));
	if (!n_made) {
		maker = getpid();
		atexit(remove_made);
	}
	CHECK(n_made < 64);
	made[n_made++] = strdup(d->dir);
}

/* A program with TSan sleeps for a second before it ends, in case a thread still
 * has a race to show; here that would be taken for the time that a stop needs. */
static void end_at_once(void)
{
#ifdef __SANITIZE_THREAD__
	const char *given = getenv("TSAN_OPTIONS");
	char options[512];

	snprintf(options, sizeof(options), "%s:atexit_sleep_ms=0",
		 given ? given : "");
	CHECK(!setenv("TSAN_OPTIONS", options, 1));
#endif
}

/* False: it did not come to be ready. */
static bool start(struct daemon_proc *d, const char *uroced, int on_demand)
{
	const char *opt = getenv("UROCE_ENGINE_OPT");
	const char *argv[18] = {"uroced",    "--netdev", "lo",
				"--run-dir", d->dir,	 "--ready-fd"};
	int ready[2], n = 6;
	char fd[16], text[8];

	if (d->netdev)
		argv[2] = d->netdev;
	argv[n++] = fd;
	if (on_demand)
		argv[n++] = "--on-demand";
	if (opt) {
		argv[n++] = "--engine-opt";
		argv[n++] = opt;
	}
	if (d->raw_ethernet)
		argv[n++] = "--raw-ethernet";
	if (d->user_share) {
		argv[n++] = "--user-share";
		argv[n++] = d->user_share;
	}
	if (!d->dir[0])
		make_dir(d);
	CHECK(!pipe(ready));
	d->pid = fork();
	CHECK(d->pid >= 0);
	if (d->pid == 0) {
		if (d->before)
			d->before();
		/* A failed test must not leave it behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (d->max_files) {
			struct rlimit rl = {d->max_files, d->max_files};

			CHECK(!setrlimit(RLIMIT_NOFILE, &rl));
		}
		if (d->log)
			dup2(d->log, STDERR_FILENO);
		close(ready[0]);
		end_at_once();
		snprintf(fd, sizeof(fd), "%d", ready[1]);
		execv(uroced, (char **)argv);
		_exit(127);
	}
	close(ready[1]);
	n = (int)read(ready[0], text, sizeof(text));
	close(ready[0]);
	return n == 6;
}

void daemon_start(struct daemon_proc *d, const char *uroced, int on_demand)
{
	CHECK(start(d, uroced, on_demand));
}

void daemon_start_again(struct daemon_proc *d, const char *uroced)
{
	int status;

	while (!start(d, uroced, 0)) {
		status = daemon_wait(d);
		CHECK(WIFEXITED(status));
		CHECK_EQ(WEXITSTATUS(status), 3);
	}
}

int daemon_wait(struct daemon_proc *d)
{
	int status;

	CHECK_EQ(waitpid(d->pid, &status, 0), d->pid);
	return status;
}

void daemon_pause(const struct daemon_proc *d)
{
	int status;

	kill(d->pid, SIGSTOP);
	CHECK_EQ(waitpid(d->pid, &status, WUNTRACED), d->pid);
	CHECK(WIFSTOPPED(status));
}

void daemon_stop(struct daemon_proc *d)
{
	kill(d->pid, SIGTERM);
	CHECK_EQ(daemon_wait(d), 0);
}

int client_connect(const struct daemon_proc *d)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	CHECK(sock >= 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", d->dir,
		 UROCE_TUN_SOCKET);
	CHECK(!d->as || !seteuid(d->as));
	CHECK(!connect(sock, (struct sockaddr *)&addr, sizeof(addr)));
	CHECK(!d->as || !seteuid(0));
	if (d->admin && !d->as) {
		int fd = ur_proof_net_admin();

		CHECK(fd >= 0);
		CHECK_EQ(client_show(sock, fd), 0);
		close(fd);
	}
	return sock;
}

void client_send(int sock, const struct uroce_tun_msg *msg, const int *fds,
		 int nfds)
{
	union ur_scm scm;
	struct iovec iov = {(void *)(uintptr_t)msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	ur_scm_put(&mh, &scm, fds, (size_t)nfds);
	/* The device may have hung up: that shows at the next receive. */
	(void)!sendmsg(sock, &mh, MSG_NOSIGNAL);
}

int client_recv(int sock, struct uroce_tun_msg *msg, int *fd)
{
	union ur_scm scm;
	struct iovec iov = {msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	struct pollfd p = {.fd = sock, .events = POLLIN};

	*fd = -1;
	CHECK_EQ(poll(&p, 1, 30000), 1); /* the device does not answer */
	if (recvmsg(sock, &mh, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*msg))
		return -1;
	ur_scm_take(&mh, fd, 1, close);
	return 0;
}

int64_t client_show(int sock, int fd)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};

	client_send(sock, &msg, &fd, 1);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	return msg.ret;
}

void client_hand_over(const struct daemon_proc *d, int sock,
		      const struct uroce_tun_msg *msg, int fd)
{
	client_send(sock, msg, &fd, 1);
	close(fd);
	kill(d->pid, SIGCONT);
}

int client_mem(void)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

int client_open_with(const struct daemon_proc *d, const char *name,
		     uint64_t features, int *visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION,
				    .open.features = features};
	int fds[2] = {client_mem(),
		      open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	int sock = client_connect(d), fd;

	CHECK(fds[1] >= 0);
	snprintf(msg.name, sizeof(msg.name), "%s", name);
	client_send(sock, &msg, fds, 2);
	close(fds[0]);
	close(fds[1]);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	CHECK_EQ(msg.ret, 0);
	CHECK_EQ(msg.opened.features, features);
	CHECK(fd >= 0);
	if (visible)
		*visible = fd;
	else
		close(fd);
	return sock;
}

int client_open(const struct daemon_proc *d, const char *name, int *visible)
{
	return client_open_with(d, name, UROCE_TUN_F_PROVE, visible);
}

int client_join(const struct daemon_proc *d, int visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION,
				    .open.fd = (uint64_t)visible};
	int sock = client_connect(d), mem = client_mem();

	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK_EQ(client_hear(sock, &msg), 0);
	return sock;
}

uint64_t client_installed;
uint32_t client_right;
int (*client_proof)(void) = ur_proof_net_raw;

/* Takes fd over. */
static void answer(int sock, int fd)
{
	struct uroce_tun_msg reply = {.op = UROCE_TUN_FD,
				      .ret = fd < 0 ? fd : 0};

	client_send(sock, &reply, &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

unsigned int client_asked;

/* Any address is believed here. */
static void client_memory(int sock, const struct uroce_tun_msg *msg)
{
	struct uroce_tun_msg reply = {.op = UROCE_TUN_MEMORY};
	struct iovec iov[] = {
		{&reply, sizeof(reply)},
		{(void *)(uintptr_t)msg->memory.addr, msg->memory.len}};

	client_asked++;
	CHECK(msg->memory.len && msg->memory.len <= UROCE_TUN_WINDOW);
	if (msg->op == UROCE_TUN_GET_MEMORY) {
		CHECK_EQ(writev(sock, iov, 2),
			 (ssize_t)(sizeof(reply) + msg->memory.len));
		return;
	}
	CHECK_EQ(recv(sock, iov[1].iov_base, iov[1].iov_len, MSG_TRUNC),
		 (ssize_t)msg->memory.len);
	client_send(sock, &reply, NULL, 0);
}

int64_t client_hear(int sock, struct uroce_tun_msg *msg)
{
	struct uroce_tun_msg reply;
	int fd;

	for (;;) {
		if (client_recv(sock, msg, &fd))
			return INT64_MIN;
		if (msg->op == UROCE_TUN_DONE) {
			if (fd >= 0)
				close(fd);
			return msg->ret;
		}
		memset(&reply, 0, sizeof(reply));
		if (msg->op == UROCE_TUN_GET_MEMORY ||
		    msg->op == UROCE_TUN_PUT_MEMORY) {
			client_memory(sock, msg);
			continue;
		}
		reply.op = UROCE_TUN_FD;
		if (msg->op == UROCE_TUN_INSTALL) {
			CHECK(fd >= 0);
			reply.ret = fd;
			client_installed = msg->install.cookie;
			client_send(sock, &reply, NULL, 0);
			continue;
		}
		if (msg->op == UROCE_TUN_PROVE) {
			client_right = msg->kind;
			answer(sock, client_proof());
			continue;
		}
		CHECK_EQ(msg->op, UROCE_TUN_FGET);
		fd = dup((int)msg->ret);
		answer(sock, fd < 0 ? -EBADF : fd);
	}
}

static int64_t converse(int sock, struct uroce_tun_msg *msg)
{
	client_send(sock, msg, NULL, 0);
	return client_hear(sock, msg);
}

int64_t client_ioctl(int sock, const void *hdr)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_IOCTL,
				    .call.request = RDMA_VERBS_IOCTL,
				    .call.arg = (uintptr_t)hdr};

	return converse(sock, &msg);
}

int64_t client_write(int sock, const void *buf, size_t len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)buf,
				    .call.len = len};

	return converse(sock, &msg);
}

void client_dmabuf_init(struct client_dmabuf *c, uint32_t pd, int fd,
			uint64_t off, uint64_t length)
{
	static const uint16_t lens[] = {0, 0, 8, 8, 8, 4, 4, 4, 4};
	const uint64_t values[] = {0,
				   pd,
				   off,
				   length,
				   off,
				   (uint32_t)fd,
				   IB_UVERBS_ACCESS_LOCAL_WRITE,
				   (uintptr_t)&c->keys[0],
				   (uintptr_t)&c->keys[1]};

	*c = (struct client_dmabuf){
		.hdr = {.length = offsetof(struct client_dmabuf, keys),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_REG_DMABUF_MR,
			.num_attrs = 9}};
	for (uint16_t i = 0; i < 9; i++)
		c->attr[i] = (struct ib_uverbs_attr){
			.attr_id = i,
			.len = lens[i],
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = values[i]};
}

int64_t client_reg_dmabuf(int sock, uint32_t pd, int fd, uint64_t off,
			  uint64_t length, uint32_t *mr)
{
	struct client_dmabuf c;
	int64_t ret;

	client_dmabuf_init(&c, pd, fd, off, length);
	ret = client_ioctl(sock, &c);
	if (mr)
		*mr = (uint32_t)c.attr[0].data;
	return ret;
}

int64_t client_legacy(int sock, uint32_t command, const void *core,
		      uint32_t len, void *resp, uint32_t out)
{
	uint64_t buf[160];
	struct ib_uverbs_cmd_hdr *hdr = (void *)buf;
	uint64_t response = (uintptr_t)resp;
	int64_t ret;

	CHECK(len + sizeof(*hdr) <= sizeof(buf) && len % 4 == 0);
	hdr->command = command;
	hdr->in_words = (uint16_t)((sizeof(*hdr) + len) / 4);
	hdr->out_words = (uint16_t)(out / 4);
	memcpy(hdr + 1, core, len);
	if (resp)
		memcpy(hdr + 1, &response, sizeof(response));
	ret = client_write(sock, buf, sizeof(*hdr) + len);
	return ret > 0 ? 0 : ret;
}

int client_get_context(int sock, struct uroce_alloc_ucontext_resp *resp)
{
	struct uroce_alloc_ucontext_req req = {0};

	return client_get_context_with(sock, &req, resp);
}

int client_get_context_with(int sock, struct uroce_alloc_ucontext_req *req,
			    struct uroce_alloc_ucontext_resp *resp)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[4];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = UVERBS_METHOD_GET_CONTEXT,
			 .num_attrs = 4}};
	uint32_t vectors = 0;
	uint64_t support = 0;

	cmd.attr[0] = (struct ib_uverbs_attr){.attr_id = 0,
					      .len = 4,
					      .flags = 1,
					      .data = (uintptr_t)&vectors};
	cmd.attr[1] = (struct ib_uverbs_attr){.attr_id = 1,
					      .len = 8,
					      .flags = 1,
					      .data = (uintptr_t)&support};
	cmd.attr[2] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_IN,
					      .len = sizeof(*req),
					      .flags = 1,
					      .data = (uintptr_t)req};
	cmd.attr[3] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_OUT,
					      .len = sizeof(*resp),
					      .flags = 1,
					      .data = (uintptr_t)resp};
	return (int)client_ioctl(sock, &cmd);
}

void client_settle(const struct daemon_proc *d)
{
	client_settle_to(d, 0);
}

int client_session(const struct daemon_proc *d)
{
	struct uroce_alloc_ucontext_resp ctx;
	int sock = client_open(d, "uverbs0", NULL);

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	return sock;
}

int64_t client_call_device(int sock, uint16_t method, uint16_t attr, void *resp,
			   uint16_t len)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = method,
			 .num_attrs = 1},
		 .attr = {.attr_id = attr,
			  .len = len,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)resp}};

	return client_ioctl(sock, &cmd);
}

int64_t client_open_engine(int sock)
{
	struct uroce_engine_open open;

	return client_call_device(sock, UROCE_METHOD_ENGINE_OPEN,
				  UROCE_ATTR_ENGINE_OPEN_RESP, &open,
				  sizeof(open));
}

int client_session_with_engine(const struct daemon_proc *d)
{
	int sock = client_session(d);

	CHECK_EQ(client_open_engine(sock), 0);
	return sock;
}

int64_t client_share(int sock, uint32_t slot, uint32_t *has)
{
	struct uroce_engine_apart resp = {.fd = -1};
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = UROCE_METHOD_ENGINE_SHARE,
			 .num_attrs = 2},
		 .attr = {{.attr_id = UROCE_ATTR_ENGINE_SHARE_SLOT,
			   .len = 4,
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = slot},
			  {.attr_id = UROCE_ATTR_ENGINE_SHARE_RESP,
			   .len = sizeof(resp),
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)&resp}}};
	int64_t ret = client_ioctl(sock, &cmd);

	CHECK(ret || (resp.slot && (slot || resp.fd >= 0)));
	if (has)
		*has = resp.slot;
	return ret;
}

int client_session_with_shared(const struct daemon_proc *d)
{
	int sock = client_session_with_engine(d);

	client_alloc_async(sock);
	CHECK_EQ(client_share(sock, 0, NULL), 0);
	return sock;
}

int client_alloc_async(int sock)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_ASYNC_EVENT,
			 .method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			 .num_attrs = 1},
		 .attr = {.flags = UVERBS_ATTR_F_MANDATORY}};

	CHECK_EQ(client_ioctl(sock, &cmd), 0);
	return (int)cmd.attr.data_s64;
}

uint32_t client_alloc_pd(int sock)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ALLOC_PD, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.pd_handle;
}

int64_t client_destroy_cq(int sock, uint32_t cq)
{
	struct ib_uverbs_destroy_cq req = {.cq_handle = cq};
	struct ib_uverbs_destroy_cq_resp resp;

	return client_legacy(sock, IB_USER_VERBS_CMD_DESTROY_CQ, &req,
			     sizeof(req), &resp, sizeof(resp));
}

void client_settle_to(const struct daemon_proc *d, int left)
{
	struct uroce_tun_msg msg;
	const char *p;
	char *text;
	int fd, n;

	do {
		int sock = client_connect(d);

		memset(&msg, 0, sizeof(msg));
		msg.op = UROCE_TUN_STATUS;
		strcpy(msg.name, "sessions");
		client_send(sock, &msg, NULL, 0);
		n = left + 2; /* turned away: not settled */
		if (!client_recv(sock, &msg, &fd) && fd >= 0) {
			text = calloc(1, msg.text.len + 1);
			CHECK_EQ(pread(fd, text, msg.text.len, 0),
				 msg.text.len);
			for (n = 0, p = text; (p = strstr(p, "\"id\"")); p++)
				n++;
			free(text);
			close(fd);
		}
		close(sock);
	} while (n > left + 1);
}

void client_check(const struct daemon_proc *d)
{
	struct ib_uverbs_query_device_resp resp = {0};
	uint64_t req = 0;
	int sock = client_session(d);

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_QUERY_DEVICE, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	CHECK_EQ(resp.vendor_id, UROCE_VENDOR_ID);
	close(sock);
}

int client_status_has(const struct daemon_proc *d, const char *subject,
		      const char *what)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	int sock = client_connect(d), fd, found;
	char *text;

	strcpy(msg.name, subject);
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK(fd >= 0 && msg.text.len > 0);
	text = calloc(1, msg.text.len + 1);
	CHECK_EQ(pread(fd, text, msg.text.len, 0), msg.text.len);
	found = strstr(text, what) != NULL;
	free(text);
	close(fd);
	close(sock);
	return found;
}
