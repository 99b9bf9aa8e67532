// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Raw Ethernet's commands: work queues, indirection tables, queue pairs that
 * spread frames, flow rules and counters objects. Objects that hold others,
 * refusals, users without the right, garbage.
 *
 * usage: test_raw UROCED [SEED [ROUNDS]]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "util/rng.h"
#include "util/os/proof.h"

#define NOBODY	 65534
#define FIELDS	 3 /* IPv4 addresses */
#define WQ_RESET 0
#define WQ_RDY	 1
#define WQ_ERR	 2

static struct daemon_proc dev = {.netdev = "veth0", .raw_ethernet = 1};
static struct ur_rng rng;

/* ---- commands ---- */

/* An extended one: the core, then the driver's part. */
static int64_t extended(int sock, uint32_t command, const void *core,
			uint32_t len, const void *udata, uint32_t udata_len,
			void *resp, uint32_t out)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		uint8_t data[2048];
	} cmd = {.hdr = {.command = 1u << 31 | command,
			 .in_words = (uint16_t)((len + 7) / 8),
			 .out_words = (uint16_t)(out / 8)},
		 .ex = {.response = out ? (uintptr_t)resp : 0,
			.provider_in_words = (uint16_t)(udata_len / 8)}};
	uint32_t core_bytes = cmd.hdr.in_words * 8u;
	int64_t ret;

	CHECK(core_bytes + udata_len <= sizeof(cmd.data));
	memcpy(cmd.data, core, len);
	if (udata_len)
		memcpy(cmd.data + core_bytes, udata, udata_len);
	ret = client_write(sock, &cmd,
			   sizeof(cmd.hdr) + sizeof(cmd.ex) + core_bytes +
				   udata_len);
	return ret > 0 ? 0 : ret;
}

static uint32_t create_cq(int sock)
{
	struct ib_uverbs_create_cq req = {.cqe = 64, .comp_channel = -1};
	struct ib_uverbs_create_cq_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.cq_handle;
}

struct wq_resp {
	struct ib_uverbs_ex_create_wq_resp core;
	struct uroce_create_qp_resp rings;
};

static int64_t create_wq(int sock, const struct ib_uverbs_ex_create_wq *req,
			 struct wq_resp *resp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_create_wq core;
	} cmd = {.hdr = {.command = 1u << 31 | IB_USER_VERBS_EX_CMD_CREATE_WQ,
			 .in_words = sizeof(*req) / 8,
			 .out_words = sizeof(resp->core) / 8},
		 .ex = {.response = (uintptr_t)resp,
			.provider_out_words = sizeof(resp->rings) / 8},
		 .core = *req};
	int64_t ret;

	memset(resp, 0, sizeof(*resp));
	ret = client_write(sock, &cmd, sizeof(cmd));
	return ret > 0 ? 0 : ret;
}

static int64_t modify_wq(int sock, uint32_t wq, uint32_t mask, uint32_t state,
			 uint32_t cur)
{
	struct ib_uverbs_ex_modify_wq req = {.attr_mask = mask,
					     .wq_handle = wq,
					     .wq_state = state,
					     .curr_wq_state = cur};

	return extended(sock, IB_USER_VERBS_EX_CMD_MODIFY_WQ, &req, sizeof(req),
			NULL, 0, NULL, 0);
}

static int64_t destroy_wq(int sock, uint32_t wq)
{
	struct ib_uverbs_ex_destroy_wq req = {.wq_handle = wq};
	struct ib_uverbs_ex_destroy_wq_resp resp = {.events_reported = 77};
	int64_t ret = extended(sock, IB_USER_VERBS_EX_CMD_DESTROY_WQ, &req,
			       sizeof(req), NULL, 0, &resp, sizeof(resp));

	if (!ret)
		CHECK_EQ(resp.events_reported, 0);
	return ret;
}

static int64_t create_table(int sock, uint32_t log, uint32_t given,
			    const uint32_t *wq, uint32_t *handle)
{
	struct {
		struct ib_uverbs_ex_create_rwq_ind_table core;
		uint32_t wq[300];
	} req = {.core = {.log_ind_tbl_size = log}};
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {0};
	int64_t ret;

	memcpy(req.wq, wq, given * sizeof(*wq));
	ret = extended(sock, IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, &req,
		       (uint32_t)(sizeof(req.core) + given * sizeof(*wq)), NULL,
		       0, &resp, sizeof(resp));
	*handle = resp.ind_tbl_handle;
	return ret;
}

static int64_t destroy_table(int sock, uint32_t table)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table req = {.ind_tbl_handle =
								 table};

	return extended(sock, IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, &req,
			sizeof(req), NULL, 0, NULL, 0);
}

static const struct uroce_create_rss_qp_req good_hash = {
	.fields = FIELDS,
	.function = 1,
	.key_len = UROCE_RX_HASH_KEY_BYTES,
	.key = {1, 2, 3, 4, 5, 6, 7, 8}};

static struct ib_uverbs_ex_create_qp spread_request(uint32_t pd, uint32_t table)
{
	return (struct ib_uverbs_ex_create_qp){
		.pd_handle = pd,
		.qp_type = IB_UVERBS_QPT_RAW_PACKET,
		.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE,
		.rwq_ind_tbl_handle = table};
}

static int64_t create_qp(int sock, const struct ib_uverbs_ex_create_qp *req,
			 const struct uroce_create_rss_qp_req *hash,
			 uint32_t *handle)
{
	struct ib_uverbs_ex_create_qp_resp resp = {0};
	int64_t ret = extended(sock, IB_USER_VERBS_EX_CMD_CREATE_QP, req,
			       sizeof(*req), hash, sizeof(*hash), &resp,
			       sizeof(resp));

	*handle = resp.base.qp_handle;
	return ret;
}

static int64_t destroy_qp(int sock, uint32_t qp)
{
	struct ib_uverbs_destroy_qp req = {.qp_handle = qp};
	struct ib_uverbs_destroy_qp_resp resp[2];

	return client_legacy(sock, IB_USER_VERBS_CMD_DESTROY_QP, &req,
			     sizeof(req), resp, sizeof(resp[0]));
}

/* A rule for all frames. */
static int64_t create_flow(int sock, uint32_t qp, uint32_t *handle)
{
	struct ib_uverbs_create_flow req = {
		.qp_handle = qp, .flow_attr = {.type = 1, .port = 1}};
	struct ib_uverbs_create_flow_resp resp = {0};
	int64_t ret = extended(sock, IB_USER_VERBS_EX_CMD_CREATE_FLOW, &req,
			       sizeof(req), NULL, 0, &resp, sizeof(resp));

	*handle = resp.flow_handle;
	return ret;
}

static int64_t destroy_flow(int sock, uint32_t flow)
{
	struct ib_uverbs_destroy_flow req = {.flow_handle = flow};

	return extended(sock, IB_USER_VERBS_EX_CMD_DESTROY_FLOW, &req,
			sizeof(req), NULL, 0, NULL, 0);
}

/* ---- what there is of them ---- */

struct world {
	int sock;
	uint32_t pd, cq, wq[4], table, qp, flow;
	struct wq_resp rings[4];
};

static struct ib_uverbs_ex_create_wq wq_request(const struct world *w)
{
	return (struct ib_uverbs_ex_create_wq){.pd_handle = w->pd,
					       .cq_handle = w->cq,
					       .max_wr = 16,
					       .max_sge = 2};
}

static void make_world(struct world *w, int sock)
{
	struct ib_uverbs_ex_create_wq wq;
	struct ib_uverbs_ex_create_qp qp;

	*w = (struct world){.sock = sock, .pd = client_alloc_pd(sock)};
	w->cq = create_cq(sock);
	wq = wq_request(w);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(create_wq(sock, &wq, &w->rings[i]), 0);
		w->wq[i] = w->rings[i].core.wq_handle;
		CHECK_EQ(modify_wq(sock, w->wq[i], 1, WQ_RDY, 0), 0);
	}
	CHECK_EQ(create_table(sock, 2, 4, w->wq, &w->table), 0);
	qp = spread_request(w->pd, w->table);
	CHECK_EQ(create_qp(sock, &qp, &good_hash, &w->qp), 0);
	CHECK_EQ(create_flow(sock, w->qp, &w->flow), 0);
}

/* Children first, or EBUSY. */
static void test_busy(void)
{
	struct world w;

	make_world(&w, client_session_with_engine(&dev));
	CHECK_EQ(destroy_qp(w.sock, w.qp), (int64_t)-EBUSY);
	CHECK_EQ(destroy_table(w.sock, w.table), (int64_t)-EBUSY);
	CHECK_EQ(destroy_wq(w.sock, w.wq[3]), (int64_t)-EBUSY);
	CHECK_EQ(client_destroy_cq(w.sock, w.cq), (int64_t)-EBUSY);
	CHECK_EQ(destroy_flow(w.sock, w.flow), 0);
	CHECK_EQ(destroy_flow(w.sock, w.flow), (int64_t)-EINVAL);
	CHECK_EQ(destroy_qp(w.sock, w.qp), 0);
	CHECK_EQ(destroy_wq(w.sock, w.wq[0]), (int64_t)-EBUSY);
	CHECK_EQ(destroy_table(w.sock, w.table), 0);
	CHECK_EQ(destroy_table(w.sock, w.table), (int64_t)-EINVAL);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(destroy_wq(w.sock, w.wq[i]), 0);
	CHECK_EQ(destroy_wq(w.sock, w.wq[0]), (int64_t)-EINVAL);
	CHECK_EQ(client_destroy_cq(w.sock, w.cq), 0);
	close(w.sock);
	client_settle(&dev);
	/* All at once. */
	make_world(&w, client_session_with_engine(&dev));
	close(w.sock);
	client_settle(&dev);
}

static void test_wq_refused(void)
{
	struct world w = {.sock = client_session_with_engine(&dev)};
	struct ib_uverbs_ex_create_wq good, req;
	struct wq_resp resp;

	w.pd = client_alloc_pd(w.sock);
	w.cq = create_cq(w.sock);
	good = wq_request(&w);
#define REFUSED(field, value, err)                                           \
	do {                                                                 \
		req = good;                                                  \
		req.field = (value);                                         \
		CHECK_EQ(create_wq(w.sock, &req, &resp), (int64_t) - (err)); \
	} while (0)
	REFUSED(comp_mask, 1, EOPNOTSUPP);
	REFUSED(wq_type, 1, EOPNOTSUPP);
	REFUSED(create_flags, 1, EOPNOTSUPP);
	REFUSED(pd_handle, 99, EINVAL);
	REFUSED(cq_handle, w.pd, EINVAL);
	REFUSED(max_wr, 0, EINVAL);
	REFUSED(max_wr, UINT32_MAX, EINVAL);
	REFUSED(max_sge, 33, EINVAL);
#undef REFUSED
	CHECK_EQ(create_wq(w.sock, &good, &resp), 0);
	w.wq[0] = resp.core.wq_handle;
	CHECK_EQ(modify_wq(w.sock, 99, 1, WQ_RDY, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 0, WQ_RDY, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 8, WQ_RDY, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, 3, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_ERR, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 3, WQ_RDY, WQ_RDY),
		 (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 3, WQ_RDY, WQ_RESET), 0);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_RDY, 0), 0);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_ERR, 0), 0);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_RDY, 0), (int64_t)-EINVAL);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_RESET, 0), 0);
	CHECK_EQ(modify_wq(w.sock, w.wq[0], 1, WQ_RDY, 0), 0);
	close(w.sock);
}

static void test_table_refused(void)
{
	struct world w;
	uint32_t many[300], handle;

	make_world(&w, client_session_with_engine(&dev));
	for (int i = 0; i < 300; i++)
		many[i] = w.wq[i % 4];
	/* More than the command has, which is not known. */
	CHECK_EQ(create_table(w.sock, 9, 300, many, &handle),
		 (int64_t)-EOPNOTSUPP);
	CHECK_EQ(create_table(w.sock, 9, 256, many, &handle), (int64_t)-EINVAL);
	CHECK_EQ(create_table(w.sock, 32, 4, many, &handle), (int64_t)-EINVAL);
	CHECK_EQ(create_table(w.sock, ~0u, 4, many, &handle), (int64_t)-EINVAL);
	CHECK_EQ(create_table(w.sock, 3, 4, many, &handle), (int64_t)-ENOSPC);
	CHECK_EQ(create_table(w.sock, 8, 256, many, &handle), 0);
	CHECK_EQ(destroy_table(w.sock, handle), 0);
	many[255] = w.cq;
	CHECK_EQ(create_table(w.sock, 8, 256, many, &handle), (int64_t)-EINVAL);
	/* A refused one has left nothing busy. */
	CHECK_EQ(destroy_flow(w.sock, w.flow), 0);
	CHECK_EQ(destroy_qp(w.sock, w.qp), 0);
	CHECK_EQ(destroy_table(w.sock, w.table), 0);
	CHECK_EQ(destroy_wq(w.sock, w.wq[0]), 0);
	close(w.sock);
}

static void test_qp_refused(void)
{
	struct ib_uverbs_ex_create_qp good, req;
	struct uroce_create_rss_qp_req hash;
	struct world w;
	uint32_t one, handle;

	make_world(&w, client_session_with_engine(&dev));
	good = spread_request(w.pd, w.table);
#define REFUSED(field, value, err)                                     \
	do {                                                           \
		req = good;                                            \
		req.field = (value);                                   \
		CHECK_EQ(create_qp(w.sock, &req, &good_hash, &handle), \
			 (int64_t) - (err));                           \
	} while (0)
	REFUSED(rwq_ind_tbl_handle, w.wq[0], EINVAL);
	REFUSED(max_recv_wr, 1, EINVAL);
	REFUSED(max_recv_sge, 1, EINVAL);
	REFUSED(is_srq, 1, EINVAL);
	REFUSED(max_send_wr, 1, EINVAL); /* without a completion queue */
	REFUSED(pd_handle, 99, EINVAL);
#undef REFUSED
	req = good;
	req.qp_type = IB_UVERBS_QPT_UD;
	req.send_cq_handle = req.recv_cq_handle = w.cq;
	CHECK(create_qp(w.sock, &req, &good_hash, &handle) < 0);
#define REFUSED(field, value, err)                                 \
	do {                                                       \
		hash = good_hash;                                  \
		hash.field = (value);                              \
		CHECK_EQ(create_qp(w.sock, &good, &hash, &handle), \
			 (int64_t) - (err));                       \
	} while (0)
	REFUSED(function, 0, EOPNOTSUPP);
	REFUSED(function, 3, EOPNOTSUPP);
	REFUSED(key_len, 39, EINVAL);
	REFUSED(key_len, 255, EINVAL);
	REFUSED(fields, 0, EINVAL);
	REFUSED(fields, 1 | 4, EINVAL);	  /* IPv4 and IPv6 */
	REFUSED(fields, 16 | 64, EINVAL); /* TCP and UDP */
	REFUSED(fields, 1 << 8, EOPNOTSUPP);
	REFUSED(fields, 1ull << 31, EOPNOTSUPP);
	REFUSED(fields, 1ull << 63, EOPNOTSUPP);
	REFUSED(rsv, 1, EINVAL);
	REFUSED(number, 1, EINVAL);
	REFUSED(flags, 128, EINVAL);
	REFUSED(flags, UROCE_QP_F_AGAIN, EINVAL);
#undef REFUSED
	/* With one queue there is nothing to hash. */
	hash = good_hash;
	hash.fields = 0;
	CHECK_EQ(create_table(w.sock, 0, 1, w.wq, &one), 0);
	req = spread_request(w.pd, one);
	CHECK_EQ(create_qp(w.sock, &req, &hash, &handle), 0);
	/* One that sends as well. */
	req = good;
	req.max_send_wr = req.max_send_sge = 1;
	req.send_cq_handle = w.cq;
	CHECK_EQ(create_qp(w.sock, &req, &good_hash, &handle), 0);
	close(w.sock);
}

/* ---- packet sockets ---- */

static int64_t ask_sockets(int sock)
{
	struct uroce_engine_raw raw = {{-1, -1}};
	int64_t ret = client_call_device(sock, UROCE_METHOD_ENGINE_RAW,
					 UROCE_ATTR_ENGINE_RAW_RESP, &raw,
					 sizeof(raw));

	for (int i = 0; !ret && i < 2; i++) {
		struct sockaddr_ll at;
		socklen_t len = sizeof(at);

		CHECK_EQ(getsockname(raw.fd[i], (void *)&at, &len), 0);
		CHECK_EQ(at.sll_family, AF_PACKET);
		CHECK_EQ(at.sll_ifindex, (int)if_nametoindex("veth0"));
		close(raw.fd[i]);
	}
	return ret;
}

/* An engine in a program gets them a few times. */
static void test_sockets(void)
{
	int sock = client_session(&dev), n = 0;

	CHECK_EQ(ask_sockets(sock), (int64_t)-EINVAL);
	CHECK_EQ(client_open_engine(sock), 0);
	while (!ask_sockets(sock))
		n++;
	CHECK_EQ(n, 16);
	CHECK_EQ(ask_sockets(sock), (int64_t)-EMFILE);
	close(sock);
	client_settle(&dev);
}

/* Whoever has no CAP_NET_RAW makes queues, which hear nothing. */
static void as_nobody(void)
{
	struct ib_uverbs_ex_create_wq wq;
	struct ib_uverbs_ex_create_qp qp;
	struct world w = {0};
	struct wq_resp resp;
	uint32_t handle;

	w.sock = client_session_with_engine(&dev);
	w.pd = client_alloc_pd(w.sock);
	w.cq = create_cq(w.sock);
	wq = wq_request(&w);
	CHECK_EQ(create_wq(w.sock, &wq, &resp), 0);
	CHECK_EQ(create_table(w.sock, 0, 1, &resp.core.wq_handle, &w.table), 0);
	qp = spread_request(w.pd, w.table);
	CHECK_EQ(create_qp(w.sock, &qp, &good_hash, &handle), (int64_t)-EPERM);
	CHECK_EQ(create_flow(w.sock, 1, &handle), (int64_t)-EPERM);
	CHECK_EQ(ask_sockets(w.sock), (int64_t)-EPERM);
}

static void test_without_right(void)
{
	pid_t pid = fork();
	int st;

	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setresuid(NOBODY, NOBODY, NOBODY));
		/* It may open its own memory. */
		CHECK(!prctl(PR_SET_DUMPABLE, 1));
		as_nobody();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(WIFEXITED(st) && !WEXITSTATUS(st));
	client_settle(&dev);
}

/* ---- garbage ---- */

static const uint32_t commands[] = {
	IB_USER_VERBS_EX_CMD_CREATE_QP,
	IB_USER_VERBS_EX_CMD_CREATE_FLOW,
	IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
	IB_USER_VERBS_EX_CMD_CREATE_WQ,
	IB_USER_VERBS_EX_CMD_MODIFY_WQ,
	IB_USER_VERBS_EX_CMD_DESTROY_WQ,
	IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
	IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
};

/* Words that are often handles that there are, and lengths that are often
 * right: most get past the first checks. */
static void test_garbage(uint32_t rounds)
{
	static const uint16_t types[] = {0,    1,    2,	     0x20,   0x30,
					 0x40, 0x41, 0x1000, 0x1001, 0x1003};
	static const uint32_t lens[] = {8,  16, 24, 32,	 40,
					56, 64, 88, 104, 520};
	uint8_t resp[512], udata[56];
	uint32_t core[256];
	struct world w;

	make_world(&w, client_session_with_engine(&dev));
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t len = lens[ur_rng_below(&rng, 10)];
		int64_t ret;

		for (uint32_t j = 0; j < len / 4; j++) {
			core[j] = ur_rng_below(&rng, 2)
					  ? 0
					  : (uint32_t)ur_rng_below(&rng, 16);
			if (!ur_rng_below(&rng, 16))
				core[j] = (uint32_t)ur_rng_u64(&rng);
			/* the head of a rule's part */
			if (!ur_rng_below(&rng, 8))
				core[j] = types[ur_rng_below(&rng, 10)] |
					  (uint32_t)ur_rng_below(&rng, 96)
						  << 16;
		}
		memcpy(udata, &good_hash, sizeof(udata));
		if (!ur_rng_below(&rng, 4))
			udata[ur_rng_below(&rng, 16)] =
				(uint8_t)ur_rng_u64(&rng);
		ret = extended(w.sock, commands[ur_rng_below(&rng, 8)], core,
			       len, udata, sizeof(udata), resp,
			       ur_rng_below(&rng, 4) ? 64 : 8);
		CHECK(ret == 0 || (ret < 0 && ret > -4096));
		if (i % 1024 == 1023) {
			close(w.sock);
			make_world(&w, client_session_with_engine(&dev));
		}
	}
	close(w.sock);
	client_settle(&dev);
}

/* One for all: the kernel takes some ms to end the last descriptor of one. */
static int proof(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = ur_proof_net_raw();
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 3 ? (uint32_t)atoi(argv[3]) : 20000;

	cases(&argc, argv);
	CHECK(argc > 1);
	rng.state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	printf("seed %llu\n", (unsigned long long)rng.state);
	client_private_net();
	if (system("ip link add veth0 type veth peer name veth1 && "
		   "ip link set veth0 up && ip link set veth1 up"))
		SKIP("no veth");
	daemon_start(&dev, argv[1], 0);
	CHECK(!chmod(dev.dir, 0755)); /* strangers too */
	client_check(&dev);
	STEP(test_busy());
	STEP(test_wq_refused());
	STEP(test_table_refused());
	STEP(test_qp_refused());
	STEP(test_without_right());
	STEP(test_sockets());
	client_proof = proof;
	client_check(&dev);
	STEP(test_garbage(rounds));
	client_check(&dev);
	daemon_stop(&dev);
	return cases_status();
}
