// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rights are shown on the connection, by descriptors. The entry in /proc of the
 * process that connected, and its uid where the daemon has more than a uid, do
 * not count: in this test it always is root of its user namespace, with all
 * capabilities.
 *
 * usage: test_rights UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/device/client.h"
#include "util/os/proof.h"

static bool one_user; /* there is no other in our user namespace */
static struct daemon_proc dev = {.netdev = "veth0",
				 .raw_ethernet = UROCE_WITH_RAW_PACKET};

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Whoever runs this. */
static void become_root(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[32];

	if (!uid)
		return;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP("no user namespace of our own is allowed");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_file("/proc/self/gid_map", map);
	one_user = true;
}

/* ---- descriptors ---- */

/* Returns the result of fn in a network namespace that is not the device's. */
static int elsewhere(int (*fn)(void))
{
	int fd, here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	CHECK(here >= 0);
	CHECK(!unshare(CLONE_NEWNET));
	fd = fn();
	CHECK(!setns(here, CLONE_NEWNET));
	close(here);
	CHECK(fd >= 0);
	return fd;
}

static int raw_elsewhere(void)
{
	return elsewhere(ur_proof_net_raw);
}

static int raw_ip_elsewhere(void)
{
	return elsewhere(ur_proof_net_raw_ip);
}

static int admin_elsewhere(void)
{
	return elsewhere(ur_proof_net_admin);
}

/* Sockets that anybody can make; the last one can be made by nobody who would
 * have to. */
static int raw_ip(void)
{
	return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
}

static int datagram(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static int no_socket(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int nothing(void)
{
	return -EPERM;
}

static int netlink(int protocol, uint32_t groups)
{
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	CHECK(fd >= 0);
	CHECK(!bind(fd, (void *)&nl, sizeof(nl)));
	return fd;
}

static int no_member(void)
{
	return netlink(NETLINK_USERSOCK, 0);
}

/* A group that everybody may join. */
static int member_of_route(void)
{
	return netlink(NETLINK_ROUTE, 1);
}

/* ---- CAP_NET_RAW ---- */

static int64_t make_raw_qp(int sock, uint32_t pd, uint32_t cq)
{
	struct ib_uverbs_create_qp req = {.pd_handle = pd,
					  .send_cq_handle = cq,
					  .recv_cq_handle = cq,
					  .max_send_wr = 1,
					  .max_recv_wr = 1,
					  .max_send_sge = 1,
					  .max_recv_sge = 1,
					  .qp_type = IB_UVERBS_QPT_RAW_PACKET};
	uint8_t resp[512];

	return client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			     sizeof(req), resp, sizeof(resp));
}

static int64_t raw_qp_of(int sock)
{
	struct ib_uverbs_create_cq req = {.cqe = 8, .comp_channel = -1};
	struct uroce_alloc_ucontext_resp ctx;
	uint32_t resp[128], pd;

	CHECK_EQ(client_get_context(sock, &ctx), 0);
	CHECK_EQ(client_open_engine(sock), 0);
	pd = client_alloc_pd(sock);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), resp, sizeof(resp)),
		 0);
	return make_raw_qp(sock, pd, resp[0]);
}

static int64_t raw_qp(int (*proof)(void), uint64_t features)
{
	int sock = client_open_with(&dev, "uverbs0", features, NULL);
	int64_t ret;

	client_proof = proof;
	ret = raw_qp_of(sock);
	client_proof = ur_proof_net_raw;
	close(sock);
	return ret;
}

static void test_raw(void)
{
	static int (*const bad[])(void) = {
		nothing,   no_socket,	  datagram,	    raw_ip,
		no_member, raw_elsewhere, raw_ip_elsewhere, ur_proof_net_admin};
	const uint64_t ip = UROCE_TUN_F_PROVE | UROCE_TUN_F_RAW_IP;

	CHECK_EQ(raw_qp(ur_proof_net_raw, UROCE_TUN_F_PROVE), 0);
	CHECK_EQ(client_right, UROCE_TUN_NET_RAW);
	CHECK_EQ(raw_qp(ur_proof_net_raw_ip, ip), 0);
	CHECK_EQ(client_right, UROCE_TUN_NET_RAW_IP);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(raw_qp(bad[i], ip), (int64_t)-EPERM);
	/* A front-end that does not know the question. */
	CHECK_EQ(raw_qp(nothing, 0), (int64_t)-EPERM);
	client_settle(&dev);
}

/* ---- CAP_NET_ADMIN ---- */

static int64_t ask(int sock, uint32_t op, uint64_t what)
{
	struct uroce_tun_msg msg = {.op = op, .link.what = what};
	int fd;

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.op, UROCE_TUN_DONE);
	return msg.ret;
}

/* An administrator gets the error for a command that is none, others the one
 * that they may not. */
static bool may_administer(int sock)
{
	int64_t link = ask(sock, UROCE_TUN_LINK, 99);
	int64_t fault = ask(sock, UROCE_TUN_FAULT, 99);

	CHECK(link == -EINVAL || link == -EPERM);
	CHECK_EQ(link, fault);
	return link == -EINVAL;
}

static int64_t open_bare(const char *name, uint32_t kind, int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	int mem = client_mem(), fd;

	snprintf(msg.name, sizeof(msg.name), "%s", name);
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	if (fd >= 0)
		close(fd);
	return msg.ret;
}

static void show(int (*fn)(void), int64_t expect)
{
	int sock = client_connect(&dev), fd = fn();

	CHECK(!may_administer(sock));
	CHECK_EQ(client_show(sock, fd), expect);
	close(fd);
	CHECK_EQ(may_administer(sock), !expect);
	CHECK_EQ(open_bare("umad0", UROCE_TUN_UMAD, sock),
		 !UROCE_WITH_UMAD ? (int64_t)-ENXIO
		 : expect	  ? (int64_t)-EACCES
				  : 0);
	close(sock);
}

static void test_admin(void)
{
	static int (*const bad[])(void) = {no_socket,	     datagram,
					   raw_ip,	     no_member,
					   ur_proof_net_raw, member_of_route};

	show(ur_proof_net_admin, 0);
	show(admin_elsewhere, -EXDEV);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		show(bad[i], -EPERM);
	client_settle(&dev);
}

/* Objects of its own uid everybody sees; those of another one administrators alone. */
static bool sees_others(bool proves)
{
	int found;

	dev.admin = proves;
	found = client_status_has(&dev, "pds", "\"pdn\"");
	dev.admin = 0;
	return found;
}

static void test_sees(void)
{
	int sock;

	if (one_user) {
		printf("sees: one user only\n");
		return;
	}
	dev.as = 65532;
	sock = client_session(&dev);
	dev.as = 0;
	client_alloc_pd(sock);
	CHECK(!sees_others(false));
	CHECK(sees_others(true));
	close(sock);
	client_settle(&dev);
}

/* ---- a daemon that has not the capability ---- */

static void drop_net_admin(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];

	CHECK(!syscall(SYS_capget, &head, caps));
	caps[0].effective &= ~(1u << CAP_NET_ADMIN);
	caps[0].permitted &= ~(1u << CAP_NET_ADMIN);
	caps[0].inheritable = caps[1].inheritable = 0;
	CHECK(!prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0));
	CHECK(!syscall(SYS_capset, &head, caps));
}

static int lock_of(const struct daemon_proc *d, int flags)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", d->dir);
	fd = open(path, flags | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void show_lock(const struct daemon_proc *d, int fd, int64_t expect)
{
	int sock = client_connect(d);

	CHECK(!may_administer(sock));
	CHECK_EQ(client_show(sock, fd), expect);
	CHECK_EQ(may_administer(sock), !expect);
	close(fd);
	close(sock);
}

/* Whoever can write in its directory: others could put a daemon of their own
 * there. To one that has the capability that is nothing. */
static void test_own_daemon(const char *uroced)
{
	struct daemon_proc own = {.before = drop_net_admin};

	show_lock(&dev, lock_of(&dev, O_WRONLY), -EPERM);
	daemon_start(&own, uroced, 0);
	show_lock(&own, lock_of(&own, O_WRONLY), 0);
	show_lock(&own, lock_of(&own, O_RDWR), 0);
	show_lock(&own, lock_of(&own, O_RDONLY), -EPERM);
	show_lock(&own, lock_of(&own, O_PATH), -EPERM);
	show_lock(&own, lock_of(&dev, O_WRONLY), -EPERM);
	show_lock(&own, ur_proof_net_admin(), 0);
	daemon_stop(&own);
}

/* ---- a user namespace that knows nobody ---- */

static void leave_users(void)
{
	CHECK(!unshare(CLONE_NEWUSER));
}

/* Not in an ordinary container, nor in a changed root. */
static bool may_leave_users(void)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(unshare(CLONE_NEWUSER) != 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Nobody else can claim the engine that one user's contexts share, not even after the daemon was killed. */
static void test_claim(struct daemon_proc *odd, const char *uroced)
{
	int sock = client_session_with_engine(odd), other;
	uint32_t slot;

	client_alloc_async(sock);
	CHECK_EQ(client_share(sock, 0, &slot), 0);
	other = client_session_with_engine(odd);
	CHECK(client_share(other, slot, NULL) < 0);
	close(other);
	CHECK(!kill(odd->pid, SIGKILL));
	CHECK_EQ(WTERMSIG(daemon_wait(odd)), SIGKILL);
	daemon_start(odd, uroced, 0);
	other = client_session_with_engine(odd);
	CHECK(client_share(other, slot, NULL) < 0);
	close(other);
	close(sock);
}

/* There all users have one number, the daemon's too. */
static void test_unmapped(const char *uroced)
{
#ifdef __SANITIZE_THREAD__
	printf("unmapped: a process with TSan's thread makes no user namespace\n");
	return;
#endif
	struct daemon_proc odd = {.before = leave_users};
	int sock, other;

	if (!may_leave_users())
		SKIP("no user namespace can be made here: all but \"unmapped\" passed");
	daemon_start(&odd, uroced, 0);
	sock = client_connect(&odd);
	CHECK(!may_administer(sock));
	CHECK_EQ(open_bare("umad0", UROCE_TUN_UMAD, sock),
		 (int64_t)(UROCE_WITH_UMAD ? -EACCES : -ENXIO));
	close(sock);
	/* Nor do they see what others of that number have. */
	other = client_session(&odd);
	client_alloc_pd(other);
	CHECK(client_status_has(&odd, "pds", "\"hidden\":true"));
	CHECK(!client_status_has(&odd, "pds", "\"pdn\""));
	close(other);
	test_claim(&odd, uroced);
	daemon_stop(&odd);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK_EQ(argc, 2);
	become_root();
	client_private_net();
	if (system("ip link add veth0 type veth peer name veth1 && "
		   "ip link set veth0 up && ip link set veth1 up"))
		SKIP("no veth");
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755));
	client_check(&dev);
	if (UROCE_WITH_RAW_PACKET)
		STEP(test_raw());
	STEP(test_admin());
	STEP(test_sees());
	STEP(test_own_daemon(argv[1]));
	client_check(&dev);
	daemon_stop(&dev);
	STEP(test_unmapped(argv[1]));
	return cases_status();
}
