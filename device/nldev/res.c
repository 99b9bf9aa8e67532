// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* `rdma resource`: the number of objects, lists, and single objects. */
#include <errno.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/nldev/res.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "util/assert.h"

/* Limit of one step with the lock held, in units of a table slot: some hundred
 * microseconds. */
#define STEP_SLOTS  4096
#define SLOTS_FILE  64 /* cost of finding the next file */
#define SLOTS_QUERY 64 /* cost of a query to the engine */

static const struct class
{
	u32 type; /* UVERBS_OBJECT_*; 0: see next */
	u16 table, entry, id;
	bool has_port;
	ur_nl_fill *fill;
} classes[UR_NLDEV_CMD_MAX] = {
/* command: of listing; object: as in the names of its attributes; id: the attribute with its number */
#define CLASS(command, type, object, id, has_port, fill)                    \
	[RDMA_NLDEV_CMD_##command] = {type,                                 \
				      RDMA_NLDEV_ATTR_RES_##object,         \
				      RDMA_NLDEV_ATTR_RES_##object##_ENTRY, \
				      RDMA_NLDEV_ATTR_RES_##id,             \
				      has_port,                             \
				      fill}
	CLASS(RES_QP_GET, UVERBS_OBJECT_QP, QP, LQPN, true, ur_nl_fill_qp),
	CLASS(RES_CQ_GET, UVERBS_OBJECT_CQ, CQ, CQN, false, ur_nl_fill_cq),
	CLASS(RES_MR_GET, UVERBS_OBJECT_MR, MR, MRN, false, ur_nl_fill_mr),
	CLASS(STAT_GET, UVERBS_OBJECT_MR, MR, MRN, false, ur_nl_fill_stat_mr),
	CLASS(RES_PD_GET, UVERBS_OBJECT_PD, PD, PDN, false, ur_nl_fill_pd),
	CLASS(RES_SRQ_GET, UVERBS_OBJECT_SRQ, SRQ, SRQN, false, ur_nl_fill_srq),
	/* These are no uverbs objects. */
	CLASS(RES_CTX_GET, 0, CTX, CTXN, false, ur_nl_fill_ctx),
	CLASS(RES_CM_ID_GET, 0, CM_ID, CM_IDN, true, ur_nl_fill_cm_id),
#undef CLASS
};

/* Returns whether the client may know of that session's objects. */
static bool shows(const struct ur_nl_request *r, const struct ur_session *owner)
{
	return ur_may_see(r->nl->session, owner->uid);
}

/* ---- the walk: r->file is the id of the uverbs file, r->slot the index in it; objects
 * that come or go meanwhile may be missed ---- */

/* Returns the device's first uverbs file with an id of at least id. */
static struct ur_ufile *file_from(struct ur_device *dev, u64 id)
{
	struct ur_ufile *found = NULL;

	ur_ufile_for_each(f, dev)
		if (f->id >= id && f->has_context &&
		    (!found || f->id < found->id))
			found = f;
	return found;
}

/* Puts the object's number into *o. Returns false if the object is not complete. */
static bool identify(struct ur_nl_object *o)
{
	struct ur_object *obj = o->obj;

	o->number = obj->number;
	switch (obj->type->id) {
	case UVERBS_OBJECT_QP:
		if (!ur_obj_qp_of(obj)->qpc)
			return false;
		o->number = ur_obj_qp_of(obj)->qpc->qpn;
		return true;
	case UVERBS_OBJECT_MR:
		return ur_obj_mr_of(obj)->key;
	case UVERBS_OBJECT_SRQ:
		return ur_obj_srq_of(obj)->srqn;
	case UVERBS_OBJECT_PD:
		o->number = ur_obj_pd_of(obj)->pdn;
		return true;
	default:
		return true;
	}
}

/* Finds the file's next object from r->slot on. Returns false if there is none in this
 * step, or none left: then r->file is the next file. */
static bool next_object(struct ur_nl_request *r, const struct ur_ufile *f,
			u32 type, u32 *steps, struct ur_nl_object *o)
{
	while (r->slot < f->handles.size && *steps) {
		struct ur_object *obj = f->handles.slot[r->slot++];

		--*steps;
		if (!obj || obj->type->id != type || ur_destroy_is_hinted(obj))
			continue;
		*o = (struct ur_nl_object){.obj = obj};
		if (identify(o))
			return true;
	}
	if (r->slot >= f->handles.size) {
		r->file = f->id + 1;
		r->slot = 0;
	}
	return false;
}

static void spend(u32 *steps, u32 n)
{
	*steps -= ur_min_u32(*steps, n);
}

static bool next_of_files(struct ur_nl_request *r, struct ur_device *dev,
			  u32 type, u32 *steps, struct ur_nl_object *o)
{
	struct ur_ufile *f;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	while (*steps && (f = file_from(dev, r->file))) {
		spend(steps, SLOTS_FILE);
		if (!type) {
			r->file = f->id + 1;
			*o = (struct ur_nl_object){.ctx = f,
						   .number = (u32)f->id};
			return true;
		}
		if (!shows(r, f->session))
			r->file = f->id + 1;
		else if (next_object(r, f, type, steps, o))
			return true;
	}
	r->more = !*steps;
	return false;
}

/* A listener on all addresses listens on each device. */
static bool is_on(const struct ucma_id *id, const struct ur_device *dev)
{
	return id->dev == dev || (!id->dev && id->state == UCMA_LISTEN);
}

static bool next_cm_id(struct ur_nl_request *r, struct ur_device *dev,
		       u32 *steps, struct ur_nl_object *o)
{
	const struct ur_ucma *ucma = r->nl->daemon->cm;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	while (ucma && r->slot < UCMA_ID_MAX && *steps) {
		struct ucma_id *id = ucma->ids.slot[r->slot++];

		--*steps;
		if (!id || !is_on(id, dev) || !shows(r, id->file->session))
			continue;
		*o = (struct ur_nl_object){.id = id, .number = id->number};
		return true;
	}
	r->more = ucma && r->slot < UCMA_ID_MAX;
	return false;
}

/* Finds the next object that the client may see. Returns false if there is none in this
 * step; r->more: there may be some after the lock was released. */
static bool next(struct ur_nl_request *r, struct ur_device *dev, u32 *steps,
		 struct ur_nl_object *o)
{
	r->more = false;
	if (r->op == RDMA_NLDEV_CMD_RES_CM_ID_GET)
		return next_cm_id(r, dev, steps, o);
	return next_of_files(r, dev, classes[r->op].type, steps, o);
}

/* ---- commands ---- */

/* Sets r->port; 0: all ports. Returns 0, or -EINVAL (no such port). */
static int take_port(struct ur_nl_request *r)
{
	r->port = 0;
	if (!ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX))
		return 0;
	r->port = ur_nl_u32(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX);
	return r->port == 1 ? 0 : -EINVAL;
}

/* Puts as many entries as fit, or as one step finds. */
static bool put_entries(struct ur_nl_request *r, struct ur_nl_msg *m,
			struct ur_device *dev)
{
	const struct class *c = &classes[r->op];
	u32 steps = STEP_SLOTS, slot, before, nest;
	struct ur_nl_object o;
	bool any = false, fits;
	u64 file;

	for (;;) {
		file = r->file;
		slot = r->slot;
		if (!next(r, dev, &steps, &o))
			return any;
		before = m->len;
		nest = ur_nl_nest(m, c->entry);
		fits = c->fill(r, m, &o);
		ur_nl_nest_end(m, nest);
		spend(&steps, SLOTS_QUERY);
		if (m->full) { /* it goes into the next message */
			ur_nl_cut(m, before);
			r->file = file;
			r->slot = slot;
			return any;
		}
		if (!fits)
			ur_nl_cut(m, before);
		any |= fits;
	}
}

int ur_nl_res_dump(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = ur_nl_device(r);
	u32 nest;

	if (!dev || take_port(r))
		return -EINVAL;
	ur_nl_answer(r, m, r->op, NLM_F_MULTI);
	ur_nl_put_handle(m, dev);
	nest = ur_nl_nest(m, classes[r->op].table);
	if (!put_entries(r, m, dev)) {
		ur_nl_cut(m, 0);
		return 0;
	}
	ur_nl_nest_end(m, nest);
	ur_nl_end(m);
	return 0;
}

int ur_nl_res_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	const struct class *c = &classes[r->op];
	struct ur_device *dev = ur_nl_device(r);
	u32 steps = STEP_SLOTS;
	struct ur_nl_object o;

	if (!dev || !ur_nl_has(&r->attrs, c->id) || take_port(r) ||
	    c->has_port != (r->port != 0))
		return -EINVAL;
	while (next(r, dev, &steps, &o)) {
		if (o.number != ur_nl_u32(&r->attrs, c->id))
			continue;
		r->more = false;
		ur_nl_answer(r, m, r->op, 0);
		ur_nl_put_handle(m, dev);
		if (!c->fill(r, m, &o)) {
			ur_nl_cut(m, 0);
			return -EAGAIN; /* as in the kernel */
		}
		ur_nl_end(m);
		return 0;
	}
	return r->more ? 0 : -ENOENT;
}

/* ---- the summary ---- */

static u32 count_contexts(const struct ur_device *dev)
{
	u32 n = 0;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_ufile_for_each(f, dev)
		n += f->has_context;
	return n;
}

static u32 count_cm_ids(const struct ur_device *dev)
{
	const struct ur_ucma *ucma = dev->daemon->cm;
	u32 n = 0;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	for (u32 i = 0; ucma && i < UCMA_ID_MAX; i++)
		n += ucma->ids.slot[i] && is_on(ucma->ids.slot[i], dev);
	return n;
}

static void put_count(struct ur_nl_msg *m, const char *name, u64 n)
{
	u32 nest = ur_nl_nest(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	ur_nl_put_text(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
	ur_nl_nest_end(m, nest);
}

static u32 count_listed(const struct ur_device *dev, u32 type)
{
	u32 n = dev->objects[type].used;

	ur_ufile_for_each(f, dev)
		n -= ur_destroy_hint_count(f, type);
	return n;
}

static void put_summary(struct ur_nl_msg *m, const struct ur_device *dev)
{
	u32 nest;

	ur_nl_put_handle(m, dev);
	nest = ur_nl_nest(m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	put_count(m, "pd", dev->objects[UVERBS_OBJECT_PD].used);
	put_count(m, "cq", dev->objects[UVERBS_OBJECT_CQ].used);
	put_count(m, "qp", count_listed(dev, UVERBS_OBJECT_QP));
	put_count(m, "cm_id", count_cm_ids(dev));
	put_count(m, "mr", count_listed(dev, UVERBS_OBJECT_MR));
	put_count(m, "ctx", count_contexts(dev));
	put_count(m, "srq", dev->objects[UVERBS_OBJECT_SRQ].used);
	ur_nl_nest_end(m, nest);
}

int ur_nl_summary(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	return ur_nl_answer_device(r, m, RDMA_NLDEV_CMD_RES_GET, put_summary);
}

int ur_nl_summary_dump(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	ur_nl_dump_devices(r, m, RDMA_NLDEV_CMD_RES_GET, put_summary);
	return 0;
}
