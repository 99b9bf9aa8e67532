// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The steps of verbs, and what the command line asks of a daemon. */
#include "tests/faults/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct ibv_pd *pd;
struct ibv_cq *cq;
union ibv_gid gid;
uint8_t *buf;
int shm;

/* A child has a connection of its own to the file. */
static int in_child(void)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		struct ibv_pd *mine = ibv_alloc_pd(eth1);

		_exit(mine ? ibv_dealloc_pd(mine) : errno);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The command line's: status pages, counters, devices come and go. */
static int converse(uint32_t op, uint64_t what, const char *name)
{
	struct uroce_tun_msg msg = {.op = op, .link.what = what};
	int sock = client_connect(&device), fd, err;

	err = op == UROCE_TUN_LINK ? faults_show_right(sock) : 0;
	if (!err) {
		snprintf(msg.name, sizeof(msg.name), "%s", name);
		client_send(sock, &msg, NULL, 0);
		err = client_recv(sock, &msg, &fd) ? EPIPE : (int)-msg.ret;
		if (fd >= 0)
			close(fd);
	}
	close(sock);
	return err;
}

static int status(void)
{
	return converse(UROCE_TUN_STATUS, 0, "");
}

static int read_counters(void)
{
	return converse(UROCE_TUN_SYNC, 0, "");
}

static int link_add(void)
{
	return converse(UROCE_TUN_LINK, UROCE_TUN_LINK_ADD, "lo third");
}

static int link_del(void)
{
	return converse(UROCE_TUN_LINK, UROCE_TUN_LINK_DEL, "third");
}

static void must_link(void)
{
	CHECK_EQ(link_add(), 0);
}

static void undo_link(void)
{
	CHECK_EQ(link_del(), 0);
}

static const struct step daemon_steps[] = {
	{"after fork", NULL, in_child, NULL, 0},
	{"status", NULL, status, NULL, EPIPE},
	{"sync", NULL, read_counters, NULL, EPIPE},
	{"link add", NULL, link_add, undo_link, EPIPE},
	{"link del", must_link, link_del, NULL, EPIPE},
	{0},
};

void test_verbs(void)
{
	faults_open();
	shm = memfd_create("mr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(shm >= 0 && !ftruncate(shm, BYTES));
	CHECK(!fcntl(shm, F_ADD_SEALS, F_SEAL_SHRINK));
	buf = aligned_alloc(4096, BYTES);
	CHECK(buf);
	pd = ibv_alloc_pd(eth1);
	cq = ibv_create_cq(eth1, 100, NULL, NULL, 0);
	CHECK(pd && cq);
	CHECK(!ibv_query_gid(eth2, 1, 0, &gid));
	faults_each(memory_steps);
	faults_each(queue_steps);
	faults_each(daemon_steps);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	free(buf);
	close(shm);
	faults_close();
	faults_settle();
}
