// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine process: two contexts of one uverbs file and one of another, whose programs send what they like, and
 * uroced, which tells of regions that programs do not have. The threads of the contexts serve them, and the engine
 * behind is apart_ops.c.
 *
 * Input: a byte of options, then steps: see step(). A message is right but for what its patches change.
 *
 * The door checks that a context has its own objects and its file's domains alone, and that values are within the
 * engine's bounds. Answers carry the context's own descriptors. After the input all is given back: objects, charges,
 * engines and descriptors.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include "device/apart/apart.h"
#include "tests/check.h"
#include "tests/fuzz/apart_ops.h"
#include "tests/fuzz/input.h"
#include "util/os/scm.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
void __real_ur_apart_destroy_all(struct ur_apart_client *client);
void __wrap_ur_apart_destroy_all(struct ur_apart_client *client);

#define STEPS	  256u
#define INPUT_MAX 8192u
#define LISTED	  4u
#define QPN	  (APART_SLOT << 19 | 77)
/* Options: contexts that have an engine of their own, or no number of a file. */
#define OWN_ENGINE(i) (1u << (i))
#define NO_NUMBER     (1u << 3)

enum { MEMORY, SEALED, UNSEALED, SOCKET, PACKETS, DESCRIPTORS };

static struct apart_world *const w = &apart_world;
static int descriptors[DESCRIPTORS], socks[APART_CONTEXTS];
static u64 files; /* without a number, so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static u32 contexts;

/* ---- contexts ---- */

static void ended(void)
{
	pthread_mutex_lock(&lock);
	contexts--;
	pthread_cond_signal(&fewer);
	pthread_mutex_unlock(&lock);
}

void __wrap_ur_apart_destroy_all(struct ur_apart_client *c)
{
	CHECK(c->kib <= c->max_kib);
	w->fails = 0;
	__real_ur_apart_destroy_all(c);
	CHECK_EQ(c->kib, 0);
}

/* Waits until the context's thread has ended. */
static void hang_up(u32 i)
{
	u32 left = 0;

	if (socks[i] < 0)
		return;
	w->serving = i;
	close(socks[i]);
	socks[i] = -1;
	for (u32 k = 0; k < APART_CONTEXTS; k++)
		left += socks[k] >= 0;
	pthread_mutex_lock(&lock);
	while (contexts != left)
		pthread_cond_wait(&fewer, &lock);
	pthread_mutex_unlock(&lock);
	CHECK(!w->ectxs[i]);
}

static struct uroce_emr_init region(u32 key)
{
	return (struct uroce_emr_init){
		.key = key, .pdn = 1, .addr = 4096, .length = 4096};
}

/* Writes over some bytes of a message. */
static void patch(struct input *in, void *at, size_t size)
{
	for (u32 n = take(in) & 7; n; n--) {
		u32 where = take(in), len = 1 + (take(in) & 7);

		if (where + len <= size)
			take_bytes(in, (u8 *)at + where, len);
	}
}

static int listed_file(struct input *in)
{
	struct uroce_emr_init listed[LISTED];
	int fd = memfd_create("listed", MFD_CLOEXEC);

	for (u32 i = 0; i < LISTED; i++)
		listed[i] = region(1 + i);
	patch(in, listed, sizeof(listed));
	CHECK_EQ(write(fd, listed, sizeof(listed)), sizeof(listed));
	return fd;
}

static void begin(struct input *in, u32 i, u8 options)
{
	struct uroce_apart_context context = {
		.version = UROCE_APART_VERSION,
		.pid = getpid(),
		.engine = !(options & OWN_ENGINE(i)),
		.ring_bytes = 1 << 20,
		.listed = take(in),
		.file = (options & NO_NUMBER) ? 0
			: i < 2		      ? 5
					      : 6,
		.open.slot = APART_SLOT,
	};
	int fds[UROCE_APART_FDS], pair[2];
	u32 has = take(in), kib;

	if (socks[i] >= 0)
		return;
	kib = take(in);
	/* The most is enough for packet sockets. */
	context.object_bytes = kib == 255 ? 2u << 20 : (u64)(1 + kib) << 10;
	memset(fds, -1, sizeof(fds));
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	fds[UROCE_APART_SOCKET] = pair[0];
	for (u32 k = 1; k < UROCE_APART_LISTED; k++)
		if (!(has >> (k & 7) & 1))
			fds[k] = fcntl(descriptors[MEMORY], F_DUPFD_CLOEXEC, 0);
	if (context.listed)
		fds[UROCE_APART_LISTED] = listed_file(in);
	socks[i] = pair[1];
	w->serving = i;
	w->file[i] =
		context.engine ? context.file ? context.file : ++files + 6 : 0;
	pthread_mutex_lock(&lock);
	contexts++;
	pthread_mutex_unlock(&lock);
	if (!ur_apart_begin(&apart_ops, &context, fds, ended))
		return;
	close(socks[i]);
	socks[i] = -1;
	ended();
	CHECK(!w->ectxs[i]);
}

/* ---- messages ---- */

/* A raw packet queue pair, a work queue, or a queue pair that spreads frames over some. */
static void raw(struct uroce_call_qp *qp, u8 what, u32 cq, u8 n_wqs)
{
	qp->init.type = IB_UVERBS_QPT_RAW_PACKET;
	qp->init.pdn = what & 0x1f;
	qp->init.wq = what >> 6 & 1;
	qp->send_cq = what & 0x60 ? 0 : cq;
	qp->recv_cq = what & 0x20 ? 0 : cq;
	qp->srq = 0;
	qp->n_wqs = what & 0x20 ? n_wqs : 0;
}

static void draft(struct input *in, struct uroce_call_msg *m)
{
	u8 a = take(in), b = take(in), c = take(in);

	m->number = a;
	m->value = b;
	switch (m->op) {
	case UROCE_CALL_CREATE_CQ:
		m->cq.entries = 1 + a;
		m->cq.channel = b;
		break;
	case UROCE_CALL_CREATE_SRQ:
		m->srq.max_wr = 1;
		m->srq.pdn = c;
		m->srq.xrcdn = m->srq.srqn = m->value;
		break;
	case UROCE_CALL_CREATE_AH:
		m->ah.pdn = c;
		break;
	case UROCE_CALL_CREATE_QP:
	case UROCE_CALL_OPEN_QP:
		m->qp.send_cq = a;
		m->qp.recv_cq = a;
		m->qp.srq = b;
		m->qp.init.qpn = QPN;
		m->qp.init.type = c & 1 ? IB_UVERBS_QPT_UD : IB_UVERBS_QPT_RC;
		m->qp.init.pdn = c;
		if (c & 0x80)
			raw(&m->qp, c, a, b);
		break;
	case UROCE_CALL_CREATE_FLOW:
		m->flow.type = b & 7;
		break;
	case UROCE_CALL_MCAST:
		m->gid.index = b;
		memcpy(m->gid.gid, (u8[]){0xff, c}, 2);
		break;
	case UROCE_CALL_REG_MR:
	case UROCE_CALL_REREG_MR:
		m->mr.init = region(b);
		m->mr.init.pdn = c;
		break;
	case UROCE_CALL_ALLOC_MW:
		m->mw.pdn = c;
		m->mw.type = 1 + (b & 1);
		break;
	}
}

/* Returns how many descriptors go with it. */
static u32 choose(struct input *in, int *fds)
{
	u8 what = take(in);
	u32 n = what & 7;

	for (u32 i = 0; i < n; i++)
		fds[i] =
			descriptors[((what >> 3 & 15) + (what & 0x80 ? 0 : i)) %
				    DESCRIPTORS];
	return n;
}

/* What was answered is the context's own. */
static void check_answer(u32 i, const struct uroce_call_msg *m,
			 const struct uroce_call_msg *reply, const int *fds,
			 u32 n)
{
	CHECK_EQ(reply->op, m->op);
	CHECK(reply->ret <= 1);
	if (m->op == UROCE_CALL_BEGIN && !reply->ret) {
		CHECK_EQ(n, 2);
		CHECK(apart_ops_is_rings(i, fds[0]));
		CHECK(apart_ops_is_wake(i, fds[1]));
	} else if (n) {
		CHECK(m->op == UROCE_CALL_DESTROY_CQ && n == 1);
		CHECK(apart_ops_is_wake(i, fds[0]));
	}
	if (m->op == UROCE_CALL_READ_FLOW && !reply->ret)
		CHECK_EQ(reply->counts.packets, i);
	if (m->op == UROCE_CALL_QUERY_QP && !reply->ret)
		CHECK_EQ(reply->now.qkey, i);
}

/* Waits for the answer. Returns whether the context goes on. */
static bool answered(u32 i, const struct uroce_call_msg *m)
{
	struct uroce_call_msg reply;
	struct iovec iov = {.iov_base = &reply, .iov_len = sizeof(reply)};
	union ur_scm scm;
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	int fds[UR_SCM_MAX];
	ssize_t got = recvmsg(socks[i], &mh, MSG_CMSG_CLOEXEC);
	u32 n;

	if (got <= 0)
		return false;
	CHECK_EQ(got, sizeof(reply));
	n = ur_scm_take(&mh, fds, UR_SCM_MAX, close);
	check_answer(i, m, &reply, fds, n);
	while (n)
		close(fds[--n]);
	return true;
}

static void message(struct input *in, u32 i)
{
	struct {
		struct uroce_call_msg m;
		u32 wq[UROCE_CALL_WQS];
		u8 beyond[64];
	} msg = {.m.op = take(in) % (UROCE_CALL_OPS + 1)};
	const size_t least = sizeof(msg.m), most = least + sizeof(msg.wq);
	struct iovec iov = {.iov_base = &msg, .iov_len = sizeof(msg.m)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[UR_SCM_MAX];
	union ur_scm scm;
	u32 n = choose(in, fds);
	bool right;

	draft(in, &msg.m);
	patch(in, &msg.m, sizeof(msg.m));
	if (msg.m.op == UROCE_CALL_CREATE_QP &&
	    msg.m.qp.n_wqs <= UROCE_CALL_WQS) {
		iov.iov_len += msg.m.qp.n_wqs * sizeof(msg.wq[0]);
		for (u32 k = 0; k < msg.m.qp.n_wqs; k++)
			msg.wq[k] = take(in);
	}
	if (n > 5) {
		iov.iov_len = take16(in) % sizeof(msg);
		n -= 5;
	}
	right = iov.iov_len >= least && iov.iov_len <= most &&
		!(iov.iov_len % 4) && n <= UROCE_CALL_FDS;
	ur_scm_put(&mh, &scm, fds, n);
	w->serving = i;
	CHECK_EQ(sendmsg(socks[i], &mh, MSG_NOSIGNAL), iov.iov_len);
	if (answered(i, &msg.m))
		return;
	/* A context ends by a message of another length alone. */
	CHECK(!right);
	hang_up(i);
}

/* ---- steps ---- */

static void step(struct input *in, u8 options)
{
	u8 what = take(in);
	u32 i = what % APART_CONTEXTS;

	switch (what / APART_CONTEXTS % 16) {
	case 0:
		hang_up(i);
		break;
	case 1:
		begin(in, i, options);
		break;
	case 2:
		apart_ops_bind(i, take(in));
		break;
	case 3:
		w->fails = take(in);
		break;
	case 4:
		ur_apart_engine_done(take(in) & 1);
		break;
	default:
		if (socks[i] >= 0)
			message(in, i);
	}
}

static u32 count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* One thread at a time has something to do, and one processor hands over soonest. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((unsigned int)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int pair[2];

	stay_here();
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	descriptors[SOCKET] = pair[0];
	descriptors[MEMORY] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	descriptors[SEALED] =
		memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(!fcntl(descriptors[SEALED], F_ADD_SEALS, F_SEAL_SHRINK));
	descriptors[UNSEALED] =
		memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Who may not have one has none that is taken for one. */
	descriptors[PACKETS] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (descriptors[PACKETS] < 0)
		descriptors[PACKETS] = pair[1];
	for (u32 i = 0; i < DESCRIPTORS; i++)
		CHECK(descriptors[i] >= 0);
	memset(socks, -1, sizeof(socks));
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};
	u32 before = count_descriptors();
	u8 options;

	if (!size || size > INPUT_MAX)
		return 0;
	w->fails = 0;
	options = take(&in);
	for (u32 n = 0; n < STEPS && in.left; n++)
		step(&in, options);
	for (u32 i = 0; i < APART_CONTEXTS; i++)
		hang_up(i);
	ur_apart_engine_done(0);
	CHECK_EQ(w->homes, 0);
	CHECK_EQ(w->objects, 0);
	CHECK_EQ(count_descriptors(), before);
	return 0;
}
