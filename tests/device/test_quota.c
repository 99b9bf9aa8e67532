// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A user who takes all he can get of every kind of object: he is refused with
 * the verbs' own error at his share, the log says so once, and another user
 * and root get theirs. Real objects, and a share of 1 %.
 *
 * usage: test_quota UROCED
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/ground/limits.h"
#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

#define GREEDY	   65534
#define OTHER	   65533
#define SHARE(max) ((uint32_t)(max) / 100)

static struct daemon_proc dev = {.user_share = "1"};
static const struct kind {
	const char *what;
	uint32_t share;
	int64_t (*make)(struct user *u);
	/* Made before, to make these. */
	uint32_t had;
} kinds[] = {
	{"protection domains", SHARE(UR_MAX_PD), make_pd, 1},
	{"completion queues", SHARE(UR_MAX_CQ), make_cq, 1},
	{"XRC domains", SHARE(UR_MAX_XRCD), make_xrcd, 1},
	{"shared receive queues", SHARE(UR_MAX_SRQ), make_srq, 0},
	{"multicast groups", SHARE(8192), make_group, 0},
	{"queue pairs", SHARE(UR_MAX_QP), make_qp, 3},
	{"memory regions", SHARE(UR_MAX_MR), make_mr, 0},
	{"memory windows", SHARE(UR_MAX_MW), make_mw, 0},
	{"address handles", SHARE(UR_MAX_AH), make_ah, 0},
	{"bytes of device memory", SHARE(UR_MAX_DM_BYTES) / 4096, make_dm, 0},
	{"rdma_cm ids", SHARE(65536), make_id, 0},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct user come(uid_t uid)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	int mem = client_mem(), fd;
	static uint32_t users;
	struct user u = {.first_group = 1000 * users++};

	dev.as = uid;
	u.sock = client_session_with_engine(&dev);
	u.cm = client_connect(&dev);
	client_send(u.cm, &msg, &mem, 1);
	CHECK(!client_recv(u.cm, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(fd);
	close(mem);
	CHECK_EQ(make_pd(&u), 0);
	CHECK_EQ(make_cq(&u), 0);
	CHECK_EQ(make_xrcd(&u), 0);
	return u;
}

/* And all that it had is released; left: connections of others. */
static void go(struct user *u, int left)
{
	close(u->sock);
	close(u->cm);
	dev.as = 0;
	client_settle_to(&dev, left);
}

/* How often the log has it. */
static uint32_t said(const char *text)
{
	static char log[1 << 16];
	ssize_t n = pread(dev.log, log, sizeof(log) - 1, 0);
	uint32_t count = 0;

	CHECK(n >= 0);
	log[n] = 0;
	for (const char *p = log; (p = strstr(p, text)); p++)
		count++;
	return count;
}

/* Until it is refused; then it stays refused. */
static void exhaust(struct user *u, const struct kind *k)
{
	uint32_t n = k->had;
	struct user before;
	int64_t ret;
	char line[128];

	do {
		before = *u;
		ret = k->make(u);
		n += !ret;
	} while (!ret);
	CHECK_EQ(ret, (int64_t)-ENOMEM);
	CHECK_EQ(n, k->share);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(k->make(u), (int64_t)-ENOMEM);
	/* Handles of what it has, not the zeros of the refusal. */
	*u = before;
	snprintf(line, sizeof(line), "user %u has met the limit of %u %s",
		 GREEDY, k->make == make_dm ? SHARE(UR_MAX_DM_BYTES) : k->share,
		 k->what);
	CHECK_EQ(said(line), 1);
}

static void test_kinds(void)
{
	struct user greedy = come(GREEDY), other, root;

	for (uint32_t i = 0; i < KINDS; i++)
		exhaust(&greedy, &kinds[i]);
	CHECK_EQ(said("changes it"), KINDS);
	other = come(OTHER);
	for (uint32_t i = 0; i < KINDS; i++)
		CHECK_EQ(kinds[i].make(&other), 0);
	go(&greedy, 2);
	/* Nothing is left behind. */
	greedy = come(GREEDY);
	for (uint32_t i = 0; i < KINDS; i++)
		CHECK_EQ(kinds[i].make(&greedy), 0);
	go(&greedy, 2);
	go(&other, 0);
	/* Root is not bounded. */
	root = come(0);
	for (uint32_t i = 0; i < KINDS; i++)
		for (uint32_t n = 0;
		     kinds[i].share < 1000 && n <= kinds[i].share; n++)
			CHECK_EQ(kinds[i].make(&root), 0);
	go(&root, 0);
}

/* A user cannot take all places of a group either: here his share is one. */
static void test_members(void)
{
	struct user greedy = come(GREEDY), other = come(OTHER);
	uint32_t first, second, third;

	CHECK_EQ(make_qp_of(&greedy, IB_UVERBS_QPT_UD, greedy.pd, &first), 0);
	CHECK_EQ(make_qp_of(&greedy, IB_UVERBS_QPT_UD, greedy.pd, &second), 0);
	CHECK_EQ(make_qp_of(&other, IB_UVERBS_QPT_UD, other.pd, &third), 0);
	CHECK_EQ(join_group(&greedy, first, 7), 0);
	CHECK_EQ(join_group(&greedy, first, 7), 0);
	CHECK_EQ(join_group(&greedy, second, 7), (int64_t)-ENOMEM);
	CHECK_EQ(join_group(&other, third, 7), 0);
	CHECK_EQ(join_group(&greedy, second, 8), 0);
	go(&greedy, 2);
	go(&other, 0);
}

/* Mappings of the daemon's, of files whose name begins so. */
static uint32_t mappings(const char *name)
{
	char path[64], line[512];
	uint32_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)dev.pid);
	f = fopen(path, "re");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, name) != NULL;
	fclose(f);
	return n;
}

/* Regions of files take no mapping of the daemon. */
static void test_regions(void)
{
	int fd = memfd_create("app", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct user user = come(GREEDY);

	CHECK(!ftruncate(fd, 1ll << 47));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	CHECK_EQ(client_reg_dmabuf(user.sock, user.pd, fd, 0, 1ull << 46, NULL),
		 0);
	CHECK_EQ(mappings("/memfd:app"), 0);
	go(&user, 0);
	close(fd);
}

/* Each takes half of what the others leave, so that there is something left for
 * one more, however many have taken all they can get. */
static void test_three(void)
{
	uint32_t max = UR_MAX_DM_BYTES / 4096, left = max;
	struct user users[4];

	for (int i = 0; i < 4; i++) {
		uint32_t n = 0;

		users[i] = come(OTHER - (uid_t)i);
		while (!make_dm(&users[i]))
			n++;
		CHECK_EQ(n, left / 2);
		left -= n;
	}
	for (int i = 0; i < 4; i++)
		go(&users[i], 2 * (3 - i));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	if (geteuid())
		SKIP("only root can be several users");
	client_private_net();
	dev.log = memfd_create("log", MFD_CLOEXEC);
	CHECK(dev.log > 0);
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755));
	STEP(test_kinds());
	STEP(test_members());
	daemon_stop(&dev);
	/* The daemon's own needs are never more than half of one user's. */
	dev.user_share = NULL;
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755));
	STEP(test_regions());
	STEP(test_three());
	daemon_stop(&dev);
	return cases_status();
}
