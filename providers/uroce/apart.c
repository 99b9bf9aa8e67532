// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The functions of ur_apart_ops: each sends a message to the engine process and
 * takes its reply. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowed.h"
#include "apart.h"
#include "apart_channels.h"
#include "util/os/high_fd.h"

/* Empty polls between two checks that the engine process exists. */
#define LOOK_POLLS 4096u

/* An object of the engine. The table has several opaque types for it. */
struct ur_apart_thing {
	struct ur_apart *apart;
	u32 number;
	struct ur_apart_channel *channel; /* of a completion queue, or NULL */
};

/* A flow rule. */
struct ur_apart_flow {
	struct ur_apart_thing thing;
	struct ur_list node; /* of the context's rules that count */
	struct uroce_eflow_counts *counts; /* or NULL */
	struct uroce_eflow_counts seen;	   /* is in *counts */
};

static const struct ur_apart_thing *thing(const void *it)
{
	return it;
}

/* Returns the object's number; 0: none. */
static u32 number_of(const void *it)
{
	return it ? thing(it)->number : 0;
}

static struct ur_apart *of(struct uroce_ectx *ctx)
{
	return (struct ur_apart *)(void *)ctx;
}

/* ---- opening ---- */

static int mark_own(struct ur_apart *a)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	a->own = p;
	if (madvise(p, page, MADV_WIPEONFORK) < 0)
		return -errno;
	a->own[0] = a->own[1] = 1;
	return 0;
}

static void free_apart(struct ur_apart *a)
{
	if (a->sock >= 0)
		close(a->sock);
	if (a->rings >= 0)
		close(a->rings);
	if (a->wake >= 0)
		close(a->wake);
	if (a->own)
		munmap((void *)a->own, (size_t)sysconf(_SC_PAGESIZE));
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->flows_lock);
	free(a);
}

static int begin(struct ur_apart *a, struct uroce_ectx_info *info)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_BEGIN};
	int fds[UR_APART_OUT_FDS], err = ur_apart_ask(a, &msg, NULL, 0, fds);

	a->rings = fds[0];
	a->wake = fds[1];
	if (err)
		return err;
	if (a->rings < 0 || a->wake < 0)
		return -EPROTO;
	*info = (struct uroce_ectx_info){
		.fd = a->rings,
		.own = a->own,
		.db_map_off = msg.begun.db_map_off,
		.db_map_len = msg.begun.db_map_len,
		.wake_fd = a->wake,
	};
	return 0;
}

static int apart_open(const struct uroce_engine_open *open, int sock,
		      struct uroce_ectx **ctx, struct uroce_ectx_info *info)
{
	struct ur_apart *a = calloc(1, sizeof(*a));
	struct stat st;
	int err;

	if (!a) {
		close(sock);
		return -ENOMEM;
	}
	ur_high_fds();
	a->sock = ur_high_fd(sock);
	a->rings = a->wake = -1;
	a->pid = getpid();
	if (!fstat(a->sock, &st))
		a->ino = st.st_ino;
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->flows_lock, NULL);
	ur_list_init(&a->channels);
	ur_list_init(&a->flows);
	err = mark_own(a);
	if (!err)
		err = begin(a, info);
	if (err) {
		free_apart(a);
		return err;
	}
	ur_apart_exit_add(a);
	*ctx = (struct uroce_ectx *)(void *)a;
	return 0;
}

/* A child does not end its parent's engine, since its descriptors are
 * copies. */
static void apart_close(struct uroce_ectx *ctx)
{
	ur_apart_exit_del(of(ctx));
	free_apart(of(ctx));
}

/* The objects belong to the parent and its memory, so a child does not get
 * them. */
static int take_over(struct uroce_ectx *ctx, int wait)
{
	if (of(ctx)->pid == getpid())
		return -EIO;
	return of(ctx)->objects ? -ESRCH : -ENOENT;
}

static int set_parent(struct uroce_ectx *ctx, int mem, u32 pid)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_SET_PARENT,
				      .value = pid};

	return ur_apart_ask(of(ctx), &msg, &mem, 1, NULL);
}

/* ---- sockets and memory granted to the engine ---- */

static struct uroce_apart_msg with_gid(u32 op, u32 index, const u8 gid[16])
{
	struct uroce_apart_msg msg = {.op = op, .gid.index = index};

	memcpy(msg.gid.gid, gid, 16);
	return msg;
}

static int has_gid(struct uroce_ectx *ctx, u32 index, const u8 gid[16])
{
	struct uroce_apart_msg msg = with_gid(UROCE_APART_HAS_GID, index, gid);

	return ur_apart_ask(of(ctx), &msg, NULL, 0, NULL) > 0;
}

static int use_gid(struct uroce_ectx *ctx, u32 index, const u8 gid[16], int fd)
{
	struct uroce_apart_msg msg = with_gid(UROCE_APART_USE_GID, index, gid);
	int err = ur_apart_ask(of(ctx), &msg, &fd, fd >= 0, NULL);

	if (!err && fd >= 0)
		close(fd);
	return err;
}

static int has_ring(struct uroce_ectx *ctx, u32 slot)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_HAS_RING,
				      .value = slot};

	return ur_apart_ask(of(ctx), &msg, NULL, 0, NULL) > 0;
}

static int use_ring(struct uroce_ectx *ctx,
		    const struct uroce_engine_ring *ring)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_USE_RING,
				      .ring = *ring};
	const int fds[] = {ring->words_fd, ring->out_fd, ring->in_fd};

	return ur_apart_ask(of(ctx), &msg, fds, 3, NULL);
}

static int set_async(struct uroce_ectx *ctx, int tx, int rx, int liveness)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_SET_ASYNC};
	const int fds[] = {tx, rx, liveness};

	return ur_apart_ask(of(ctx), &msg, fds, liveness < 0 ? 2 : 3, NULL);
}

void ur_apart_set_room(struct uroce_ectx *ctx, bool (*more_room)(void *arg),
		       void *arg)
{
	of(ctx)->more_room = more_room;
	of(ctx)->room_arg = arg;
}

int ur_apart_keeps_claimed(struct uroce_ectx *ctx)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_CLAIMED};

	return ur_apart_ask(of(ctx), &msg, NULL, 0, NULL);
}

/* ---- objects ---- */

/* Sends a message that creates an object, and stores the object in *ret. With the message go a descriptor, or -1, or n
 * numbers. */
static int make_with(struct ur_apart *a, struct uroce_apart_msg *msg, int fd,
		     u32 *more, u32 n, void *ret)
{
	struct ur_apart_thing *it = calloc(1, sizeof(*it));
	int err = !it ? -ENOMEM
		  : n ? ur_apart_ask_more(a, msg, more, n)
		      : ur_apart_ask(a, msg, &fd, fd >= 0, NULL);

	if (err) {
		free(it);
		return err;
	}
	it->apart = a;
	it->number = msg->number;
	__atomic_add_fetch(&a->objects, 1, __ATOMIC_RELAXED);
	memcpy(ret, &it, sizeof(it));
	return 0;
}

static int make(struct ur_apart *a, struct uroce_apart_msg *msg, void *ret)
{
	return make_with(a, msg, -1, NULL, 0, ret);
}

/* Sends a message about an object, with one argument; *msg is the reply. */
static int ask_about(const void *it, u32 op, u32 value,
		     struct uroce_apart_msg *msg)
{
	*msg = (struct uroce_apart_msg){
		.op = op, .number = thing(it)->number, .value = value};
	return ur_apart_ask(thing(it)->apart, msg, NULL, 0, NULL);
}

/* Does the same where the reply says no more than the result. */
static int tell(const void *it, u32 op, u32 value)
{
	struct uroce_apart_msg reply;

	return ask_about(it, op, value, &reply);
}

static void unmake(void *it)
{
	__atomic_sub_fetch(&thing(it)->apart->objects, 1, __ATOMIC_RELAXED);
	free(it);
}

/* Returns whether the object is gone, also by the end of the process. */
static bool is_gone(struct ur_apart *a, int err)
{
	return !err || (err == -EIO && ur_apart_is_dead(a));
}

static int create_cq(struct uroce_ectx *ctx, const struct uroce_ecq_init *in,
		     struct uroce_ecq **ret, struct uroce_create_cq_resp *resp)
{
	struct ur_apart *a = of(ctx);
	struct uroce_apart_msg msg = {.op = UROCE_APART_CREATE_CQ,
				      .cq = {.entries = in->entries,
					     .flags = in->flags,
					     .user_handle = in->user_handle}};
	struct ur_apart_channel *channel;
	struct ur_apart_thing *cq = calloc(1, sizeof(*cq));
	int err = cq ? ur_apart_channel_get(a, in, &channel) : -ENOMEM, fds[2];
	u32 n = 0;

	if (err)
		goto out;
	if (channel)
		n = ur_apart_channel_ends(channel, &msg.cq.channel, fds);
	err = ur_apart_ask(a, &msg, fds, n, NULL);
	ur_apart_channel_given(channel, err);
	if (err)
		goto out;
	*cq = (struct ur_apart_thing){a, msg.number, channel};
	__atomic_add_fetch(&a->objects, 1, __ATOMIC_RELAXED);
	*resp = msg.new_cq;
	memcpy(ret, &cq, sizeof(cq));
	return 0;
out:
	free(cq);
	return err;
}

static int modify_cq(struct uroce_ecq *cq, u16 count, u16 period_us)
{
	return tell(cq, UROCE_APART_MODIFY_CQ, count | (u32)period_us << 16);
}

static int resize_cq(struct uroce_ecq *cq, u32 entries,
		     struct uroce_resize_cq_resp *resp)
{
	struct uroce_apart_msg msg;
	int err = ask_about(cq, UROCE_APART_RESIZE_CQ, entries, &msg);

	if (!err)
		*resp = msg.new_ring;
	return err;
}

static int destroy_cq(struct uroce_ecq *cq, u32 read[2])
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_DESTROY_CQ,
				      .number = thing(cq)->number};
	int fds[UR_APART_OUT_FDS];
	int err = ur_apart_ask(thing(cq)->apart, &msg, NULL, 0, fds);

	if (!is_gone(thing(cq)->apart, err))
		return err;
	read[0] = err ? 0 : msg.read[0];
	read[1] = err ? 0 : msg.read[1];
	ur_apart_channel_put(thing(cq)->channel, fds[0]);
	unmake(cq);
	return 0;
}

static int create_srq(struct uroce_ectx *ctx,
		      const struct uroce_esrq_init *init,
		      struct uroce_esrq **srq,
		      struct uroce_create_srq_resp *resp)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_CREATE_SRQ,
				      .value = number_of(init->cq),
				      .srq = *init};
	int err;

	msg.srq.cq = NULL;
	err = make(of(ctx), &msg, srq);

	if (!err)
		*resp = msg.new_srq;
	return err;
}

static int resize_srq(struct uroce_esrq *srq, u32 max_wr,
		      struct uroce_create_srq_resp *resp)
{
	struct uroce_apart_msg msg;
	int err = ask_about(srq, UROCE_APART_RESIZE_SRQ, max_wr, &msg);

	if (!err)
		*resp = msg.new_srq;
	return err;
}

static int limit_srq(struct uroce_esrq *srq, u32 limit)
{
	return tell(srq, UROCE_APART_LIMIT_SRQ, limit);
}

static u32 query_srq(struct uroce_esrq *srq)
{
	struct uroce_apart_msg msg;

	return ask_about(srq, UROCE_APART_QUERY_SRQ, 0, &msg) ? 0 : msg.value;
}

/* Destroys a queue pair or a shared receive queue. */
static int destroy(void *it, u32 op, u32 *read)
{
	struct uroce_apart_msg msg;
	int err = ask_about(it, op, 0, &msg);

	if (!is_gone(thing(it)->apart, err))
		return err;
	*read = err ? 0 : msg.read[0];
	unmake(it);
	return 0;
}

static int destroy_srq(struct uroce_esrq *srq, u32 *read)
{
	return destroy(srq, UROCE_APART_DESTROY_SRQ, read);
}

static int create_ah(struct uroce_ectx *ctx, u32 pdn,
		     const struct uroce_engine_path *path,
		     struct uroce_eah **ah, u32 *number)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_CREATE_AH,
				      .ah = {.path = *path, .pdn = pdn}};
	int err = make(of(ctx), &msg, ah);

	if (!err)
		*number = msg.value;
	return err;
}

static void destroy_ah(struct uroce_eah *ah)
{
	tell(ah, UROCE_APART_DESTROY_AH, 0);
	unmake(ah);
}

/* Puts what a queue pair spreads over into the message, and the numbers of its work queues into wq. */
static void spread(const struct uroce_eqp_rss *rss, struct uroce_apart_qp *to,
		   u32 *wq)
{
	to->n_wqs = rss->size;
	to->rss_fields = rss->fields;
	memcpy(to->rss_key, rss->key, sizeof(to->rss_key));
	for (u32 i = 0; i < rss->size; i++)
		wq[i] = number_of(rss->wq[i]);
}

static int create_qp(struct uroce_ectx *ctx, const struct uroce_eqp_init *init,
		     struct uroce_eqp **qp, struct uroce_create_qp_resp *resp)
{
	struct uroce_apart_msg msg = {
		.op = UROCE_APART_CREATE_QP,
		.qp = {.init = *init,
		       .send_cq = number_of(init->send_cq),
		       .recv_cq = number_of(init->recv_cq),
		       .srq = number_of(init->srq)}};
	u32 wq[UROCE_APART_WQS];
	int err;

	if (init->rss && init->rss->size > UROCE_APART_WQS)
		return -EINVAL;
	if (init->rss)
		spread(init->rss, &msg.qp, wq);
	err = make_with(of(ctx), &msg, -1, wq, msg.qp.n_wqs, qp);
	if (!err)
		*resp = msg.new_qp;
	return err;
}

static int open_qp(struct uroce_ectx *ctx, const struct uroce_eqp_init *init,
		   struct uroce_eqp **qp)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_OPEN_QP,
				      .qp.init = *init};

	return make(of(ctx), &msg, qp);
}

static int modify_by(struct uroce_eqp *qp, u32 op,
		     const struct uroce_engine_qp *attr, u32 mask)
{
	struct uroce_apart_msg msg = {.op = op,
				      .number = thing(qp)->number,
				      .modify = {.attr = *attr, .mask = mask}};

	return ur_apart_ask(thing(qp)->apart, &msg, NULL, 0, NULL);
}

static int may_modify_qp(struct uroce_eqp *qp,
			 const struct uroce_engine_qp *attr, u32 mask)
{
	return modify_by(qp, UROCE_APART_MAY_MODIFY_QP, attr, mask);
}

static int modify_qp(struct uroce_eqp *qp, const struct uroce_engine_qp *attr,
		     u32 mask)
{
	return modify_by(qp, UROCE_APART_MODIFY_QP, attr, mask);
}

static void query_qp(struct uroce_eqp *qp, struct uroce_engine_qp *attr)
{
	struct uroce_apart_msg msg;

	if (!ask_about(qp, UROCE_APART_QUERY_QP, 0, &msg))
		*attr = msg.now;
	else
		*attr = (struct uroce_engine_qp){.state = IBV_QPS_ERR};
}

static int mcast(struct uroce_eqp *qp, const u8 gid[16], u32 attach)
{
	struct uroce_apart_msg msg = with_gid(UROCE_APART_MCAST, attach, gid);

	msg.number = thing(qp)->number;
	return ur_apart_ask(thing(qp)->apart, &msg, NULL, 0, NULL);
}

static int destroy_qp(struct uroce_eqp *qp, u32 *read)
{
	return destroy(qp, UROCE_APART_DESTROY_QP, read);
}

/* ---- raw packets ---- */

#if UROCE_WITH_RAW_PACKET
static int has_raw(struct uroce_ectx *ctx)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_HAS_RAW};

	return ur_apart_ask(of(ctx), &msg, NULL, 0, NULL) > 0;
}

static int use_raw(struct uroce_ectx *ctx, const struct uroce_engine_raw *raw)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_USE_RAW};

	return ur_apart_ask(of(ctx), &msg, raw->fd, UR_ARRAY_SIZE(raw->fd),
			    NULL);
}

static int modify_wq(struct uroce_eqp *wq, u32 state)
{
	return tell(wq, UROCE_APART_MODIFY_WQ, state);
}

static int create_flow(struct uroce_eqp *qp,
		       const struct uroce_engine_flow *init,
		       struct uroce_eflow_counts *counts,
		       struct uroce_eflow **ret)
{
	struct ur_apart *a = thing(qp)->apart;
	struct uroce_apart_msg msg = {.op = UROCE_APART_CREATE_FLOW,
				      .number = thing(qp)->number,
				      .flow = *init};
	struct ur_apart_flow *flow = calloc(1, sizeof(*flow));
	int err = flow ? ur_apart_ask(a, &msg, NULL, 0, NULL) : -ENOMEM;

	if (err) {
		free(flow);
		return err;
	}
	*flow = (struct ur_apart_flow){.thing = {a, msg.number, NULL},
				       .counts = counts};
	__atomic_add_fetch(&a->objects, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&a->flows_lock);
	if (counts)
		ur_list_add_tail(&a->flows, &flow->node);
	pthread_mutex_unlock(&a->flows_lock);
	memcpy(ret, &flow, sizeof(flow));
	return 0;
}

/* Adds to the rule's counters what it has counted since. Lock held. */
static void count(struct ur_apart_flow *flow, u32 op)
{
	struct uroce_apart_msg msg;

	if (ask_about(flow, op, 0, &msg) || !flow->counts)
		return;
	__atomic_add_fetch(&flow->counts->packets,
			   msg.counts.packets - flow->seen.packets,
			   __ATOMIC_RELAXED);
	__atomic_add_fetch(&flow->counts->bytes,
			   msg.counts.bytes - flow->seen.bytes,
			   __ATOMIC_RELAXED);
	flow->seen = msg.counts;
}

static void destroy_flow(struct uroce_eflow *it)
{
	struct ur_apart_flow *flow = (struct ur_apart_flow *)(void *)it;
	struct ur_apart *a = flow->thing.apart;

	pthread_mutex_lock(&a->flows_lock);
	count(flow, UROCE_APART_DESTROY_FLOW);
	if (flow->counts)
		ur_list_del(&flow->node);
	pthread_mutex_unlock(&a->flows_lock);
	unmake(flow);
}

void ur_apart_update_counts(struct uroce_ectx *ctx,
			    const struct uroce_eflow_counts *counts)
{
	struct ur_apart *a = of(ctx);

	if (ur_apart_is_parents(a))
		return;
	pthread_mutex_lock(&a->flows_lock);
	ur_list_for_each(it, &a->flows) {
		struct ur_apart_flow *flow =
			ur_list_entry(it, struct ur_apart_flow, node);

		if (flow->counts == counts)
			count(flow, UROCE_APART_READ_FLOW);
	}
	pthread_mutex_unlock(&a->flows_lock);
}
#endif

/* ---- regions and windows ---- */

static int reg_mr(struct uroce_ectx *ctx, const struct uroce_emr_init *init,
		  struct uroce_emr **mr)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_REG_MR,
				      .mr.init = *init};

	return make_with(of(ctx), &msg,
			 init->flags & UROCE_EMR_FILE ? init->dmabuf : -1, NULL,
			 0, mr);
}

static int rereg_mr(struct uroce_emr *mr, u32 flags,
		    const struct uroce_emr_init *init)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_REREG_MR,
				      .number = thing(mr)->number,
				      .mr = {.init = *init, .flags = flags}};

	return ur_apart_ask(thing(mr)->apart, &msg, NULL, 0, NULL);
}

static int dereg_mr(struct uroce_emr *mr)
{
	int err = tell(mr, UROCE_APART_DEREG_MR, 0);

	if (!is_gone(thing(mr)->apart, err))
		return err;
	unmake(mr);
	return 0;
}

static int alloc_mw(struct uroce_ectx *ctx, u32 pdn, u32 type, u32 rkey,
		    struct uroce_emw **mw)
{
	struct uroce_apart_msg msg = {
		.op = UROCE_APART_ALLOC_MW,
		.mw = {.pdn = pdn, .type = type, .rkey = rkey}};

	return make(of(ctx), &msg, mw);
}

static void dealloc_mw(struct uroce_emw *mw)
{
	tell(mw, UROCE_APART_DEALLOC_MW, 0);
	unmake(mw);
}

/* The engine process has a thread for this. */
static void nothing(struct uroce_ectx *ctx)
{
}

static void look(struct uroce_ectx *ctx)
{
	struct ur_apart *a = of(ctx);
	int error = errno;

	if (__atomic_add_fetch(&a->vain, 1, __ATOMIC_RELAXED) % LOOK_POLLS ||
	    !*a->own || !ur_calls_allowed())
		return;
	if (!ur_apart_is_there(a)) {
		__atomic_store_n(&a->dead, true, __ATOMIC_RELAXED);
		*a->own = 0;
	}
	errno = error;
}

const struct uroce_engine_ops ur_apart_ops = {
	.version = UROCE_ENGINE_OPS_VERSION,
	.open = apart_open,
	.close = apart_close,
	.take_over = take_over,
	.set_parent = set_parent,
	.has_gid = has_gid,
	.use_gid = use_gid,
	.has_ring = has_ring,
	.use_ring = use_ring,
	.set_async = set_async,
	.create_cq = create_cq,
	.modify_cq = modify_cq,
	.resize_cq = resize_cq,
	.destroy_cq = destroy_cq,
	.create_srq = create_srq,
	.resize_srq = resize_srq,
	.limit_srq = limit_srq,
	.query_srq = query_srq,
	.destroy_srq = destroy_srq,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
	.create_qp = create_qp,
	.open_qp = open_qp,
	.may_modify_qp = may_modify_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.mcast = mcast,
	.destroy_qp = destroy_qp,
#if UROCE_WITH_RAW_PACKET
	.has_raw = has_raw,
	.use_raw = use_raw,
	.modify_wq = modify_wq,
	.create_flow = create_flow,
	.destroy_flow = destroy_flow,
#endif
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,
	.posted = nothing,
	.datagram = nothing,
	.armed = nothing,
	.poll = look,
};
