// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lives and deaths: of clients (everything they had is released), of the
 * device process (a new one starts clean), on demand; and the error numbers
 * that libibverbs goes by.
 *
 * usage: test_life UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static struct daemon_proc dev;
static const char *uroced;

static uint32_t alloc_pd(int sock)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct {
		struct ib_uverbs_alloc_pd_resp core;
		struct uroce_alloc_pd_resp udata;
	} resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ALLOC_PD, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	CHECK(resp.core.pd_handle);
	CHECK(resp.udata.pdn);
	return resp.core.pd_handle;
}

static int64_t reg_mr(int sock, uint32_t pd, void *addr, uint64_t len,
		      uint32_t access)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = (uintptr_t)addr,
			  .length = len,
			  .hca_va = (uintptr_t)addr,
			  .pd_handle = pd,
			  .access_flags = access}};
	struct ib_uverbs_reg_mr_resp resp = {0};

	return client_legacy(sock, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req),
			     &resp, sizeof(resp));
}

static int64_t dealloc_pd(int sock, uint32_t pd)
{
	struct ib_uverbs_dealloc_pd req = {.pd_handle = pd};

	return client_legacy(sock, IB_USER_VERBS_CMD_DEALLOC_PD, &req,
			     sizeof(req), NULL, 0);
}

/* A hostile card is had only by a context that knows of it, and as asked. */
static void test_adverse(void)
{
	static const struct {
		struct uroce_alloc_ucontext_req req;
		int ret;
		uint32_t has;
	} rows[] = {
		{{0, UROCE_ADVERSE_ALL, 7}, 0, 0}, /* of an older provider */
		{{UROCE_CTX_F_ADVERSE, 0, 7}, 0, 0},
		{{UROCE_CTX_F_ADVERSE, UROCE_ADVERSE_ALL, 7},
		 0,
		 UROCE_ADVERSE_ALL},
		{{UROCE_CTX_F_ADVERSE, UROCE_ADVERSE_ALL + 1, 7}, -EINVAL, 0},
		{{UROCE_CTX_F_ADVERSE, UINT32_MAX, 7}, -EINVAL, 0},
		{{UINT64_MAX, UROCE_ADVERSE_RNR, UINT32_MAX},
		 0,
		 UROCE_ADVERSE_RNR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uroce_alloc_ucontext_req req = rows[i].req;
		struct uroce_alloc_ucontext_resp resp = {.wake_fd = -1};
		int sock = client_open(&dev, "uverbs0", NULL);

		CHECK_EQ(client_get_context_with(sock, &req, &resp),
			 rows[i].ret);
		if (!rows[i].ret) {
			CHECK_EQ(resp.features,
				 UROCE_CTX_F_ADVERSE | UROCE_CTX_F_LATE);
			CHECK_EQ(resp.adverse, rows[i].has);
			CHECK_EQ(resp.adverse_seed,
				 rows[i].has ? req.adverse_seed : 0);
		} else {
			/* Nothing of it stays: the file can have another. */
			CHECK_EQ(client_get_context(sock, &resp), 0);
			CHECK_EQ(resp.adverse, 0);
		}
		close(sock);
		client_settle(&dev);
	}
}

static void test_errors(void)
{
	static char buf[8192] __attribute__((aligned(4096)));
	struct uroce_alloc_ucontext_resp ctx;
	int visible, sock = client_open(&dev, "uverbs0", &visible);
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd.hdr)}};
	uint64_t dead[64] = {0};
	uint32_t pd;

	/* Before the context there is nothing. */
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_ALLOC_PD, dead, 8, dead,
			       8),
		 (int64_t)-EINVAL);
	/* The library's probe. */
	cmd.hdr.length = 40;
	cmd.hdr.num_attrs = 1;
	cmd.attr[0] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_WRITE_CMD,
					      .len = 8,
					      .flags = 1,
					      .data = 1};
	CHECK_EQ(client_ioctl(sock, &cmd), (int64_t)-ENOSPC);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	CHECK_EQ(ctx.sq_bb, 64);
	CHECK_EQ(client_get_context(sock, &ctx), (uint64_t)-EINVAL);
	/* The doorbell page maps natively and nothing can shrink it away. */
	CHECK(mmap(NULL, ctx.db_map_len, PROT_READ | PROT_WRITE, MAP_SHARED,
		   visible, (off_t)ctx.db_map_off) != MAP_FAILED);
	CHECK(ftruncate(visible, 0) < 0 && errno == EPERM);
	/* Unknown method, unknown attribute, wrong driver. */
	cmd.hdr.method_id = 100;
	CHECK_EQ(client_ioctl(sock, &cmd), (int64_t)-EPROTONOSUPPORT);
	cmd.hdr.method_id = UVERBS_METHOD_QUERY_CONTEXT;
	cmd.attr[0].attr_id = 77;
	CHECK_EQ(client_ioctl(sock, &cmd), (int64_t)-EPROTONOSUPPORT);
	cmd.attr[0].flags = 0;
	CHECK_EQ(client_ioctl(sock, &cmd), 0);
	cmd.hdr.driver_id = 14;
	CHECK_EQ(client_ioctl(sock, &cmd), (int64_t)-EINVAL);
	cmd.hdr.driver_id = 0;
	/* An unknown handle, by ioctl and by write. */
	cmd.hdr.object_id = UVERBS_OBJECT_PD;
	cmd.hdr.method_id = UVERBS_METHOD_PD_DESTROY;
	cmd.attr[0] = (struct ib_uverbs_attr){.flags = 1, .data = 99};
	CHECK_EQ(client_ioctl(sock, &cmd), (int64_t)-ENOENT);
	CHECK_EQ(dealloc_pd(sock, 99), (int64_t)-EINVAL);
	CHECK_EQ(client_legacy(sock, 60, dead, 8, dead, 8),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(client_legacy(sock, 1u << 8, dead, 8, dead, 8),
		 (int64_t)-EINVAL);
	/* Memory: present, absent, beyond the end of the world; rights. */
	pd = alloc_pd(sock);
	CHECK_EQ(reg_mr(sock, pd, (void *)4096, 4096, 1), (int64_t)-EFAULT);
	CHECK_EQ(reg_mr(sock, pd, (void *)-4096, 8192, 1), (int64_t)-EINVAL);
	CHECK_EQ(reg_mr(sock, pd, buf, 8192, 2), (int64_t)-EINVAL);
	CHECK_EQ(reg_mr(sock, pd, buf, 8192, 1u << 12), (int64_t)-EINVAL);
	CHECK_EQ(reg_mr(sock, pd, buf, 8192, 7), 0);
	CHECK_EQ(dealloc_pd(sock, pd), (int64_t)-EBUSY);
	close(sock);
	close(visible);
}

/* Joins the file whose visible descriptor is given. */
static int64_t join(int sock, uint32_t kind, int visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION,
				    .open.fd = (uint64_t)visible};
	int mem = client_mem();
	int64_t ret;

	client_send(sock, &msg, &mem, 1);
	close(mem);
	ret = client_hear(sock, &msg);
	return ret ? ret : (int64_t)msg.opened.cookie;
}

/* A descriptor that went to another process opens the same file there. */
static void test_join(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp chan;
	struct uroce_tun_msg msg = {.op = UROCE_TUN_CLOSE_FD};
	struct uroce_alloc_ucontext_resp ctx;
	int visible, first = client_open(&dev, "uverbs0", &visible), sock;
	int other = memfd_create("uverbs", MFD_CLOEXEC);
	struct pollfd event = {0};
	uint32_t pd;

	CHECK_EQ(client_get_context(first, &ctx), 0);
	pd = alloc_pd(first);
	sock = client_connect(&dev);
	CHECK_EQ(join(sock, UROCE_TUN_UVERBS, other), (int64_t)-ENOENT);
	CHECK_EQ(join(sock, UROCE_TUN_UVERBS, -1), (int64_t)-EBADF);
	CHECK_EQ(join(sock, UROCE_TUN_UVERBS, 9999), (int64_t)-EBADF);
	CHECK_EQ(join(sock, UROCE_TUN_RDMA_CM, visible), (int64_t)-ENOENT);
	CHECK_EQ(join(sock, 77, visible), (int64_t)-ENOENT);
	CHECK(join(sock, UROCE_TUN_UVERBS, visible) != 0);
	CHECK_EQ(join(sock, UROCE_TUN_UVERBS, visible), (int64_t)-EBUSY);
	/* Its event file is closed when it says so: the other end hangs up. */
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &chan, sizeof(chan)),
		 0);
	event.fd = (int)chan.fd;
	CHECK_EQ(poll(&event, 1, 0), 0);
	msg.closed.cookie = client_installed;
	client_send(sock, &msg, NULL, 0);
	CHECK_EQ(dealloc_pd(sock, 99), (int64_t)-EINVAL);
	CHECK_EQ(poll(&event, 1, 0), 1);
	CHECK(event.revents & POLLHUP);
	close(event.fd);
	/* The opener goes, the file stays. */
	close(first);
	client_settle_to(&dev, 1);
	CHECK_EQ(dealloc_pd(sock, pd), 0);
	close(sock);
	client_settle(&dev);
	sock = client_connect(&dev);
	CHECK_EQ(join(sock, UROCE_TUN_UVERBS, visible), (int64_t)-ENOENT);
	close(sock);
	close(visible);
	close(other);
}

/* A client that dies leaves nothing behind. */
static void test_client_death(void)
{
	static char buf[4096];
	int ready[2], status;
	char c;
	pid_t pid;

	CHECK(!pipe(ready));
	pid = fork();
	if (pid == 0) {
		struct uroce_alloc_ucontext_resp ctx;
		int sock = client_open(&dev, "uverbs0", NULL);

		CHECK_EQ(client_get_context(sock, &ctx), 0);
		CHECK_EQ(reg_mr(sock, alloc_pd(sock), buf, sizeof(buf), 1), 0);
		CHECK_EQ(write(ready[1], "x", 1), 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(ready[0], &c, 1), 1);
	CHECK(client_status_has(&dev, "mrs", "\"length\":4096"));
	CHECK(client_status_has(&dev, "sessions", "\"file\":\"uverbs\""));
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	/* The end of the connection is what the device waits for too. */
	while (client_status_has(&dev, "sessions", "\"file\":\"uverbs\""))
		usleep(1000);
	CHECK(!client_status_has(&dev, "mrs", "\"length\":4096"));
	close(ready[0]);
	close(ready[1]);
}

/* A second process on the same directory says so and leaves it alone. */
static void test_second(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(uroced, "uroced", "--netdev", "lo", "--run-dir", dev.dir,
		      NULL);
		_exit(127);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 3);
	client_check(&dev);
}

static int exists(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dev.dir, name);
	return access(path, F_OK) == 0;
}

static void test_device_death(void)
{
	struct uroce_tun_msg msg;
	char path[160];
	int sock = client_open(&dev, "uverbs0", NULL), fd;

	kill(dev.pid, SIGKILL);
	daemon_wait(&dev);
	/* The client sees it at once. */
	CHECK(client_recv(sock, &msg, &fd));
	close(sock);
	/* Files that the dead one left, and more. */
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/stale", dev.dir);
	CHECK(!mkdir(path, 0755));
	CHECK(exists(UROCE_TUN_SOCKET));
	daemon_start(&dev, uroced, 0);
	CHECK(!exists("sys/class/infiniband/stale"));
	client_check(&dev);
	daemon_stop(&dev);
	CHECK(!exists("sys"));
	CHECK(!exists("dev"));
	CHECK(!exists(UROCE_TUN_SOCKET));
}

static void test_on_demand(void)
{
	int a, b;

	daemon_start(&dev, uroced, 1);
	a = client_open(&dev, "uverbs0", NULL);
	b = client_open(&dev, "uverbs0", NULL);
	close(a);
	client_check(&dev);
	close(b);
	CHECK_EQ(daemon_wait(&dev), 0);
	CHECK(!exists("sys"));
}

static int64_t ask(int sock, uint32_t op)
{
	struct uroce_tun_msg msg = {.op = op};

	client_send(sock, &msg, NULL, 0);
	return client_hear(sock, &msg);
}

/* A process that holds the device counts as a client until it ends. */
static void test_held(void)
{
	int go[2], status;
	char said;
	pid_t pid;

	daemon_start(&dev, uroced, 1);
	CHECK(!pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		int sock = client_connect(&dev);

		close(go[1]);
		CHECK_EQ(ask(sock, UROCE_TUN_HOLD), 0);
		close(sock);
		_exit((int)read(go[0], &said, 1));
	}
	close(go[0]);
	/* Longer than without clients. */
	for (int i = 0; i < 35; i++) {
		poll(NULL, 0, 100);
		CHECK_EQ(waitpid(dev.pid, &status, WNOHANG), 0);
	}
	close(go[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(daemon_wait(&dev), 0);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	uroced = argv[1];
	client_private_net();
	daemon_start(&dev, uroced, 0);
	STEP(test_errors());
	STEP(test_adverse());
	STEP(test_join());
	STEP(test_client_death());
	STEP(test_second());
	STEP(test_device_death());
	STEP(test_on_demand());
	STEP(test_held());
	return cases_status();
}
