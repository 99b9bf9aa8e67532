// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A process that writes to a region of another one, whose domain it has imported:
 *
 *	imported MODE
 *
 *	claims	the opener registers another region after the import, so that he knows of it
 *	sleeps	he does nothing
 *
 * He prints "ready" and waits for SIGUSR1.
 *
 * The importer prints "rounds N", and looks at what it has written. At SIGUSR1 the opener deregisters the region
 * and tells the importer, whose next write must fail. The importer prints "refused", also if the region has
 * ended before. Then both print "done 0".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/e2e/verbs/bench.h"

#define BYTES 4096

struct shown {
	uint32_t pd, mr, rkey;
	uint64_t addr;
};

static uint8_t *region;
static pid_t opener;

static void send_file(int sock, int fd, const struct shown *s)
{
	char ctl[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {(void *)s, sizeof(*s)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ctl,
			    .msg_controllen = sizeof(ctl)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&mh);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(sock, &mh, 0), sizeof(*s));
}

static int take_file(int sock, struct shown *s)
{
	char ctl[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {s, sizeof(*s)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = ctl,
			    .msg_controllen = sizeof(ctl)};
	int fd;

	CHECK_EQ(recvmsg(sock, &mh, 0), sizeof(*s));
	CHECK(CMSG_FIRSTHDR(&mh));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(fd));
	return fd;
}

static bool is_told(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void import(int sock)
{
	struct shown s;
	struct bench t = {.ctx = ibv_import_device(take_file(sock, &s))};
	struct ibv_wc wc;
	bool told = false;

	CHECK(t.ctx);
	t.pd = ibv_import_pd(t.ctx, s.pd);
	CHECK(t.pd);
	CHECK(ibv_import_mr(t.pd, s.mr));
	CHECK(!ibv_query_gid(t.ctx, 1, 0, &t.gid));
	bench_ends(&t, 16);
	for (uint32_t n = 1;; n++) {
		memcpy(t.a.buf, &n, sizeof(n));
		CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, s.addr, s.rkey,
				   BYTES),
			 0);
		wc = wait_wc(t.a.cq);
		if (wc.status)
			break;
		CHECK(!told);
		CHECK(!memcmp(region, &n, sizeof(n)));
		if (n == 1)
			CHECK_EQ(write(sock, "i", 1), 1);
		told = is_told(sock);
		printf("rounds %u\n", n);
		fflush(stdout);
	}
	/* Memory of a process that has ended answers nothing. */
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR ||
	      (wc.status == IBV_WC_RETRY_EXC_ERR && getppid() != opener));
	printf("refused\n");
	fflush(stdout);
}

static void open_and_show(int sock, bool claims)
{
	static uint8_t other[BYTES];
	struct bench t;
	struct ibv_mr *mr;
	struct shown s;
	char imported;
	sigset_t set;
	int sig;

	bench_bare(&t);
	mr = ibv_reg_mr(t.pd, region, BYTES, ALL_ACCESS);
	CHECK(mr);
	s = (struct shown){t.pd->handle, mr->handle, mr->rkey,
			   (uintptr_t)region};
	send_file(sock, t.ctx->cmd_fd, &s);
	CHECK_EQ(read(sock, &imported, 1), 1);
	if (claims)
		CHECK(ibv_reg_mr(t.pd, other, BYTES, ALL_ACCESS));
	printf("ready\n");
	fflush(stdout);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &sig);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	/* The importer may have ended by then. */
	send(sock, "g", 1, MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
	int sock[2], st;
	sigset_t set;
	pid_t pid;

	CHECK(argc == 2);
	region = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(region != MAP_FAILED);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	opener = getpid();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(sock[0]);
		import(sock[1]);
		exit(0);
	}
	close(sock[1]);
	open_and_show(sock[0], !strcmp(argv[1], "claims"));
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK_EQ(st, 0);
	printf("done 0\n");
	return 0;
}
