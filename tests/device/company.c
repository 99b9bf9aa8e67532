// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"
#include "tests/device/company.h"
#include "util/os/proof.h"
#include "util/os/scm.h"

/* ---- the tunnel ---- */

static void send_msg(int sock, const struct uroce_tun_msg *msg,
		     const char *behind, const int *fds, size_t n)
{
	union ur_scm scm;
	struct iovec iov[2] = {
		{(void *)(uintptr_t)msg, sizeof(*msg)},
		{(void *)(uintptr_t)behind, behind ? strlen(behind) + 1 : 0}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = behind ? 2 : 1};

	ur_scm_put(&mh, &scm, fds, n);
	CHECK(sendmsg(sock, &mh, MSG_NOSIGNAL) > 0);
}

/* The fuzzer has a timer. */
static ssize_t receive(int sock, struct msghdr *mh)
{
	ssize_t n;

	do
		n = recvmsg(sock, mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	return n;
}

/* The result; its first descriptor in *fd, the others are closed. */
static int64_t answer_with(int sock, struct uroce_tun_msg *msg, int *fd)
{
	union ur_scm scm;
	struct iovec iov = {msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};

	*fd = -1;
	CHECK_EQ(receive(sock, &mh), sizeof(*msg));
	ur_scm_take(&mh, fd, 1, close);
	return msg->ret;
}

/* A descriptor that it is given to install is not kept. */
static int64_t command(int sock, struct uroce_tun_msg *msg)
{
	struct uroce_tun_msg reply;
	int64_t ret;
	int fd;

	send_msg(sock, msg, NULL, NULL, 0);
	for (;;) {
		ret = answer_with(sock, msg, &fd);
		if (fd >= 0)
			close(fd);
		if (msg->op == UROCE_TUN_DONE)
			return ret;
		reply = (struct uroce_tun_msg){.op = UROCE_TUN_FD, .ret = 1000};
		if (msg->op == UROCE_TUN_FGET)
			reply.ret = -EBADF;
		send_msg(sock, &reply, NULL, NULL, 0);
	}
}

/* A process that may administer shows it, as root does; others are known by
 * their number. */
static void show_right(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int proof = ur_proof_net_admin(), fd;

	if (proof < 0)
		return;
	send_msg(sock, &msg, NULL, &proof, 1);
	close(proof);
	CHECK_EQ(answer_with(sock, &msg, &fd), 0);
}

static int connection(struct company *c)
{
	int sock = c->connect(c->arg);

	CHECK(sock >= 0);
	c->opened++;
	if (!c->plain)
		show_right(sock);
	return sock;
}

static int open_kind(struct company *c, uint32_t kind, const char *name,
		     const char *behind, int *visible)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = kind,
				    .open.version = UROCE_TUN_VERSION};
	int sock = connection(c), fd = -1, mem = -1;

	if (name) {
		snprintf(msg.name, sizeof(msg.name), "%s", name);
		mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
		CHECK(mem >= 0);
	}
	send_msg(sock, &msg, behind, &mem, mem >= 0);
	if (mem >= 0)
		close(mem);
	CHECK_EQ(answer_with(sock, &msg, &fd), 0);
	if (visible)
		*visible = fd;
	else
		CHECK(fd < 0);
	return sock;
}

static int64_t do_write(int sock, const void *bytes, size_t n)
{
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_WRITE,
		.call = {.arg = (uintptr_t)bytes, .len = n}};

	return command(sock, &msg);
}

/* ---- uverbs ---- */

/* The response's address is the first member. */
static uint32_t verb(int sock, uint32_t number, const void *body, size_t len,
		     uint64_t *resp, size_t out)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t body[256];
	} cmd = {.hdr = {.command = number,
			 .in_words = (uint16_t)((8 + len) / 4),
			 .out_words = (uint16_t)(out / 4)}};
	uint64_t at = (uintptr_t)resp;

	CHECK(len <= sizeof(cmd.body) && len % 4 == 0);
	memcpy(cmd.body, body, len);
	memcpy(cmd.body, &at, sizeof(at));
	CHECK_EQ(do_write(sock, &cmd, 8 + len), 8 + len);
	return (uint32_t)*resp;
}

static void make_objects(int sock, bool has_engine)
{
	static const uint8_t types[] = {IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC,
					IB_UVERBS_QPT_UD};
	uint64_t out[64];
	struct ib_uverbs_get_context ctx = {0};
	struct uroce_engine_open engine;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} open = {.hdr = {.length = sizeof(open),
			  .object_id = UVERBS_OBJECT_DEVICE,
			  .method_id = UROCE_METHOD_ENGINE_OPEN,
			  .num_attrs = 1},
		  .attr = {.attr_id = UROCE_ATTR_ENGINE_OPEN_RESP,
			   .len = sizeof(engine),
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)&engine}};
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_IOCTL,
		.call = {.request = RDMA_VERBS_IOCTL, .arg = (uintptr_t)&open}};
	struct ib_uverbs_alloc_pd pd = {0};
	struct ib_uverbs_create_cq cq = {.cqe = 16, .comp_channel = -1};
	struct ib_uverbs_create_srq srq = {.max_wr = 4, .max_sge = 1};
	struct ib_uverbs_create_qp qp = {.max_send_wr = 4,
					 .max_recv_wr = 4,
					 .max_send_sge = 1,
					 .max_recv_sge = 1};

	verb(sock, IB_USER_VERBS_CMD_GET_CONTEXT, &ctx, sizeof(ctx), out,
	     sizeof(out));
	if (has_engine)
		CHECK_EQ(command(sock, &msg), 0);
	qp.pd_handle = srq.pd_handle = verb(sock, IB_USER_VERBS_CMD_ALLOC_PD,
					    &pd, sizeof(pd), out, sizeof(out));
	qp.recv_cq_handle = qp.send_cq_handle =
		verb(sock, IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), out,
		     sizeof(out));
	if (!has_engine)
		return;
	verb(sock, IB_USER_VERBS_CMD_CREATE_SRQ, &srq, sizeof(srq), out,
	     sizeof(out));
	for (size_t i = 0; i < sizeof(types); i++) {
		qp.qp_type = types[i];
		verb(sock, IB_USER_VERBS_CMD_CREATE_QP, &qp, sizeof(qp), out,
		     sizeof(out));
	}
}

/* ---- rdma_cm, umad ---- */

#define LOW_IDS 32

static void make_ids(int sock)
{
	static const uint16_t spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP};
	struct rdma_ucm_create_id_resp resp;
	uint32_t low[LOW_IDS];
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id core;
	} cmd = {.hdr = {RDMA_USER_CM_CMD_CREATE_ID, sizeof(cmd.core),
			 sizeof(resp)},
		 .core = {.ps = RDMA_PS_TCP, .response = (uintptr_t)&resp}};

	/* The lowest numbers are left to whoever comes next. */
	for (size_t i = 0; i < LOW_IDS; i++) {
		CHECK_EQ(do_write(sock, &cmd, sizeof(cmd)), sizeof(cmd));
		low[i] = resp.id;
	}
	for (size_t i = 0; i < 2; i++) {
		struct {
			struct rdma_ucm_cmd_hdr hdr;
			struct rdma_ucm_listen core;
		} listen = {
			.hdr = {RDMA_USER_CM_CMD_LISTEN, sizeof(listen.core)}};

		cmd.core.ps = spaces[i];
		CHECK_EQ(do_write(sock, &cmd, sizeof(cmd)), sizeof(cmd));
		/* On all addresses, of a port that is free. */
		listen.core.id = resp.id;
		CHECK_EQ(do_write(sock, &listen, sizeof(listen)),
			 sizeof(listen));
	}
	for (uint32_t i = 0; i < LOW_IDS; i++) {
		struct {
			struct rdma_ucm_cmd_hdr hdr;
			struct rdma_ucm_destroy_id core;
		} destroy = {
			.hdr = {RDMA_USER_CM_CMD_DESTROY_ID,
				sizeof(destroy.core), sizeof(resp)},
			.core = {.response = (uintptr_t)&resp, .id = low[i]}};

		CHECK_EQ(do_write(sock, &destroy, sizeof(destroy)),
			 sizeof(destroy));
	}
}

static void make_agents(int sock)
{
	for (uint32_t i = 0; i < COMPANY_AGENTS; i++) {
		struct ib_user_mad_reg_req req = {.qpn = 1};
		struct uroce_tun_msg msg = {
			.op = UROCE_TUN_IOCTL,
			.call = {.request = IB_USER_MAD_REGISTER_AGENT,
				 .arg = (uintptr_t)&req}};

		CHECK_EQ(command(sock, &msg), 0);
		CHECK_EQ(req.id, i);
	}
}

/* ---- settings, status ---- */

int company_set(struct company *c, const char *name, const char *value)
{
	struct uroce_tun_msg msg, open = {.op = UROCE_TUN_OPEN,
					  .kind = UROCE_TUN_SETTING,
					  .open.version = UROCE_TUN_VERSION};
	char path[128];
	int sock, fd, ret;

	snprintf(path, sizeof(path), "set/%s/%s", c->device, name);
	sock = connection(c);
	send_msg(sock, &open, path, NULL, 0);
	ret = (int)answer_with(sock, &msg, &fd);
	if (!ret) {
		CHECK(send(sock, value, strlen(value), MSG_NOSIGNAL) > 0);
		ret = (int)answer_with(sock, &msg, &fd);
	}
	close(sock);
	c->opened--;
	return ret < 0 ? ret : 0;
}

/* The descriptor of the text. */
static int ask_status(int sock, const char *subject, uint64_t *len)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS};
	int fd;

	snprintf(msg.name, sizeof(msg.name), "%s", subject);
	send_msg(sock, &msg, NULL, NULL, 0);
	CHECK_EQ(answer_with(sock, &msg, &fd), 0);
	CHECK(fd >= 0 && msg.text.len);
	*len = msg.text.len;
	return fd;
}

bool company_status_has(struct company *c, const char *subject,
			const char *word)
{
	int sock = connection(c), fd;
	uint64_t len;
	char *text;
	bool has;

	fd = ask_status(sock, subject, &len);
	text = calloc(1, len + 1);
	CHECK(text);
	CHECK_EQ(pread(fd, text, len, 0), len);
	has = strstr(text, word);
	free(text);
	close(fd);
	close(sock);
	c->opened--;
	return has;
}

/* ---- netlink ---- */

struct question {
	struct nlmsghdr nlh;
	struct nlattr attr;
	uint32_t index;
};

static const uint8_t *find(const uint8_t *p, uint32_t len, uint16_t type,
			   uint32_t *bytes)
{
	struct nlattr a;

	for (uint32_t at = 0; at < len; at += NLA_ALIGN(a.nla_len)) {
		CHECK(len - at >= NLA_HDRLEN);
		memcpy(&a, p + at, sizeof(a));
		CHECK(a.nla_len >= NLA_HDRLEN && a.nla_len <= len - at);
		if ((a.nla_type & NLA_TYPE_MASK) != type)
			continue;
		*bytes = a.nla_len - (uint32_t)NLA_HDRLEN;
		return p + at + NLA_HDRLEN;
	}
	return NULL;
}

/* Each message of the answer to a dump; a device that has just gone ends it. */
static void dump(struct company *c, uint32_t op, uint32_t index,
		 void (*fn)(void *ctx, const uint8_t *p, uint32_t len),
		 void *ctx)
{
	struct question q = {
		.nlh = {.nlmsg_len = sizeof(q),
			.nlmsg_type =
				(uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.attr = {sizeof(q.attr) + 4, RDMA_NLDEV_ATTR_DEV_INDEX},
		.index = index};
	uint8_t buf[16384] __attribute__((aligned(8)));
	struct iovec iov = {buf, sizeof(buf)};
	struct nlmsghdr nlh;

	if (op == RDMA_NLDEV_CMD_GET || op == RDMA_NLDEV_CMD_RES_GET)
		q.nlh.nlmsg_len = NLMSG_HDRLEN;
	CHECK(send(c->nl_sock, &q, q.nlh.nlmsg_len, MSG_NOSIGNAL) > 0);
	for (;;) {
		struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
		ssize_t n = receive(c->nl_sock, &mh);

		CHECK(n > 0);
		for (uint32_t at = 0; at < n;
		     at += NLMSG_ALIGN(nlh.nlmsg_len)) {
			memcpy(&nlh, buf + at, sizeof(nlh));
			CHECK(nlh.nlmsg_len >= NLMSG_HDRLEN &&
			      nlh.nlmsg_len <= n - at);
			if (nlh.nlmsg_type == NLMSG_DONE ||
			    nlh.nlmsg_type == NLMSG_ERROR)
				return;
			if (fn)
				fn(ctx, buf + at + NLMSG_HDRLEN,
				   nlh.nlmsg_len - NLMSG_HDRLEN);
		}
	}
}

static void add_index(void *ctx, const uint8_t *p, uint32_t len)
{
	struct company *c = ctx;
	uint32_t bytes;
	const uint8_t *v = find(p, len, RDMA_NLDEV_ATTR_DEV_INDEX, &bytes);

	CHECK(v && bytes == 4 && c->n_devices < 16);
	memcpy(&c->indices[c->n_devices++], v, 4);
}

/* Those that there are now. */
static void learn_devices(struct company *c)
{
	c->n_devices = 0;
	dump(c, RDMA_NLDEV_CMD_GET, 0, add_index, c);
}

typedef void each_message(void *ctx, const uint8_t *p, uint32_t len);

static void of_each_device(struct company *c, uint32_t op, each_message *fn,
			   void *ctx)
{
	for (uint32_t i = 0; i < c->n_devices; i++)
		dump(c, op, c->indices[i], fn, ctx);
}

struct sum {
	const char *word;
	uint64_t n;
};

/* A summary's entries nest in its only list. */
static void add_count(void *ctx, const uint8_t *p, uint32_t len)
{
	struct sum *sum = ctx;
	uint32_t bytes, at, n;
	const uint8_t *list = find(p, len, RDMA_NLDEV_ATTR_RES_SUMMARY, &bytes);
	struct nlattr a;

	if (!list)
		return;
	for (at = 0; at < bytes; at += NLA_ALIGN(a.nla_len)) {
		const uint8_t *e = list + at + NLA_HDRLEN, *name, *v;
		uint64_t value;

		memcpy(&a, list + at, sizeof(a));
		CHECK(a.nla_len >= NLA_HDRLEN && a.nla_len <= bytes - at);
		len = a.nla_len - (uint32_t)NLA_HDRLEN;
		name = find(e, len, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, &n);
		v = find(e, len, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &n);
		CHECK(name && v && n == 8);
		memcpy(&value, v, 8);
		if (!strcmp((const char *)name, sum->word))
			sum->n += value;
	}
}

uint64_t company_count(struct company *c, const char *word)
{
	struct sum sum = {.word = word};

	dump(c, RDMA_NLDEV_CMD_RES_GET, 0, add_count, &sum); /* of all */
	return sum.n;
}

/* By command: its table. */
static const uint16_t tables[] = {
	[RDMA_NLDEV_CMD_RES_QP_GET] = RDMA_NLDEV_ATTR_RES_QP,
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = RDMA_NLDEV_ATTR_RES_CM_ID,
	[RDMA_NLDEV_CMD_RES_CQ_GET] = RDMA_NLDEV_ATTR_RES_CQ,
	[RDMA_NLDEV_CMD_RES_MR_GET] = RDMA_NLDEV_ATTR_RES_MR,
	[RDMA_NLDEV_CMD_RES_PD_GET] = RDMA_NLDEV_ATTR_RES_PD,
	[RDMA_NLDEV_CMD_RES_CTX_GET] = RDMA_NLDEV_ATTR_RES_CTX,
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = RDMA_NLDEV_ATTR_RES_SRQ,
};

struct entries {
	uint16_t table;
	uint32_t n;
};

static void add_entries(void *ctx, const uint8_t *p, uint32_t len)
{
	struct entries *of = ctx;
	uint32_t bytes;
	const uint8_t *list = find(p, len, of->table, &bytes);
	struct nlattr a;

	for (uint32_t at = 0; list && at < bytes; at += NLA_ALIGN(a.nla_len)) {
		memcpy(&a, list + at, sizeof(a));
		CHECK(a.nla_len >= NLA_HDRLEN && a.nla_len <= bytes - at);
		of->n++;
	}
}

uint32_t company_list(struct company *c, uint32_t op)
{
	struct entries of = {.table = tables[op]};

	learn_devices(c);
	of_each_device(c, op, add_entries, &of);
	return of.n;
}

/* ---- all of it ---- */

static void drain(int sock)
{
	char buf[8192];

	while (recv(sock, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

/* The result of the write does not matter: the device may be another. */
static void write_setting(struct company *c)
{
	struct uroce_tun_msg msg;
	int fd;

	CHECK_EQ(send(c->setting_sock, "9", 1, MSG_NOSIGNAL), 1);
	answer_with(c->setting_sock, &msg, &fd);
}

/* A round trip for each kind of question and no more: the fuzzers come by here
 * after each input. */
void company_look(struct company *c)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	uint64_t len;

	/* The answer that it had is taken back. */
	close(c->answer);
	c->answer = ask_status(c->status_sock, "", &len);
	command(c->status_sock, &msg);
	close(c->answer);
	c->answer = ask_status(c->status_sock, "qps", &len);
	company_count(c, "");
	learn_devices(c);
	for (uint32_t op = 0; op < sizeof(tables) / sizeof(*tables); op++)
		if (tables[op])
			of_each_device(c, op, NULL, NULL);
	of_each_device(c, RDMA_NLDEV_CMD_STAT_GET, NULL, NULL);
	if (c->full)
		write_setting(c);
	drain(c->groups_sock);
	drain(c->visible[1]);
	drain(c->visible[2]);
}

void company_ask_anew(struct company *c)
{
	c->nl_sock = open_kind(c, UROCE_TUN_NETLINK, NULL, NULL, NULL);
}

void company_open(struct company *c)
{
	struct uroce_tun_msg groups = {.op = UROCE_TUN_BIND,
				       .bind = {.port = 1, .groups = ~0ull}};
	char name[32], path[64];
	uint64_t len;

	c->opened = 0;
	snprintf(name, sizeof(name), "uverbs%u", c->uverbs);
	c->verbs_sock =
		open_kind(c, UROCE_TUN_UVERBS, name, NULL, &c->visible[0]);
	make_objects(c->verbs_sock, !c->no_engine);
	c->cm_sock = open_kind(c, UROCE_TUN_RDMA_CM, "rdma_cm", NULL,
			       &c->visible[1]);
	make_ids(c->cm_sock);
	c->umad_sock = c->visible[2] = -1;
	if (UROCE_WITH_UMAD) {
		snprintf(name, sizeof(name), "umad%u", c->umad);
		c->umad_sock = open_kind(c, UROCE_TUN_UMAD, name, NULL,
					 &c->visible[2]);
		make_agents(c->umad_sock);
	}
	c->groups_sock = open_kind(c, UROCE_TUN_NETLINK, NULL, NULL, NULL);
	send_msg(c->groups_sock, &groups, NULL, NULL, 0);
	c->nl_sock = open_kind(c, UROCE_TUN_NETLINK, NULL, NULL, NULL);
	snprintf(path, sizeof(path), "set/%s/ttl", c->device);
	c->setting_sock = open_kind(c, UROCE_TUN_SETTING, NULL, path, NULL);
	if (c->full)
		CHECK_EQ(company_set(c, "record", "256"), 0);
	c->status_sock = connection(c);
	c->answer = ask_status(c->status_sock, "", &len);
	CHECK_EQ(c->opened, COMPANY_SESSIONS);
}

void company_close(struct company *c)
{
	for (int i = 0; i < 3; i++)
		close(c->visible[i]);
	close(c->answer);
	close(c->verbs_sock);
	close(c->cm_sock);
	close(c->umad_sock);
	close(c->groups_sock);
	close(c->nl_sock);
	close(c->setting_sock);
	close(c->status_sock);
}
