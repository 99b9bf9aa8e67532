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
	int rings, wake;
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
	struct object *wq[UROCE_CALL_WQS];
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

static int add(struct uroce_ectx *g, enum kind kind, struct object *x,
	       struct object *y, struct object *z, struct uroce_call *c)
{
	int err = result();
	struct object *o;

	check_ectx(g);
	if (err)
		return err;
	o = calloc(1, sizeof(*o));
	CHECK(o);
	*o = (struct object){.ctx = g, .kind = kind, .uses = {x, y, z}};
	for (u32 i = 0; i < 3; i++)
		if (o->uses[i])
			o->uses[i]->users++;
	ur_list_add_tail(&g->objects, &o->node);
	w->objects++;
	c->it = o;
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
				 .wake = memfd_create("wake", MFD_CLOEXEC)};
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
	g->home->contexts--;
	w->ectxs[g->context] = NULL;
	free(g);
}

static int drain(struct uroce_ectx *g, struct uroce_call *c)
{
	return 0;
}

static int set_parent(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(is_open(c->fds[0]));
	if (g->parent)
		return -EALREADY;
	g->parent = true;
	return 0;
}

static int set_async(struct uroce_ectx *g, struct uroce_call *c)
{
	return is_open(c->fds[0]) && is_open(c->fds[1]) ? result() : -EBADF;
}

static int has_gid(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(c->msg.gid.index < 1024);
	return c->msg.gid.gid[15] & 1;
}

static int use_gid(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(c->msg.gid.index < 1024);
	CHECK(!c->n_fds || is_open(c->fds[0]));
	return result();
}

static int has_ring(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(c->msg.value < UR_SLOTS);
	return c->msg.value & 1;
}

static int use_ring(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(c->msg.ring.slot < UR_SLOTS);
	for (u32 i = 0; i < 3; i++)
		CHECK(fcntl(c->fds[i], F_GET_SEALS) & F_SEAL_SHRINK);
	return result();
}

/* ---- queues ---- */

static int create_cq(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_call_cq *in = &c->msg.cq;
	int err;

	CHECK(in->entries && in->entries <= UR_MAX_CQE);
	CHECK(!(in->flags & ~(UROCE_ECQ_IGNORE_OVERRUN | UROCE_ECQ_STAMPED)));
	if (in->channel && (!is_open(c->fds[0]) || !is_open(c->fds[1])))
		return -ENOENT;
	err = add(g, CQ, NULL, NULL, NULL, c);
	if (!err)
		of(c->it, CQ)->channel = in->channel;
	return err;
}

static int change_cq(struct uroce_ectx *g, struct uroce_call *c)
{
	of(c->it, CQ);
	return result();
}

static int destroy_cq(struct uroce_ectx *g, struct uroce_call *c)
{
	bool channel = of(c->it, CQ)->channel;
	int err = destroy(c->it, CQ);

	if (err || !channel)
		return err;
	c->out[0] = fcntl(g->wake, F_DUPFD_CLOEXEC, 0);
	CHECK(c->out[0] >= 0);
	return 0;
}

static int create_srq(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_esrq_init *in = &c->msg.srq;
	struct object *cq = or_none(in->cq, CQ);

	check_domain(g, in->pdn);
	CHECK(!cq == !in->xrcdn && !cq == !in->srqn && in->srqn < 1u << 24);
	CHECK(in->max_wr && in->max_wr <= UR_MAX_SRQ_WR);
	CHECK(in->max_sge <= UR_MAX_SGE_COUNT);
	return add(g, SRQ, cq, NULL, NULL, c);
}

static int change_srq(struct uroce_ectx *g, struct uroce_call *c)
{
	of(c->it, SRQ);
	return result();
}

static int query_srq(struct uroce_ectx *g, struct uroce_call *c)
{
	of(c->it, SRQ);
	return 0;
}

static int destroy_srq(struct uroce_ectx *g, struct uroce_call *c)
{
	return destroy(c->it, SRQ);
}

static int create_ah(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_engine_path *path = &c->msg.ah.path;

	check_domain(g, c->msg.ah.pdn);
	CHECK(path->sgid_index < 1024 && path->flow_label < 1u << 20 &&
	      path->sl < 16);
	return add(g, AH, NULL, NULL, NULL, c);
}

static int destroy_ah(struct uroce_ectx *g, struct uroce_call *c)
{
	del(of(c->it, AH));
	return 0;
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
	CHECK(rss->size && rss->size <= UROCE_CALL_WQS &&
	      !(rss->size & (rss->size - 1)));
	for (u32 i = 0; i < rss->size; i++)
		of(rss->wq[i], WQ);
}

/* A queue that is not empty has where it completes. */
static int create_raw(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_eqp_init *in = &c->msg.qp.init;
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
	err = add(g, in->wq ? WQ : QP, send, recv, srq, c);
	if (err)
		return err;
	o = of(c->it, in->wq ? WQ : QP);
	o->raw = !in->wq;
	for (u32 i = 0; in->rss && i < in->rss->size; i++) {
		o->wq[o->n_wqs++] = of(in->rss->wq[i], WQ);
		o->wq[i]->users++;
	}
	return 0;
}

static int create_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_eqp_init *in = &c->msg.qp.init;

	if (in->type == IB_UVERBS_QPT_RAW_PACKET)
		return create_raw(g, c);
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
	err = add(g, QP, send, recv, srq, c);
	if (!err)
		of(c->it, QP)->datagrams = in->type == IB_UVERBS_QPT_UD;
	return err;
}

static int open_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	CHECK(c->msg.qp.init.type == IB_UVERBS_QPT_XRC_TGT);
	return create_qp(g, c);
}

static int may_modify_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_engine_qp *attr = &c->msg.modify.attr;

	of(c->it, QP);
	CHECK(attr->state <= 6 && attr->cur_state <= 6);
	return result();
}

static int modify_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_engine_qp *a = &c->msg.modify.attr;

	of(c->it, QP);
	CHECK(a->state <= 6 && a->cur_state <= 6 && a->dest_qpn < 1u << 24);
	CHECK(a->sq_psn < 1u << 24 && a->rq_psn < 1u << 24);
	CHECK(a->timeout < 32 && a->min_rnr_timer < 32 && a->retry_cnt < 8);
	CHECK(a->rnr_retry < 8 && a->sl < 16 && a->flow_label < 1u << 20);
	CHECK(a->sgid_index < 1024 && a->rate_limit <= UR_MAX_RATE_KBPS);
	return result();
}

static int query_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	c->reply.now.qkey = of(c->it, QP)->ctx->context;
	return 0;
}

/* As ur_mcast_attach(): who is a member stays one. */
static int mcast(struct uroce_ectx *g, struct uroce_call *c)
{
	const u8 *gid = c->msg.gid.gid;
	struct object *qp = of(c->it, QP);
	u32 at = 0;
	int err;

	while (at < qp->n_groups && memcmp(qp->groups[at], gid, 16))
		at++;
	if (!c->msg.gid.index) {
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

static int destroy_qp(struct uroce_ectx *g, struct uroce_call *c)
{
	struct object *o = c->it, was = *o;
	int err = destroy(o, was.kind == WQ ? WQ : QP);

	for (u32 i = 0; !err && i < was.n_wqs; i++)
		was.wq[i]->users--;
	return err;
}

/* ---- raw packets ---- */

static int has_raw(struct uroce_ectx *g, struct uroce_call *c)
{
	return g->raw;
}

static int use_raw(struct uroce_ectx *g, struct uroce_call *c)
{
	for (u32 i = 0; i < 2; i++)
		CHECK(apart_ops_is_packet_socket(c->fds[i]));
	if (g->raw)
		return -EALREADY;
	g->raw = true;
	return 0;
}

static int modify_wq(struct uroce_ectx *g, struct uroce_call *c)
{
	of(c->it, WQ);
	CHECK(c->msg.value <= 2);
	return result();
}

static int create_flow(struct uroce_ectx *g, struct uroce_call *c)
{
	struct object *qp = of(c->it, QP);

	CHECK(qp->raw && c->msg.flow.type <= 3);
	*c->counts = (struct uroce_eflow_counts){qp->ctx->context, 1};
	return add(g, FLOW, qp, NULL, NULL, c);
}

static int destroy_flow(struct uroce_ectx *g, struct uroce_call *c)
{
	del(of(c->it, FLOW));
	return 0;
}

/* ---- regions and windows ---- */

static void check_region(const struct uroce_ectx *g,
			 const struct uroce_emr_init *in)
{
	check_domain(g, in->pdn);
	CHECK(!(in->flags & (UROCE_EMR_GPU | UROCE_EMR_DMABUF)));
	if (in->flags & (UROCE_EMR_IMPLICIT | UROCE_EMR_NULL))
		return;
	CHECK(in->addr + in->length >= in->addr &&
	      in->iova + in->length >= in->iova);
}

static int reg_mr(struct uroce_ectx *g, struct uroce_call *c)
{
	const struct uroce_emr_init *in = &c->msg.mr.init;

	check_region(g, in);
	if ((in->flags & UROCE_EMR_PARENTS) && !g->parent)
		return -EINVAL;
	return add(g, MR, NULL, NULL, NULL, c);
}

static int rereg_mr(struct uroce_ectx *g, struct uroce_call *c)
{
	check_region(g, &c->msg.mr.init);
	CHECK(c->msg.mr.flags <= 7);
	return of(c->it, MR)->users ? -EBUSY : result();
}

static int dereg_mr(struct uroce_ectx *g, struct uroce_call *c)
{
	return destroy(c->it, MR);
}

static int alloc_mw(struct uroce_ectx *g, struct uroce_call *c)
{
	check_domain(g, c->msg.mw.pdn);
	CHECK(c->msg.mw.type == 1 || c->msg.mw.type == 2);
	return add(g, MW, NULL, NULL, NULL, c);
}

static int dealloc_mw(struct uroce_ectx *g, struct uroce_call *c)
{
	del(of(c->it, MW));
	return 0;
}

/* Tests have objects enough without it. */
static __u64 room(struct uroce_ectx *ctx)
{
	CHECK(ctx->home);
	return 0;
}

static int call(struct uroce_ectx *g, struct uroce_call *c)
{
	static int (*const calls[UROCE_CALL_OPS])(struct uroce_ectx * g,
						  struct uroce_call * c) = {
		[UROCE_CALL_HAS_GID] = has_gid,
		[UROCE_CALL_USE_GID] = use_gid,
		[UROCE_CALL_HAS_RING] = has_ring,
		[UROCE_CALL_USE_RING] = use_ring,
		[UROCE_CALL_SET_ASYNC] = set_async,
		[UROCE_CALL_CREATE_CQ] = create_cq,
		[UROCE_CALL_MODIFY_CQ] = change_cq,
		[UROCE_CALL_RESIZE_CQ] = change_cq,
		[UROCE_CALL_DESTROY_CQ] = destroy_cq,
		[UROCE_CALL_CREATE_SRQ] = create_srq,
		[UROCE_CALL_RESIZE_SRQ] = change_srq,
		[UROCE_CALL_LIMIT_SRQ] = change_srq,
		[UROCE_CALL_QUERY_SRQ] = query_srq,
		[UROCE_CALL_DESTROY_SRQ] = destroy_srq,
		[UROCE_CALL_CREATE_AH] = create_ah,
		[UROCE_CALL_DESTROY_AH] = destroy_ah,
		[UROCE_CALL_CREATE_QP] = create_qp,
		[UROCE_CALL_OPEN_QP] = open_qp,
		[UROCE_CALL_MAY_MODIFY_QP] = may_modify_qp,
		[UROCE_CALL_MODIFY_QP] = modify_qp,
		[UROCE_CALL_QUERY_QP] = query_qp,
		[UROCE_CALL_MCAST] = mcast,
		[UROCE_CALL_DESTROY_QP] = destroy_qp,
		[UROCE_CALL_REG_MR] = reg_mr,
		[UROCE_CALL_REREG_MR] = rereg_mr,
		[UROCE_CALL_DEREG_MR] = dereg_mr,
		[UROCE_CALL_ALLOC_MW] = alloc_mw,
		[UROCE_CALL_DEALLOC_MW] = dealloc_mw,
		[UROCE_CALL_SET_PARENT] = set_parent,
		[UROCE_CALL_HAS_RAW] = has_raw,
		[UROCE_CALL_USE_RAW] = use_raw,
		[UROCE_CALL_MODIFY_WQ] = modify_wq,
		[UROCE_CALL_CREATE_FLOW] = create_flow,
		[UROCE_CALL_DESTROY_FLOW] = destroy_flow,
		[UROCE_CALL_DRAIN] = drain,
	};

	check_ectx(g);
	CHECK(c->msg.op < UROCE_CALL_OPS && calls[c->msg.op]);
	c->out[0] = c->out[1] = -1;
	return calls[c->msg.op](g, c);
}

const struct uroce_engine_ops apart_ops = {
	.version = UROCE_ENGINE_OPS_VERSION,
	.make_home = make_home,
	.end_home = end_home,
	.open_apart = open_apart,
	.room = room,
	.close = close_ectx,
	.call = call,
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
