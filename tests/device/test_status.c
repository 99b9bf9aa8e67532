// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * STATUS of a device with very many objects: others' commands are served while
 * it is written, and files that come and go meanwhile do it no harm. And one user's
 * view of another's objects.
 *
 * usage: test_status UROCED [OBJECTS]
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static struct daemon_proc dev = {.admin = 1};
static char page[4096] __attribute__((aligned(4096)));

static void reg_mr(int sock, uint32_t pd)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = (uintptr_t)page,
			  .length = sizeof(page),
			  .hca_va = (uintptr_t)page,
			  .pd_handle = pd,
			  .access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE}};
	struct ib_uverbs_reg_mr_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_REG_MR, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
}

/* XRC targets: queue pairs without rings. */
static void create_qps(int sock, uint32_t n)
{
	struct ib_uverbs_open_xrcd open = {.fd = UINT32_MAX, .oflags = O_CREAT};
	struct ib_uverbs_open_xrcd_resp xrcd = {0};
	struct ib_uverbs_create_qp req = {.qp_type = IB_UVERBS_QPT_XRC_TGT};
	struct ib_uverbs_create_qp_resp resp;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_OPEN_XRCD, &open,
			       sizeof(open), &xrcd, sizeof(xrcd)),
		 0);
	req.pd_handle = xrcd.xrcd_handle;
	while (n--)
		CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
				       sizeof(req), &resp, sizeof(resp)),
			 0);
}

static void query_device(int sock)
{
	struct ib_uverbs_query_device_resp resp = {0};
	uint64_t req = 0;

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_QUERY_DEVICE, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static int answered(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* How much of a STATUS is there: the bytes of the file that the device writes
 * it to; -1: there is none. */
static int64_t told(void)
{
	char path[64], name[64];
	int64_t bytes = -1;
	struct dirent *d;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)dev.pid);
	dir = opendir(path);
	CHECK(dir);
	while (bytes < 0 && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, name,
				       sizeof(name) - 1);

		name[n < 0 ? 0 : n] = 0;
		if (!strncmp(name, "/memfd:status", 13) &&
		    !fstatat(dirfd(dir), d->d_name, &st, 0))
			bytes = st.st_size;
	}
	closedir(dir);
	return bytes;
}

/* How often the answer had grown when a neighbour's command was served. */
static uint32_t neighbours(int asking, int sock, const char *subject)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	uint64_t start = now_us(), from, longest = 0;
	int64_t before = -1, bytes;
	uint32_t grown = 0;

	strcpy(msg.name, subject);
	client_send(asking, &msg, NULL, 0);
	do {
		from = now_us();
		query_device(sock);
		from = now_us() - from;
		longest = from > longest ? from : longest;
		bytes = told();
		grown += bytes > before;
		before = bytes;
	} while (!answered(asking));
	printf("%s: after %u commands there was more of it; %llu us, and %llu "
	       "us for the longest of them\n",
	       *subject ? subject : "all", grown,
	       (unsigned long long)(now_us() - start),
	       (unsigned long long)longest);
	return grown;
}

/* The text of the answer; to be freed. */
static char *hear_text(int sock)
{
	struct uroce_tun_msg msg;
	char *text;
	int fd;

	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK(fd >= 0);
	text = calloc(1, msg.text.len + 1);
	CHECK_EQ(pread(fd, text, msg.text.len, 0), msg.text.len);
	close(fd);
	return text;
}

static uint32_t count(const char *text, const char *what)
{
	uint32_t n = 0, i;

	/* Not strstr(): a sanitizer's looks at all that follows each time. */
	for (; *text; text++) {
		for (i = 0; what[i] && text[i] == what[i]; i++)
			;
		n += !what[i];
	}
	return n;
}

static void test_served(uint32_t n)
{
	static const char *const subjects[] = {"mrs", "qps", ""};
	int owner = client_session_with_engine(&dev),
	    other = client_session(&dev), asking = client_connect(&dev);
	uint32_t pd = client_alloc_pd(owner);
	char *text;

	for (uint32_t i = 0; i < n; i++)
		reg_mr(owner, pd);
	create_qps(owner, n / 4);
	for (int i = 0; i < 3; i++) {
		/* The device may get no processor between two of our turns;
		 * one that serves nobody meanwhile never gets there. */
		for (int n_tries = 0;
		     neighbours(asking, other, subjects[i]) <= 3; n_tries++) {
			CHECK(n_tries < 10);
			free(hear_text(asking));
		}
		text = hear_text(asking);
		CHECK_EQ(count(text, "\"access\""), i == 1 ? 0 : n);
		CHECK_EQ(count(text, "\"max_recv_wr\""), i ? n / 4 : 0);
		free(text);
	}
	close(owner);
	close(other);
	close(asking);
	client_settle(&dev);
}

/* Each file that is there all the time is listed, once, with all it has. */
static void test_coming_and_going(uint32_t n)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	int stay[3], asking = client_connect(&dev);
	uint32_t pd[3];
	char *text;

	for (int i = 0; i < 3; i++) {
		int passing = client_session(&dev);

		client_alloc_pd(passing);
		stay[i] = client_session(&dev);
		pd[i] = client_alloc_pd(stay[i]);
		for (uint32_t m = 0; m < n; m++)
			reg_mr(stay[i], pd[i]);
		close(passing);
	}
	for (int round = 0; round < 3; round++) {
		client_send(asking, &msg, NULL, 0);
		do {
			int passing = client_session(&dev);

			for (int i = 0; i < 8; i++)
				client_alloc_pd(passing);
			close(passing);
		} while (!answered(asking));
		text = hear_text(asking);
		CHECK_EQ(count(text, "\"access\""), 3 * n);
		free(text);
	}
	for (int i = 0; i < 3; i++)
		close(stay[i]);
	close(asking);
}

/* The answer for that user; to be freed. */
static char *told_to(uid_t uid, const char *subject)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	char *text;
	int sock;

	strcpy(msg.name, subject);
	dev.as = uid;
	sock = client_connect(&dev);
	dev.as = 0;
	client_send(sock, &msg, NULL, 0);
	text = hear_text(sock);
	close(sock);
	return text;
}

static int has_cm_id(uid_t uid)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	uint64_t ident = 0;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id create;
	} cmd = {.hdr = {RDMA_USER_CM_CMD_CREATE_ID, sizeof(cmd.create),
			 sizeof(ident)},
		 .create = {.response = (uintptr_t)&ident,
			    .ps = RDMA_PS_TCP,
			    .qp_type = 2}};
	int mem = client_mem(), sock, fd;

	dev.as = uid;
	sock = client_connect(&dev);
	dev.as = 0;
	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(fd);
	CHECK(client_write(sock, &cmd, sizeof(cmd)) >= 0);
	return sock;
}

/* Keys, addresses and numbers are for those who have them, and for root; that
 * there is something, for all. */
static void test_secrets(void)
{
	static const struct {
		const char *list, *secret;
	} kinds[] = {
		{"mrs", "\"key\""},	 {"mrs", "\"iova\""},
		{"mrs", "\"length\""},	 {"qps", "\"qpn\""},
		{"qps", "\"counters\""}, {"pds", "\"pdn\""},
		{"pds", "\"handle\""},	 {"cm_ids", "\"id\""},
		{"cm_ids", "\"state\""},
	};
	const uid_t owner = 65532, other = 65534;
	int sock, cm;

	if (geteuid()) {
		printf("secrets: not root, so there is one user only\n");
		return;
	}
	client_settle(&dev); /* what others had is not counted */
	CHECK(!chmod(dev.dir, 0755));
	dev.as = owner;
	sock = client_session_with_engine(&dev);
	dev.as = 0;
	reg_mr(sock, client_alloc_pd(sock));
	create_qps(sock, 2);
	cm = has_cm_id(owner);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *list = kinds[i].list;
		const uid_t who[] = {0, owner, other};
		uint32_t n = !strcmp(list, "qps") ? 2 : 1;

		for (int w = 0; w < 3; w++) {
			char *text = told_to(who[w], list);
			bool hides = who[w] == other;

			CHECK_EQ(count(text, kinds[i].secret), hides ? 0 : n);
			CHECK_EQ(count(text, "\"hidden\":true"), hides ? n : 0);
			CHECK_EQ(count(text, "\"device\":"), n);
			free(text);
			text = told_to(who[w], "");
			CHECK_EQ(count(text, "\"iova\"") == 0, hides);
			CHECK_EQ(count(text, "\"qpn\"") == 0, hides);
			free(text);
		}
	}
	close(sock);
	close(cm);
	client_settle(&dev);
}

/* A process has the name that it likes, and others' terminals show it. */
static void test_name(void)
{
	char *text;
	int sock;

	CHECK(!prctl(PR_SET_NAME, "\x1b[2J\x1b]0;own\x07"));
	sock = client_session(&dev);
	text = told_to(0, "sessions");
	CHECK(strstr(text, "\"?[2J?]0;own?\""));
	CHECK(!strstr(text, "\\u00"));
	free(text);
	close(sock);
	CHECK(!prctl(PR_SET_NAME, "device_status"));
	client_settle(&dev);
}

/* In a pid namespace of its own, where a memfd can be sealed that was not made
 * for it. */
static void with_noexec(const char *uroced)
{
	struct daemon_proc own = {.before = NULL};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	int fd = open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC);
	int sock, none;
	char path[80];

	if (fd < 0 || write(fd, "1", 1) != 1)
		SKIP("vm.memfd_noexec is not ours to set");
	close(fd);
	fd = memfd_create("plain", MFD_CLOEXEC);
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	close(fd);
	daemon_start(&own, uroced, 0);
	sock = client_connect(&own);
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) && errno == EPERM);
	/* It is taken back with the next message. */
	CHECK(lseek(fd, 0, SEEK_END) > 0);
	msg = (struct uroce_tun_msg){.op = UROCE_TUN_SYNC};
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &none));
	CHECK_EQ(lseek(fd, 0, SEEK_END), 0);
	daemon_stop(&own);
	/* This process ends without its exit handlers. */
	snprintf(path, sizeof(path), "%s/lock", own.dir);
	CHECK(!unlink(path) && !rmdir(own.dir));
}

static void test_not_sealed(const char *uroced)
{
	pid_t pid;
	int st;

	if (unshare(CLONE_NEWPID))
		SKIP("no pid namespace of our own is allowed");
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		/* Its leak checker attaches to threads by their numbers, which
		 * are others here. */
		CHECK(!setenv("ASAN_OPTIONS", "detect_leaks=0", 1));
		with_noexec(uroced);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st));
	/* Nor can it look for leaks of a process whose children have other
	 * numbers. */
	fflush(NULL);
	_exit(WEXITSTATUS(st));
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 2 ? (uint32_t)atoi(argv[2]) : 20000;

	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_served(n));
	STEP(test_coming_and_going(n / 8));
	STEP(test_secrets());
	STEP(test_name());
	daemon_stop(&dev);
	CASE(test_not_sealed(argv[1]));
	return cases_status();
}
