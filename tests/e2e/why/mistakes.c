// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * usage: why_mistakes server|client MISTAKE GID-INDEX OWN-FILE PEER-FILE
 * Two ends of an RC queue pair that tell each other through files who they are.
 * The client makes one request, with the mistake, prints "qpn N status N" and
 * ends; the server stays until it is ended.
 */
#include <byteswap.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/verbs_pair.h"

#define BYTES	   8192
#define MUST(what) ((what) ? (void)0 : die(#what))

struct end {
	uint32_t qpn, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

static const char *mistake;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static char *buf;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int is(const char *name)
{
	return !strcmp(mistake, name);
}

static void make(int server)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {8, 8, 1, 1, 0}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct ibv_qp_attr attr = pair_attr(NULL, 0);

	MUST(list && *list && (context = ibv_open_device(*list)));
	MUST(pd = ibv_alloc_pd(context));
	MUST(cq = ibv_create_cq(context, 16, NULL, NULL, 0));
	MUST(!posix_memalign((void **)&buf, 4096, 2 * BYTES));
	mr = ibv_reg_mr(pd, buf, BYTES,
			IBV_ACCESS_LOCAL_WRITE |
				(server && is("mr-right") ? 0 : remote));
	MUST(mr);
	init.send_cq = init.recv_cq = cq;
	MUST(qp = ibv_create_qp(pd, &init));
	attr.qp_access_flags = server && is("qp-right") ? 0 : remote;
	MUST(!pair_to(qp, &attr, IBV_QPS_INIT));
}

static void tell(const struct end *end, const char *path)
{
	char name[512];
	FILE *out;

	snprintf(name, sizeof(name), "%s.new", path);
	MUST(out = fopen(name, "w"));
	MUST(fwrite(end, sizeof(*end), 1, out) == 1 && !fclose(out));
	MUST(!chmod(name, 0644));
	MUST(!rename(name, path));
}

static void hear(struct end *end, const char *path)
{
	FILE *in;

	while (!(in = fopen(path, "r")))
		usleep(1000);
	MUST(fread(end, sizeof(*end), 1, in) == 1);
	fclose(in);
}

static void join(int server, int gid, const struct end *peer)
{
	struct ibv_qp_attr attr = pair_attr(&peer->gid, peer->qpn);

	attr.ah_attr.grh.sgid_index = (uint8_t)gid;
	attr.rq_psn = peer->psn;
	attr.sq_psn = !server && is("psn") ? 105 : 100;
	attr.min_rnr_timer = 1;
	attr.timeout = 12;
	attr.retry_cnt = 2;
	attr.rnr_retry = 2;
	if (server && is("mtu"))
		attr.path_mtu = IBV_MTU_256;
	if (!server && is("qpn"))
		attr.dest_qp_num ^= 0x5a5;
	MUST(!pair_to(qp, &attr, IBV_QPS_RTR));
	MUST(!pair_to(qp, &attr, IBV_QPS_RTS));
}

static void receive(void)
{
	struct ibv_sge sge = {(uintptr_t)buf, is("short") ? 8 : 4096, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	MUST(!ibv_post_recv(qp, &wr, &bad));
}

static void request(const struct end *peer)
{
	struct ibv_sge sge = {(uintptr_t)buf, 4096, mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = peer->addr, .rkey = peer->rkey},
	};
	struct ibv_send_wr *bad;

	if (is("range"))
		wr.wr.rdma.remote_addr += BYTES - 4096 + 1;
	else if (is("swapped"))
		wr.wr.rdma.remote_addr = bswap_64(peer->addr);
	else if (is("cut"))
		wr.wr.rdma.remote_addr &= 0xffffffff;
	else if (is("key"))
		wr.wr.rdma.rkey ^= 0x55000000;
	else if (is("fence") || is("no fence")) {
		sge.length = 8;
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = 0;
		wr.wr.rdma.rkey = is("fence") ? 0xff : 0x1ff;
	} else if (is("lkey"))
		sge.lkey ^= 0x55000000;
	else if (!is("mr-right") && !is("qp-right"))
		wr.opcode = IBV_WR_SEND;
	MUST(!ibv_post_send(qp, &wr, &bad));
}

int main(int argc, char **argv)
{
	struct end own = {.psn = 100}, peer;
	int server, gid;
	struct ibv_wc wc;

	if (argc != 6)
		return 2;
	server = !strcmp(argv[1], "server");
	mistake = argv[2];
	gid = atoi(argv[3]);
	make(server);
	own.qpn = qp->qp_num;
	own.rkey = mr->rkey;
	own.addr = (uintptr_t)buf;
	MUST(!ibv_query_gid(context, 1, gid, &own.gid));
	if (!server) {
		hear(&peer, argv[5]);
		tell(&own, argv[4]);
		join(server, gid, &peer);
		/* Until the other one is connected, too. */
		snprintf(argv[5] + strlen(argv[5]) - 1, 2, "R");
		hear(&own, argv[5]);
		request(&peer);
		while (!ibv_poll_cq(cq, 1, &wc))
			usleep(100);
		printf("qpn %u status %d\n", qp->qp_num, wc.status);
		return 0;
	}
	tell(&own, argv[4]);
	hear(&peer, argv[5]);
	if (!is("init"))
		join(server, gid, &peer);
	if (is("short") || is("mtu"))
		receive();
	snprintf(argv[4] + strlen(argv[4]) - 1, 2, "R");
	/* With "none" the test says when. */
	if (!is("none"))
		tell(&own, argv[4]);
	for (;;)
		pause();
}
