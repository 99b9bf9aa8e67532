// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door of RDMA netlink: a client that sends anything, to a whole device on
 * the loopback interface that has objects of every kind to tell of.
 *
 * Input: a byte, whose bit 0 says whether the client is an administrator, then
 * steps: see step(). Each answer must be well formed; after the input a question
 * is asked that must be answered, and the device of the beginning is made again
 * where the input has taken it away.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/nldev/nldev.h"
#include "device/tunnel.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/ufile.h"
#include "tests/check.h"
#include "tests/fuzz/device_world.h"
#include "tests/fuzz/input.h"
#include "util/os/scm.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ARENA	       0x30000000ul
#define ARENA_BYTES    65536
#define STEPS_MAX      32
#define ATTRS_MAX      16
#define DATAGRAM_BYTES 9000 /* a little more than the device takes */
#define LAST_SEQ       0x7a51a57

/* ---- a device with objects ---- */

static u8 *in_buf, *out_buf; /* shared with the client */
static struct ur_session owner;
static void *verbs_file, *cm_file;
static u32 index_made;

/* The user who connects; the linker puts __wrap_getsockopt() in the place of
 * getsockopt(). */
static uid_t client_uid;

/* The front-end of the owner of the objects. */
static void front_end(int sock)
{
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS], number = 100;

	while (!ur_daemon_recv(sock, &msg, fds)) {
		struct uroce_tun_msg reply = {.op = UROCE_TUN_FD};

		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
		if (msg.op == UROCE_TUN_INSTALL)
			reply.ret = number++;
		else
			reply.ret = -EBADF;
		if (ur_daemon_send(sock, &reply, NULL, 0))
			break;
	}
}

static void map_arena(void)
{
	in_buf = mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(in_buf == (u8 *)ARENA);
	out_buf = in_buf + 4096;
}

/* A command of uverbs with its body, whose first field is mostly where the
 * answer goes; the handle that came. */
static u32 verbs(u32 cmd, const void *body, size_t bytes)
{
	struct ib_uverbs_cmd_hdr hdr = {.command = cmd, .out_words = 128};
	size_t len = sizeof(hdr) + ur_align_up(bytes, 4);
	u64 response = (uintptr_t)out_buf;
	u32 handle;

	hdr.in_words = (u16)(len / 4);
	memcpy(in_buf, &hdr, sizeof(hdr));
	memcpy(in_buf + sizeof(hdr), body, bytes);
	if (cmd != IB_USER_VERBS_CMD_MODIFY_QP)
		memcpy(in_buf + sizeof(hdr), &response, sizeof(response));
	CHECK_EQ(ur_uverbs_write(verbs_file, (uintptr_t)in_buf, len), len);
	ur_session_give_back(&owner);
	memcpy(&handle, out_buf, sizeof(handle));
	return handle;
}

static void make_qp(u32 pd, u32 cq, u32 srq, u8 type)
{
	struct ib_uverbs_create_qp c = {.pd_handle = pd,
					.send_cq_handle = cq,
					.recv_cq_handle = cq,
					.srq_handle = srq,
					.max_send_wr = 4,
					.max_recv_wr = 4,
					.max_send_sge = 1,
					.max_recv_sge = 1,
					.qp_type = type,
					.is_srq = srq != 0};
	struct ib_uverbs_modify_qp m = {.attr_mask = 1 | 1 << 4 | 1 << 5,
					.qp_state = 1, /* INIT */
					.port_num = 1};

	m.qp_handle = verbs(IB_USER_VERBS_CMD_CREATE_QP, &c, sizeof(c));
	m.attr_mask |= type == IB_UVERBS_QPT_UD ? 1 << 6 : 1 << 3;
	verbs(IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m));
}

/* ENGINE_OPEN, without which no queue pair is made. */
static void open_engine(void)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DEVICE,
			 .method_id = UROCE_METHOD_ENGINE_OPEN,
			 .num_attrs = 1},
		 .attr = {.attr_id = UROCE_ATTR_ENGINE_OPEN_RESP,
			  .len = sizeof(struct uroce_engine_open),
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)out_buf}};

	memcpy(in_buf, &cmd, sizeof(cmd));
	CHECK_EQ(ur_uverbs_ioctl(verbs_file, RDMA_VERBS_IOCTL,
				 (uintptr_t)in_buf),
		 0);
	ur_session_give_back(&owner);
}

static void make_verbs_objects(void)
{
	struct ib_uverbs_get_context context = {0};
	struct ib_uverbs_alloc_pd pd = {0};
	struct ib_uverbs_reg_mr mr = {.start = ARENA,
				      .length = 4096,
				      .hca_va = ARENA,
				      .access_flags = 7};
	struct {
		struct ib_uverbs_reg_mr mr;
		u64 udata[3];
	} reg = {.udata = {~0ull << 32}};
	struct ib_uverbs_create_cq cq = {.cqe = 16, .comp_channel = -1};
	struct ib_uverbs_create_srq srq = {.max_wr = 4, .max_sge = 1};
	u32 cqs, srqs;

	verbs(IB_USER_VERBS_CMD_GET_CONTEXT, &context, sizeof(context));
	open_engine();
	mr.pd_handle = verbs(IB_USER_VERBS_CMD_ALLOC_PD, &pd, sizeof(pd));
	reg.mr = mr;
	verbs(IB_USER_VERBS_CMD_REG_MR, &reg, sizeof(reg));
	cqs = verbs(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq));
	srq.pd_handle = mr.pd_handle;
	srqs = verbs(IB_USER_VERBS_CMD_CREATE_SRQ, &srq, sizeof(srq));
	for (u32 i = 0; i < 4; i++)
		make_qp(mr.pd_handle, cqs, i & 1 ? srqs : 0,
			i == 2 ? IB_UVERBS_QPT_UD : IB_UVERBS_QPT_RC);
}

static void make_cm_id(u16 ps)
{
	struct rdma_ucm_create_id c = {
		.uid = 1, .ps = ps, .response = (uintptr_t)out_buf};
	struct rdma_ucm_cmd_hdr hdr = {RDMA_USER_CM_CMD_CREATE_ID, sizeof(c),
				       4};

	memcpy(in_buf, &hdr, sizeof(hdr));
	memcpy(in_buf + sizeof(hdr), &c, sizeof(c));
	CHECK(device_world.file_ops[UROCE_TUN_RDMA_CM]->write(
		      cm_file, (uintptr_t)in_buf, sizeof(hdr) + sizeof(c)) > 0);
	ur_session_give_back(&owner);
}

/* The files are those of the only device, whose uverbs number may be any. */
static void open_files(void)
{
	const struct ur_device *dev =
		ur_list_first(&device_world.devices, struct ur_device, node);
	int visible[UROCE_TUN_MAX_FDS];
	char name[24];
	u64 rdev;

	snprintf(name, sizeof(name), "uverbs%u", dev->uverbs);
	index_made = dev->nl_index;
	ur_loop_lock(device_world.loop);
	CHECK(!ur_ufile_ops.open(&owner, name, &verbs_file, visible, &rdev));
	CHECK(!device_world.file_ops[UROCE_TUN_RDMA_CM]->open(
		&owner, "rdma_cm", &cm_file, visible, &rdev));
	ur_loop_unlock(device_world.loop);
	make_verbs_objects();
	make_cm_id(RDMA_PS_TCP);
}

static void make_device(void)
{
	ur_loop_lock(device_world.loop);
	CHECK(!ur_device_create(&device_world, "lo", NULL, -1));
	ur_loop_unlock(device_world.loop);
	open_files();
}

static void make_world(void)
{
	int mem;

	client_uid = geteuid();
	map_arena();
	mem = device_world_client(NULL);
	device_world_start();
	device_world_session(&owner, mem, front_end);
	open_files();
}

/* The device is that of the beginning, by its old name. */
static void restore(void)
{
	struct ur_device *dev = NULL;

	ur_loop_lock(device_world.loop);
	ur_list_for_each(it, &device_world.devices) {
		dev = ur_list_entry(it, struct ur_device, node);
		if (dev->nl_index == index_made)
			break;
		dev = NULL;
	}
	if (dev) {
		CHECK(!ur_device_rename(dev, "uroce0"));
		ur_loop_unlock(device_world.loop);
		return;
	}
	ur_ufile_ops.close(verbs_file);
	device_world.file_ops[UROCE_TUN_RDMA_CM]->close(cm_file);
	while (!ur_list_empty(&device_world.devices))
		ur_device_remove(ur_list_first(&device_world.devices,
					       struct ur_device, node));
	ur_loop_unlock(device_world.loop);
	device_world_part();
	make_device();
	device_world_meet();
}

/* ---- the client ---- */

static int sock;
/* Numbers of objects and devices that were in answers. */
static u32 heard[64], n_heard;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int ret = __real_getsockopt(fd, level, name, value, len);

	if (!ret && level == SOL_SOCKET && name == SO_PEERCRED)
		((struct ucred *)value)->uid = client_uid;
	return ret;
}

static void client_connect(bool admin)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_NETLINK,
				    .open.version = UROCE_TUN_VERSION};
	int fds[UROCE_TUN_MAX_FDS], pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	client_uid = admin ? geteuid() : geteuid() + 12345;
	ur_loop_lock(device_world.loop);
	CHECK(!ur_session_start(&device_world, pair[1]));
	/* The newest: as if it had shown the right to. */
	if (admin)
		ur_list_entry(device_world.sessions.prev, struct ur_session,
			      node)
			->administers = true;
	ur_loop_unlock(device_world.loop);
	sock = pair[0];
	n_heard = 0;
	CHECK(!ur_daemon_send(sock, &msg, NULL, 0));
	CHECK(!ur_daemon_recv(sock, &msg, fds));
	CHECK_EQ(msg.ret, 0);
}

static void client_close(void)
{
	close(sock);
	device_world_settle();
	client_uid = geteuid();
}

/* Mostly without NLA_F_NESTED, as the kernel's. */
static bool nests(u32 type)
{
	switch (type) {
	case RDMA_NLDEV_ATTR_RES_SUMMARY:
	case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY:
	case RDMA_NLDEV_ATTR_RES_QP:
	case RDMA_NLDEV_ATTR_RES_QP_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CM_ID:
	case RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CQ:
	case RDMA_NLDEV_ATTR_RES_CQ_ENTRY:
	case RDMA_NLDEV_ATTR_RES_MR:
	case RDMA_NLDEV_ATTR_RES_MR_ENTRY:
	case RDMA_NLDEV_ATTR_RES_PD:
	case RDMA_NLDEV_ATTR_RES_PD_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CTX:
	case RDMA_NLDEV_ATTR_RES_CTX_ENTRY:
	case RDMA_NLDEV_ATTR_RES_SRQ:
	case RDMA_NLDEV_ATTR_RES_SRQ_ENTRY:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTERS:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY:
		return true;
	default:
		return false;
	}
}

/* Attributes fill what they are in, and those that nest hold such again. */
static void check_attrs(const u8 *p, u32 len)
{
	struct nlattr a;
	u32 at = 0;

	for (; at < len; at += NLA_ALIGN(a.nla_len)) {
		CHECK(len - at >= NLA_HDRLEN);
		memcpy(&a, p + at, sizeof(a));
		CHECK(a.nla_len >= NLA_HDRLEN && a.nla_len <= len - at);
		CHECK((a.nla_type & NLA_TYPE_MASK) < UR_NLDEV_ATTR_MAX);
		if (nests(a.nla_type & NLA_TYPE_MASK))
			check_attrs(p + at + NLA_HDRLEN,
				    a.nla_len - (u32)NLA_HDRLEN);
		if (a.nla_len == NLA_HDRLEN + 4)
			memcpy(&heard[n_heard++ % UR_ARRAY_SIZE(heard)],
			       p + at + NLA_HDRLEN, 4);
	}
	CHECK(at == len);
}

/* Whether it is the answer to the last question. */
static bool check_message(const u8 *p, const struct nlmsghdr *nlh)
{
	u32 head = NLMSG_HDRLEN;
	int err = 0;

	if (nlh->nlmsg_type < NLMSG_MIN_TYPE)
		memcpy(&err, p + head, sizeof(err));
	if (getenv("REPLAY_VERBOSE"))
		fprintf(stderr, "  type 0x%x, %u bytes: %d\n", nlh->nlmsg_type,
			nlh->nlmsg_len, err);
	if (nlh->nlmsg_type == NLMSG_DONE) {
		CHECK_EQ(nlh->nlmsg_len, NLMSG_HDRLEN + 4);
		return false;
	}
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		struct nlmsghdr of;

		CHECK(nlh->nlmsg_len >= 2 * NLMSG_HDRLEN + 4);
		memcpy(&of, p + NLMSG_HDRLEN + 4, sizeof(of));
		CHECK_EQ(of.nlmsg_seq, nlh->nlmsg_seq);
		return nlh->nlmsg_seq == LAST_SEQ && of.nlmsg_flags == 0xa5a5;
	}
	CHECK_EQ(RDMA_NL_GET_CLIENT(nlh->nlmsg_type), RDMA_NL_NLDEV);
	check_attrs(p + head, nlh->nlmsg_len - head);
	return false;
}

static bool check_datagram(const u8 *p, u32 len)
{
	struct nlmsghdr nlh;
	bool last = false;
	u32 at = 0;

	CHECK(len && len <= UR_NL_BYTES);
	for (; at < len; at += NLMSG_ALIGN(nlh.nlmsg_len)) {
		CHECK(len - at >= NLMSG_HDRLEN);
		memcpy(&nlh, p + at, sizeof(nlh));
		CHECK(nlh.nlmsg_len >= NLMSG_HDRLEN &&
		      nlh.nlmsg_len <= len - at);
		last |= check_message(p + at, &nlh);
	}
	return last;
}

static bool take_answer(int flags)
{
	u8 buf[2 * UR_NL_BYTES] __attribute__((aligned(8)));
	ssize_t n;

	/* The fuzzer has a timer. */
	do
		n = recv(sock, buf, sizeof(buf), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		CHECK(flags && errno == EAGAIN);
		return true;
	}
	return check_datagram(buf, (u32)n);
}

/* A datagram that does not fit waits for answers to be read. */
static void send_datagram(const u8 *p, size_t len)
{
	while (send(sock, p, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		CHECK(errno == EAGAIN || errno == EINTR);
		take_answer(MSG_DONTWAIT);
	}
}

/* A question that is refused, so that the answer has its flags; then all
 * answers to what was sent before are there. */
static void hear_out(void)
{
	struct nlmsghdr last = {.nlmsg_len = sizeof(last),
				.nlmsg_type = (u16)RDMA_NL_GET_TYPE(
					RDMA_NL_NLDEV, UR_NLDEV_CMD_MAX),
				.nlmsg_flags = 0xa5a5,
				.nlmsg_seq = LAST_SEQ};

	send_datagram((const u8 *)&last, sizeof(last));
	while (!take_answer(0))
		;
}

/* ---- steps ---- */

static u8 datagram[DATAGRAM_BYTES] __attribute__((aligned(8)));
static u32 datagram_len;

static void add(const void *bytes, u32 len)
{
	u32 padded = (u32)NLMSG_ALIGN(len);

	if (padded > sizeof(datagram) - datagram_len)
		return;
	memset(datagram + datagram_len, 0, padded);
	memcpy(datagram + datagram_len, bytes, len);
	datagram_len += padded;
}

static const char *const texts[] = {"uroce0", "lo",	 "rxe", "uroce",
				    "uverbs", "rdma_cm", "new", "none0"};

/* The value of an attribute, as its kind says; how many bytes of it there are. */
static u32 take_value(struct input *in, u8 kind, u8 *to)
{
	u32 v = take(in);

	switch (kind & 7) {
	case 0: /* a small number */
		memcpy(to, &v, 4);
		return kind & 8 ? 1 : 4;
	case 1: /* the device that is there */
		memcpy(to, &index_made, 4);
		return 4;
	case 2: /* a number that was in an answer */
		memcpy(to, &heard[v % UR_ARRAY_SIZE(heard)], 4);
		return 4;
	case 3:
		strcpy((char *)to, texts[v % UR_ARRAY_SIZE(texts)]);
		return (u32)strlen((char *)to) + 1;
	default:
		take_bytes(in, to, v);
		return v;
	}
}

static void add_attr(struct input *in)
{
	u8 type = take(in), kind = take(in), bytes[512];
	struct nlattr a = {.nla_type = type};
	u32 len = take_value(in, kind, bytes + sizeof(a));

	if (kind & 0x10)
		a.nla_type |= NLA_F_NESTED;
	a.nla_len = (u16)(sizeof(a) + len);
	if (kind & 0x20) /* a lie */
		a.nla_len = take16(in);
	memcpy(bytes, &a, sizeof(a));
	add(bytes, (u32)sizeof(a) + len);
}

static void add_message(struct input *in)
{
	u8 how = take(in), n;
	struct nlmsghdr nlh = {.nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1};
	u32 begin = datagram_len;

	nlh.nlmsg_type =
		(u16)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, (take(in) & 0x3f));
	if (how & 1)
		nlh.nlmsg_flags |= NLM_F_ACK;
	if (how & 2)
		nlh.nlmsg_flags |= NLM_F_DUMP;
	if (how & 4)
		nlh.nlmsg_flags = take16(in);
	if (how & 8)
		nlh.nlmsg_type = take16(in);
	add(&nlh, sizeof(nlh));
	for (n = take(in) % (ATTRS_MAX + 1); n; n--)
		add_attr(in);
	nlh.nlmsg_len = datagram_len - begin;
	if (how & 0x10) /* a lie */
		nlh.nlmsg_len = take16(in);
	if (datagram_len - begin >= sizeof(nlh))
		memcpy(datagram + begin, &nlh, sizeof(nlh));
}

static void flush(void)
{
	/* No length of a datagram is that of a message of the tunnel, unless
	 * it is meant to be one. */
	if (datagram_len)
		send_datagram(datagram, datagram_len);
	datagram_len = 0;
}

static void add_raw(struct input *in)
{
	u8 bytes[256];
	u32 n = take(in);

	take_bytes(in, bytes, n);
	add(bytes, n);
}

static void do_bind(struct input *in)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_BIND};

	msg.bind.port = take(in);
	msg.bind.groups = take(in);
	msg.bind.flags = take(in);
	send_datagram((const u8 *)&msg, sizeof(msg));
}

static void step(struct input *in)
{
	u8 op = take(in);

	switch (op & 7) {
	case 0:
		add_raw(in);
		break;
	case 1:
		flush();
		do_bind(in);
		return;
	case 2: /* the next request wants numbers of the answers */
		flush();
		hear_out();
		return;
	default:
		add_message(in);
	}
	if (!(op & 8))
		flush();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};

	if (!device_world.loop)
		make_world();
	client_connect(take(&in) & 1);
	for (int i = 0; i < STEPS_MAX && in.left; i++)
		step(&in);
	flush();
	hear_out();
	client_close();
	restore();
	device_world_look();
	return 0;
}
