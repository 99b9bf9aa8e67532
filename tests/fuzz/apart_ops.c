// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The door of fuzz_apart. */
#include "tests/fuzz/apart_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "device/apart/apart.h"
#include "engine/ground/limits.h"
#include "engine/slots.h"
#include "kernel-abi/uroce-apart.h"
#include "tests/check.h"
#include "util/list.h"

#define DOMAINS 8192u
#define GROUPS	8u

struct apart_world apart_world;
static struct apart_world *const w = &apart_world;

struct uroce_home {
	u32 contexts;
	u64 owner
		[DOMAINS]; /* of each domain: the file, if the engine is shared */
};

struct uroce_ectx {
	struct uroce_home *home;
	u32 context;
	int rings, wake, sender;
	bool parent, raw;
	struct ur_list objects;
};

enum kind { CQ = 1, SRQ, AH, QP, MR, MW, WQ, FLOW };

struct object {
	struct uroce_ectx *ctx;
	struct ur_list node;
	enum kind kind;
	u32 users;
	struct object *uses[3];
	bool channel, datagrams, raw;
	struct object *wq[UROCE_APART_WQS];
	u32 n_wqs;
	u8 groups[GROUPS][16];
	u32 n_groups;
};

/* ---- the contract ---- */

static int result(void)
{
	static const int errors[] = {-ENOMEM, -EBUSY, -EEXIST, -EINVAL};
	u32 fails = w->fails;

	w->fails = 0;
	return fails ? errors[fails % UR_ARRAY_SIZE(errors)] : 0;
}

static void check_ectx(const struct uroce_ectx *g)
{
	CHECK(g && g == w->ectxs[w->serving]);
}

/* An object of the context, which is there and of that kind. */
static struct object *of(const void *p, enum kind kind)
{
	struct object *o = (void *)(uintptr_t)p;

	CHECK(o && o->kind == kind);
	check_ectx(o->ctx);
	return o;
}

static struct object *or_none(const void *p, enum kind kind)
{
	return p ? of(p, kind) : NULL;
}

/* The engine's number of a domain is of one file. */
static void check_domain(const struct uroce_ectx *g, u32 pdn)
{
	u64 file = w->file[g->context];

	if (!file || !pdn)
		return;
	CHECK(pdn < DOMAINS);
	if (!g->home->owner[pdn])
		g->home->owner[pdn] = file;
	CHECK_EQ(g->home->owner[pdn], file);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int add(struct uroce_ectx *g, enum kind kind, struct object *a,
	       struct object *b, struct object *c, void *ret)
{
	int err = result();
	struct object *o;

	check_ectx(g);
	if (err)
		return err;
	o = calloc(1, sizeof(*o));
	CHECK(o);
	*o = (struct object){.ctx = g, .kind = kind, .uses = {a, b, c}};
	for (u32 i = 0; i < 3; i++)
		if (o->uses[i])
			o->uses[i]->users++;
	ur_list_add_tail(&g->objects, &o->node);
	w->objects++;
	memcpy(ret, &o, sizeof(o));
	return 0;
}

static void del(struct object *o)
{
	for (u32 i = 0; i < 3; i++)
		if (o->uses[i])
			o->uses[i]->users--;
	ur_list_del(&o->node);
	w->objects--;
	free(o);
}

static int destroy(void *p, enum kind kind)
{
	struct object *o = of(p, kind);
	int err = o->users || o->n_groups ? -EBUSY : result();

	if (!err)
		del(o);
	return err;
}

/* ---- engines and contexts ---- */

static int make_home(const struct uroce_engine_open *open, const int *v1,
		     u32 isolated, int file, struct uroce_home **home)
{
	int err = result();

	CHECK(is_open(file));
	if (err)
		return err;
	*home = calloc(1, sizeof(**home));
	CHECK(*home);
	w->homes++;
	return 0;
}

static void end_home(struct uroce_home *home)
{
	CHECK(!home->contexts);
	w->homes--;
	free(home);
}

/* The wake-up is a file as well, since all eventfds have one inode. */
static int open_apart(struct uroce_home *home,
		      const struct uroce_ectx_client *client,
		      struct uroce_ectx **ret, struct uroce_ectx_info *info)
{
	struct uroce_ectx *g;
	int err = result();

	if (client->mem >= 0)
		CHECK(!close(client->mem));
	if (client->maps >= 0)
		CHECK(!close(client->maps));
	if (err)
		return err;
	g = calloc(1, sizeof(*g));
	CHECK(g && !w->ectxs[w->serving]);
	*g = (struct uroce_ectx){.home = home,
				 .context = w->serving,
				 .rings = memfd_create("rings", MFD_CLOEXEC),
				 .wake = memfd_create("wake", MFD_CLOEXEC),
				 .sender = -1};
	CHECK(g->rings >= 0 && g->wake >= 0);
	ur_list_init(&g->objects);
	home->contexts++;
	w->ectxs[w->serving] = *ret = g;
	*info = (struct uroce_ectx_info){
		.fd = g->rings, .wake_fd = g->wake, .db_map_len = 4096};
	return 0;
}

static void close_ectx(struct uroce_ectx *g)
{
	check_ectx(g);
	CHECK(ur_list_empty(&g->objects));
	close(g->rings);
	close(g->wake);
	if (g->sender >= 0)
		close(g->sender);
	g->home->contexts--;
	w->ectxs[g->context] = NULL;
	free(g);
}

static int left_sender(struct uroce_ectx *g)
{
	int fd = g->sender;

	check_ectx(g);
	g->sender = -1;
	return fd;
}

static void drain(struct uroce_ectx *g)
{
	check_ectx(g);
}

static int set_parent(struct uroce_ectx *g, int mem, u32 pid)
{
	check_ectx(g);
	CHECK(is_open(mem));
	if (g->parent)
		return -EALREADY;
	g->parent = true;
	return 0;
}

static int set_async(struct uroce_ectx *g, int tx, int rx, int liveness)
{
	check_ectx(g);
	return is_open(tx) && is_open(rx) ? result() : -EBADF;
}

static int has_gid(struct uroce_ectx *g, u32 index, const u8 gid[16])
{
	check_ectx(g);
	CHECK(index < 1024);
	return gid[15] & 1;
}

static int use_gid(struct uroce_ectx *g, u32 index, const u8 gid[16], int fd)
{
	int err = result();

	check_ectx(g);
	CHECK(index < 1024 && (fd == -1 || is_open(fd)));
	if (!err && fd >= 0)
		close(fd);
	return err;
}

static int has_ring(struct uroce_ectx *g, u32 slot)
{
	check_ectx(g);
	CHECK(slot < UR_SLOTS);
	return slot & 1;
}

static int use_ring(struct uroce_ectx *g, const struct uroce_engine_ring *ring)
{
	const int fds[] = {ring->words_fd, ring->out_fd, ring->in_fd};

	check_ectx(g);
	CHECK(ring->slot < UR_SLOTS);
	for (u32 i = 0; i < 3; i++)
		CHECK(fcntl(fds[i], F_GET_SEALS) & F_SEAL_SHRINK);
	return result();
}

/* ---- queues ---- */

static int create_cq(struct uroce_ectx *g, const struct uroce_ecq_init *in,
		     struct uroce_ecq **cq, struct uroce_create_cq_resp *resp)
{
	int err;

	CHECK(in->entries && in->entries <= UR_MAX_CQE);
	CHECK(!(in->flags & ~(UROCE_ECQ_IGNORE_OVERRUN | UROCE_ECQ_STAMPED)));
	if (in->channel && (!is_open(in->tx) || !is_open(in->rx)))
		return -ENOENT;
	err = add(g, CQ, NULL, NULL, NULL, cq);
	if (!err)
		of(*cq, CQ)->channel = in->channel;
	return err;
}

static int modify_cq(struct uroce_ecq *cq, u16 count, u16 period_us)
{
	of(cq, CQ);
	return result();
}

static int resize_cq(struct uroce_ecq *cq, u32 entries,
		     struct uroce_resize_cq_resp *resp)
{
	of(cq, CQ);
	return result();
}

static int destroy_cq(struct uroce_ecq *cq, u32 read[2])
{
	struct uroce_ectx *g = of(cq, CQ)->ctx;
	bool channel = of(cq, CQ)->channel;
	int err = destroy(cq, CQ);

	if (err || !channel)
		return err;
	if (g->sender >= 0)
		close(g->sender);
	g->sender = fcntl(g->wake, F_DUPFD_CLOEXEC, 0);
	CHECK(g->sender >= 0);
	return 0;
}

static int create_srq(struct uroce_ectx *g, const struct uroce_esrq_init *in,
		      struct uroce_esrq **srq,
		      struct uroce_create_srq_resp *resp)
{
	struct object *cq = or_none(in->cq, CQ);

	check_domain(g, in->pdn);
	CHECK(!cq == !in->xrcdn && !cq == !in->srqn && in->srqn < 1u << 24);
	CHECK(in->max_wr && in->max_wr <= UR_MAX_SRQ_WR);
	CHECK(in->max_sge <= UR_MAX_SGE_COUNT);
	return add(g, SRQ, cq, NULL, NULL, srq);
}

static int resize_srq(struct uroce_esrq *srq, u32 max_wr,
		      struct uroce_create_srq_resp *resp)
{
	of(srq, SRQ);
	return result();
}

static int limit_srq(struct uroce_esrq *srq, u32 limit)
{
	of(srq, SRQ);
	return result();
}

static u32 query_srq(struct uroce_esrq *srq)
{
	of(srq, SRQ);
	return 1;
}

static int destroy_srq(struct uroce_esrq *srq, u32 *read)
{
	return destroy(srq, SRQ);
}

static int create_ah(struct uroce_ectx *g, u32 pdn,
		     const struct uroce_engine_path *path,
		     struct uroce_eah **ah, u32 *number)
{
	check_domain(g, pdn);
	CHECK(path->sgid_index < 1024 && path->flow_label < 1u << 20 &&
	      path->sl < 16);
	return add(g, AH, NULL, NULL, NULL, ah);
}

static void destroy_ah(struct uroce_eah *ah)
{
	del(of(ah, AH));
}

static void check_sizes(const struct uroce_eqp_init *in)
{
	CHECK(in->qpn < 1u << 24 && ur_slot_of(in->qpn) == APART_SLOT);
	CHECK(in->max_send_wr <= UR_MAX_QP_WR &&
	      in->max_recv_wr <= UR_MAX_QP_WR &&
	      in->max_send_sge <= UR_MAX_SGE_COUNT &&
	      in->max_recv_sge <= UR_MAX_SGE_COUNT &&
	      in->max_inline <= UR_MAX_INLINE);
}

static void check_rss(const struct uroce_eqp_rss *rss)
{
	CHECK(rss->size && rss->size <= UROCE_APART_WQS &&
	      !(rss->size & (rss->size - 1)));
	for (u32 i = 0; i < rss->size; i++)
		of(rss->wq[i], WQ);
}

/* A queue that is not empty has where it completes. */
static int create_raw(struct uroce_ectx *g, const struct uroce_eqp_init *in,
		      struct uroce_eqp **qp)
{
	struct object *send = or_none(in->send_cq, CQ),
		      *recv = or_none(in->recv_cq, CQ),
		      *srq = or_none(in->srq, SRQ), *o;
	int err;

	check_domain(g, in->pdn);
	check_sizes(in);
	CHECK(!in->xrcdn && (recv || (!in->max_recv_wr && !srq && in->rss)));
	CHECK(send || (!in->max_send_wr && (in->rss || in->wq)));
	CHECK(!in->wq || (!send && !srq && !in->rss));
	if (in->rss)
		check_rss(in->rss);
	err = add(g, in->wq ? WQ : QP, send, recv, srq, qp);
	if (err)
		return err;
	o = of(*qp, in->wq ? WQ : QP);
	o->raw = !in->wq;
	for (u32 i = 0; in->rss && i < in->rss->size; i++) {
		o->wq[o->n_wqs++] = of(in->rss->wq[i], WQ);
		o->wq[i]->users++;
	}
	return 0;
}

static int create_qp(struct uroce_ectx *g, const struct uroce_eqp_init *in,
		     struct uroce_eqp **qp, struct uroce_create_qp_resp *resp)
{
	if (in->type == IB_UVERBS_QPT_RAW_PACKET)
		return create_raw(g, in, qp);
	struct object *send = or_none(in->send_cq, CQ),
		      *recv = or_none(in->recv_cq, CQ),
		      *srq = or_none(in->srq, SRQ);
	bool target = in->type == IB_UVERBS_QPT_XRC_TGT;
	int err;

	check_domain(g, in->pdn);
	CHECK(!in->rss && !in->wq && target == !!in->xrcdn && target == !send);
	check_sizes(in);
	CHECK(!target || (!recv && !srq && !in->pdn));
	CHECK(in->type == IB_UVERBS_QPT_RC || in->type == IB_UVERBS_QPT_UC ||
	      in->type == IB_UVERBS_QPT_UD ||
	      (in->type == IB_UVERBS_QPT_XRC_INI && !recv && !srq) || target);
	err = add(g, QP, send, recv, srq, qp);
	if (!err)
		of(*qp, QP)->datagrams = in->type == IB_UVERBS_QPT_UD;
	return err;
}

static int open_qp(struct uroce_ectx *g, const struct uroce_eqp_init *in,
		   struct uroce_eqp **qp)
{
	struct uroce_create_qp_resp resp;

	CHECK(in->type == IB_UVERBS_QPT_XRC_TGT);
	return create_qp(g, in, qp, &resp);
}

static int may_modify_qp(struct uroce_eqp *qp,
			 const struct uroce_engine_qp *attr, u32 mask)
{
	of(qp, QP);
	CHECK(attr->state <= 6 && attr->cur_state <= 6);
	return result();
}

static int modify_qp(struct uroce_eqp *qp, const struct uroce_engine_qp *a,
		     u32 mask)
{
	of(qp, QP);
	CHECK(a->state <= 6 && a->cur_state <= 6 && a->dest_qpn < 1u << 24);
	CHECK(a->sq_psn < 1u << 24 && a->rq_psn < 1u << 24);
	CHECK(a->timeout < 32 && a->min_rnr_timer < 32 && a->retry_cnt < 8);
	CHECK(a->rnr_retry < 8 && a->sl < 16 && a->flow_label < 1u << 20);
	CHECK(a->sgid_index < 1024 && a->rate_limit <= UR_MAX_RATE_KBPS);
	return result();
}

static void query_qp(struct uroce_eqp *qp, struct uroce_engine_qp *attr)
{
	attr->qkey = of(qp, QP)->ctx->context;
}

/* As ur_mcast_attach(): who is a member stays one. */
static int mcast(struct uroce_eqp *p, const u8 gid[16], u32 attach)
{
	struct object *qp = of(p, QP);
	u32 at = 0;
	int err;

	while (at < qp->n_groups && memcmp(qp->groups[at], gid, 16))
		at++;
	if (!attach) {
		if (at == qp->n_groups)
			return -EINVAL;
		memcpy(qp->groups[at], qp->groups[--qp->n_groups], 16);
		return 0;
	}
	if (!qp->datagrams || gid[0] != 0xff)
		return -EINVAL;
	if (at < qp->n_groups)
		return 0;
	err = at == GROUPS ? -ENOMEM : result();
	if (!err)
		memcpy(qp->groups[qp->n_groups++], gid, 16);
	return err;
}

static int destroy_qp(struct uroce_eqp *qp, u32 *read)
{
	struct object *o = (void *)qp, was = *o;
	int err = destroy(qp, was.kind == WQ ? WQ : QP);

	for (u32 i = 0; !err && i < was.n_wqs; i++)
		was.wq[i]->users--;
	return err;
}

/* ---- raw packets ---- */

static int has_raw(struct uroce_ectx *g)
{
	check_ectx(g);
	return g->raw;
}

static int use_raw(struct uroce_ectx *g, const struct uroce_engine_raw *raw)
{
	check_ectx(g);
	for (u32 i = 0; i < 2; i++)
		CHECK(apart_ops_is_packet_socket(raw->fd[i]));
	if (g->raw)
		return -EALREADY;
	g->raw = true;
	return 0;
}

static int modify_wq(struct uroce_eqp *wq, u32 state)
{
	of(wq, WQ);
	CHECK(state <= 2);
	return result();
}

static int create_flow(struct uroce_eqp *p, const struct uroce_engine_flow *in,
		       struct uroce_eflow_counts *counts,
		       struct uroce_eflow **flow)
{
	struct object *qp = of(p, QP);

	CHECK(qp->raw && in->type <= 3);
	*counts = (struct uroce_eflow_counts){qp->ctx->context, 1};
	return add(qp->ctx, FLOW, qp, NULL, NULL, flow);
}

static void destroy_flow(struct uroce_eflow *flow)
{
	del(of(flow, FLOW));
}

/* ---- regions and windows ---- */

static void check_region(const struct uroce_ectx *g,
			 const struct uroce_emr_init *in)
{
	check_ectx(g);
	check_domain(g, in->pdn);
	CHECK(!(in->flags & (UROCE_EMR_GPU | UROCE_EMR_DMABUF)));
	if (in->flags & (UROCE_EMR_IMPLICIT | UROCE_EMR_NULL))
		return;
	CHECK(in->addr + in->length >= in->addr &&
	      in->iova + in->length >= in->iova);
}

static int reg_mr(struct uroce_ectx *g, const struct uroce_emr_init *in,
		  struct uroce_emr **mr)
{
	check_region(g, in);
	if ((in->flags & UROCE_EMR_PARENTS) && !g->parent)
		return -EINVAL;
	return add(g, MR, NULL, NULL, NULL, mr);
}

static int rereg_mr(struct uroce_emr *mr, u32 flags,
		    const struct uroce_emr_init *in)
{
	check_region(of(mr, MR)->ctx, in);
	CHECK(flags <= 7);
	return of(mr, MR)->users ? -EBUSY : result();
}

static int dereg_mr(struct uroce_emr *mr)
{
	return destroy(mr, MR);
}

static int alloc_mw(struct uroce_ectx *g, u32 pdn, u32 type, u32 rkey,
		    struct uroce_emw **mw)
{
	check_domain(g, pdn);
	CHECK(type == 1 || type == 2);
	return add(g, MW, NULL, NULL, NULL, mw);
}

static void dealloc_mw(struct uroce_emw *mw)
{
	del(of(mw, MW));
}

/* Tests have objects enough without it. */
static __u64 room(struct uroce_ectx *ctx)
{
	CHECK(ctx->home);
	return 0;
}

const struct uroce_engine_ops apart_ops = {
	.version = UROCE_ENGINE_OPS_VERSION,
	.make_home = make_home,
	.end_home = end_home,
	.open_apart = open_apart,
	.left_sender = left_sender,
	.drain = drain,
	.room = room,
	.close = close_ectx,
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
	.has_raw = has_raw,
	.use_raw = use_raw,
	.modify_wq = modify_wq,
	.create_flow = create_flow,
	.destroy_flow = destroy_flow,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,
};

/* ---- what the target asks ---- */

static bool is_same(int a, int b)
{
	struct stat x, y;

	CHECK(!fstat(a, &x) && !fstat(b, &y));
	return x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

bool apart_ops_is_packet_socket(int fd)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
	       domain == AF_PACKET;
}

bool apart_ops_is_rings(u32 context, int fd)
{
	return is_same(w->ectxs[context]->rings, fd);
}

bool apart_ops_is_wake(u32 context, int fd)
{
	return is_same(w->ectxs[context]->wake, fd);
}

void apart_ops_bind(u32 context, u32 which)
{
	struct object *mw = NULL, *mr = NULL;

	if (!w->ectxs[context])
		return;
	ur_list_for_each(it, &w->ectxs[context]->objects) {
		struct object *o = ur_list_entry(it, struct object, node);

		if (o->kind == MW)
			mw = o;
		else if (o->kind == MR && (!mr || which-- > 0))
			mr = o;
	}
	if (!mw || (!mw->uses[0] && !mr))
		return;
	if (mw->uses[0]) {
		mw->uses[0]->users--;
		mw->uses[0] = NULL;
	} else {
		mw->uses[0] = mr;
		mr->users++;
	}
}
