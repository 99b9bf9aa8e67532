// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The parts that a build may leave out (cmake/Parts.cmake): a device with a part
 * has its files and options, and one without it refuses them as a kernel without
 * it does.
 *
 * usage: test_parts UROCED [PART]...: those that it is without
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

static struct daemon_proc dev = {.admin = 1};
static char **absent; /* names, ended by NULL */

static bool has(const char *part)
{
	for (char **p = absent; *p; p++)
		if (!strcmp(*p, part))
			return false;
	return true;
}

/* ---- umad ---- */

static bool in_tree(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dev.dir, name);
	return !lstat(path, &st);
}

static int64_t open_umad(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UMAD,
				    .name = "umad0",
				    .open.version = UROCE_TUN_VERSION};
	int sock = client_connect(&dev), mem = client_mem(), fd;

	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK(!client_recv(sock, &msg, &fd));
	if (fd >= 0)
		close(fd);
	close(sock);
	return msg.ret;
}

static void test_umad(void)
{
	bool there = has("UMAD");

	CHECK_EQ(in_tree("dev/infiniband/umad0"), there);
	CHECK_EQ(in_tree("sys/class/infiniband_mad/umad0"), there);
	CHECK_EQ(in_tree("sys/class/infiniband_mad/abi_version"), there);
	CHECK_EQ(open_umad(), (int64_t)(there ? 0 : -ENXIO));
	CHECK(in_tree("dev/infiniband/uverbs0"));
}

/* ---- options ---- */

/* Returns the status of `uroced OPTION --help`, and its text on either stream.
 * */
static int ask(const char *uroced, const char *option, char *text, size_t size)
{
	int out[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	CHECK(!pipe(out));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		execl(uroced, "uroced", option, "--help", NULL);
		_exit(127);
	}
	close(out[1]);
	while ((n = read(out[0], text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(out[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_option(const char *uroced, const char *part,
			const char *option)
{
	char text[16384];

	if (has(part)) {
		CHECK_EQ(ask(uroced, option, text, sizeof(text)), 0);
		CHECK(strstr(text, option));
		return;
	}
	CHECK_EQ(ask(uroced, option, text, sizeof(text)), 2);
	CHECK(strstr(text, "is not in this build of uroced"));
	CHECK_EQ(ask(uroced, "-v", text, sizeof(text)), 0);
	CHECK(!strstr(text, option));
}

/* ---- raw packet queue pairs ---- */

static int64_t create_wq(int sock)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_create_wq core;
	} cmd = {
		.hdr = {.command = IB_USER_VERBS_CMD_FLAG_EXTENDED |
				   IB_USER_VERBS_EX_CMD_CREATE_WQ,
			.in_words = sizeof(cmd.core) / 8},
	};
	struct ib_uverbs_ex_create_wq_resp resp;

	cmd.hdr.out_words = sizeof(resp) / 8;
	cmd.ex.response = (uintptr_t)&resp;
	return client_write(sock, &cmd, sizeof(cmd));
}

/* The object exists as the ABI has it, or there is none of that type. */
static int64_t create_counters(int sock)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr handle;
	} cmd = {
		.hdr = {.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_COUNTERS,
			.method_id = UVERBS_METHOD_COUNTERS_CREATE,
			.num_attrs = 1},
		.handle = {.attr_id = UVERBS_ATTR_CREATE_COUNTERS_HANDLE,
			   .flags = UVERBS_ATTR_F_MANDATORY},
	};

	return client_ioctl(sock, &cmd);
}

/* This device is without --raw-ethernet. A kernel whose driver has no counters
 * has no objects of that type; programs never ask it, for libibverbs knows. */
static void test_raw(void)
{
	int sock = client_session(&dev);

	CHECK_EQ(create_wq(sock), (int64_t)-EOPNOTSUPP);
	CHECK_EQ(create_counters(sock),
		 (int64_t)(has("RAW_PACKET") ? -EOPNOTSUPP : -EPROTONOSUPPORT));
	close(sock);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc >= 2);
	absent = argv + 2;
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	client_check(&dev);
	CASE(test_umad());
	CASE(test_option(argv[1], "ROCE_V1", "--roce-v1"));
	CASE(test_option(argv[1], "RAW_PACKET", "--raw-ethernet"));
	CASE(test_raw());
	client_check(&dev);
	daemon_stop(&dev);
	return cases_status();
}
