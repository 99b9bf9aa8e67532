// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The charge for a thing is at least the memory of the device that it takes;
 * and answers that nobody reads take no more than one.
 *
 * usage: test_memory UROCED
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/memory.h"
#include "device/ucma/ucma_abi.h"
#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

#define MANY 4000

static struct daemon_proc dev;

/* In KiB, of a line of the daemon's status. */
static long status_kib(const char *name)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)dev.pid);
	f = fopen(path, "re");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %ld", &kib);
	fclose(f);
	CHECK(kib >= 0);
	return kib;
}

static int64_t make_rc(struct user *u)
{
	struct ib_uverbs_create_qp req = {.pd_handle = u->pd,
					  .send_cq_handle = u->cq,
					  .recv_cq_handle = u->cq,
					  .max_send_wr = 64,
					  .max_recv_wr = 16,
					  .max_send_sge = 4,
					  .max_recv_sge = 4,
					  .qp_type = IB_UVERBS_QPT_RC};
	struct ib_uverbs_create_qp_resp resp = {0};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
			     sizeof(req), &resp, sizeof(resp));
}

static int64_t cm_command(struct user *u, uint32_t cmd, void *buf, size_t len)
{
	struct rdma_ucm_cmd_hdr hdr = {
		.cmd = cmd, .in = (uint16_t)(len - sizeof(hdr)), .out = 4};
	int64_t ret;

	memcpy(buf, &hdr, sizeof(hdr));
	ret = client_write(u->cm, buf, len);
	return ret > 0 ? 0 : ret;
}

/* Makes an event of one id, whose channel nobody reads. */
static int64_t make_event(struct user *u)
{
	static struct rdma_ucm_create_id_resp id;
	static bool made;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id core;
	} create = {.core = {.uid = 1,
			     .ps = RDMA_PS_UDP,
			     .response = (uintptr_t)&id}};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct ucma_abi_write_cm_event core;
	} event = {.core.event = 18};

	if (!made)
		CHECK_EQ(cm_command(u, RDMA_USER_CM_CMD_CREATE_ID, &create,
				    sizeof(create)),
			 0);
	made = true;
	event.core.id = id.id;
	return cm_command(u, UCMA_CMD_WRITE_CM_EVENT, &event, sizeof(event));
}

static const struct kind {
	const char *name;
	int64_t (*make)(struct user *u);
	uint32_t kib;
} kinds[] = {
	{"protection domain", make_pd, UR_KIB_OBJECT},
	{"XRC domain", make_xrcd, UR_KIB_OBJECT},
	{"memory region", make_mr, UR_KIB_OBJECT},
	{"memory window", make_mw, UR_KIB_OBJECT},
	{"address handle", make_ah, UR_KIB_OBJECT},
	{"shared receive queue", make_srq, UR_KIB_OBJECT},
	{"completion queue", make_cq, UR_KIB_CQ},
	{"XRC target", make_qp, UR_KIB_QP},
	{"RC queue pair", make_rc, UR_KIB_QP + 16},
	{"rdma_cm id", make_id, UR_KIB_CM_ID},
	{"rdma_cm event", make_event, UR_KIB_OBJECT},
};

static void test_objects(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	struct user u = {.sock = client_session_with_engine(&dev),
			 .cm = client_connect(&dev)};
	int mem = client_mem(), fd;

	client_send(u.cm, &msg, &mem, 1);
	CHECK(!client_recv(u.cm, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(fd);
	close(mem);
	CHECK_EQ(make_pd(&u), 0);
	CHECK_EQ(make_cq(&u), 0);
	CHECK_EQ(make_xrcd(&u), 0);
	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = &kinds[i];
		long before = status_kib("RssAnon"), grown;

		for (int n = 0; n < MANY; n++)
			CHECK_EQ(k->make(&u), 0);
		grown = status_kib("RssAnon") - before;
		printf("%s: %ld bytes each, charged %u\n", k->name,
		       grown * 1024 / MANY, k->kib * 1024);
		CHECK(grown <= (long)k->kib * MANY);
	}
	close(u.sock);
	close(u.cm);
	client_settle(&dev);
}

static void test_sessions(void)
{
	static int socks[400];
	const int n = sizeof(socks) / sizeof(socks[0]);
	long before = status_kib("RssAnon"), grown;

	for (int i = 0; i < n; i++)
		socks[i] = client_session(&dev);
	grown = status_kib("RssAnon") - before;
	printf("session with a context: %ld bytes each, charged %u\n",
	       grown * 1024 / n, (UR_KIB_SESSION + UR_KIB_FILE) * 1024);
	CHECK(grown <= (long)(UR_KIB_SESSION + UR_KIB_FILE) * n);
	for (int i = 0; i < n; i++)
		close(socks[i]);
	client_settle(&dev);
}

static void ask(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS, .name = "pds"};

	client_send(sock, &msg, NULL, 0);
}

static uint64_t bytes_of(int fd)
{
	struct stat st;

	CHECK(!fstat(fd, &st));
	return (uint64_t)st.st_size;
}

/* Hundreds of answers asked for in advance, some read and kept: of one
 * connection's there is one with a text. */
static void test_answers(void)
{
	struct user u = {.sock = client_session(&dev)};
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int sock = client_connect(&dev), fds[200], fd, n = 0;

	for (int i = 0; i < 1000; i++)
		CHECK_EQ(make_pd(&u), 0);
	for (int i = 0; i < 200; i++)
		ask(sock);
	client_send(sock, &msg, NULL, 0);
	for (;;) {
		CHECK(!client_recv(sock, &msg, &fd));
		if (fd < 0)
			break;
		CHECK_EQ(msg.ret, 0);
		CHECK(msg.text.len > 1000);
		fds[n++] = fd;
	}
	CHECK(n > 10);
	/* A later question took back the last answer. */
	for (int i = 0; i < n; i++) {
		CHECK_EQ(bytes_of(fds[i]), 0);
		close(fds[i]);
	}
	/* And as long as nothing is asked, the answer is there. */
	ask(sock);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(bytes_of(fd), msg.text.len);
	CHECK(msg.text.len > 1000);
	close(fd);
	close(sock);
	close(u.sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* A sanitizer's allocator takes more, and gives nothing back. */
	(void)test_sessions;
	(void)test_objects;
#else
	STEP(test_sessions());
	STEP(test_objects());
#endif
	STEP(test_answers());
	daemon_stop(&dev);
	return cases_status();
}
