// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory windows, type 1 and 2B. IBTA volume 1, 10.6.7.2: type 1 belongs to
 * its protection domain and is bound again and again; type 2B is bound once by
 * a queue pair, belongs to it, and is invalidated before the next bind.
 */
#include "transport/mem.h"
#include "transport/port.h"
#include "transport/qp.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

/* Local write has no meaning for a window; verbs programs pass it anyway. */
#define BIND_ACCESS                                        \
	(UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |  \
	 UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC | \
	 UR_ACCESS_ZERO_BASED | UR_ACCESS_FLUSH_GLOBAL |   \
	 UR_ACCESS_FLUSH_PERSISTENT)

int ur_mw_create(struct ur_port *port, u32 pd, int type, struct ur_mw **mw)
{
	return ur_mw_create_as(port, pd, type, 0, NULL, mw);
}

int ur_mw_create_as(struct ur_port *port, u32 pd, int type, u32 key,
		    const void *owner, struct ur_mw **mw)
{
	struct ur_mw *w;
	int err;

	if (type != 1 && type != 2)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->port = port;
	w->pd = pd;
	w->type = type;
	w->owner = owner;
	w->k.kind = UR_KEY_MW;
	w->k.id = key >> 8;
	err = key ? ur_table_put(&port->keys, &w->k, w->k.id)
		  : ur_table_add(&port->keys, &w->k, &w->k.id);
	if (err) {
		free(w);
		return err;
	}
	w->k.key = key ? key : w->k.id << 8 | ur_port_key_byte(port);
	*mw = w;
	return 0;
}

static void unbind(struct ur_mw *mw)
{
	if (mw->mr) {
		ur_assert(mw->mr->windows && mw->mr->port == mw->port);
		mw->mr->windows--;
	}
	ur_mem_ended(mw->port);
	mw->mr = NULL;
}

void ur_mw_destroy(struct ur_mw *mw)
{
	ur_assert(ur_table_lookup(&mw->port->keys, mw->k.id) == &mw->k);
	unbind(mw);
	ur_table_remove(&mw->port->keys, mw->k.id);
	free(mw);
}

u32 ur_mw_rkey(const struct ur_mw *mw)
{
	return mw->k.key;
}

static struct ur_mw *mw_lookup(struct ur_port *port, u32 rkey)
{
	struct ur_key *k = ur_table_lookup(&port->keys, rkey >> 8);

	if (!k || k->kind != UR_KEY_MW || k->key != rkey)
		return NULL;
	return ur_container_of(k, struct ur_mw, k);
}

/* Returns whether the region allows a non-empty window. */
static bool region_allows(const struct ur_mr *mr, const struct ur_swqe *e,
			  const struct ur_qp *qp)
{
	const u32 store = UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_ATOMIC;
	u64 off = e->bind.addr - mr->attr.iova;

	if (mr->attr.pd != qp->init.pd)
		return false;
	if (!(mr->attr.access & UR_ACCESS_MW_BIND)) /* C10-73 */
		return false;
	if (mr->attr.access & UR_ACCESS_ZERO_BASED) /* C10-75 */
		return false;
	if ((e->bind.access & store) && /* C10-74 */
	    !(mr->attr.access & UR_ACCESS_LOCAL_WRITE))
		return false;
	return e->bind.addr >= mr->attr.iova && off <= mr->attr.length &&
	       e->bind.length <= mr->attr.length - off;
}

/* Ignores the key byte: after a refused bind, or binds by two queue pairs, the
 * program's may differ from the window's. */
static struct ur_mw *window_of(const struct ur_port *port, u32 rkey)
{
	struct ur_key *k = ur_table_lookup(&port->keys, rkey >> 8);

	return k && k->kind == UR_KEY_MW ? ur_container_of(k, struct ur_mw, k)
					 : NULL;
}

u8 ur_mw_bind(struct ur_qp *qp, const struct ur_swqe *e)
{
	struct ur_mw *mw = window_of(qp->port, e->bind.mw_rkey);
	struct ur_mr *mr = NULL;

	if (!mw || mw->pd != qp->init.pd)
		return UR_WC_MW_BIND_ERR;
	if (mw->type == 2 && mw->mr) /* C10-72: must be free */
		return UR_WC_MW_BIND_ERR;
	if (mw->type == 1 && (e->bind.access & UR_ACCESS_ZERO_BASED))
		return UR_WC_MW_BIND_ERR;
	if (e->bind.access & ~BIND_ACCESS)
		return UR_WC_MW_BIND_ERR;
	if (e->bind.length) {
		mr = ur_mr_lookup(qp->port, e->bind.mr_lkey);
		if (!mr || mr->attr.owner != mw->owner ||
		    !region_allows(mr, e, qp))
			return UR_WC_MW_BIND_ERR;
	} else if (mw->type == 2) {
		return UR_WC_MW_BIND_ERR;
	}

	unbind(mw);
	ur_assert(!mw->mr);
	/* The index is the device's; the program chooses the key byte. */
	mw->k.key = mw->k.id << 8 | (e->bind.new_rkey & 0xff);
	mw->mr = mr;
	if (mr)
		mr->windows++;
	mw->addr = e->bind.addr;
	mw->length = e->bind.length;
	mw->access = e->bind.access;
	mw->qpn = qp->qpn;
	return UR_WC_SUCCESS;
}

bool ur_mw_invalidate(struct ur_qp *qp, u32 rkey, bool commit)
{
	struct ur_mw *mw = mw_lookup(qp->port, rkey);

	if (!mw || mw->type != 2 || !mw->mr)
		return false;
	if (mw->qpn != qp->qpn || mw->pd != qp->init.pd)
		return false;
	if (commit)
		unbind(mw);
	return true;
}

bool ur_mw_access(const struct ur_mw *mw, const struct ur_qp *qp, u64 addr,
		  u64 len, u32 access, u64 *off)
{
	u64 base = mw->access & UR_ACCESS_ZERO_BASED ? 0 : mw->addr;

	if (!mw->mr || mw->pd != qp->init.pd || (access & ~mw->access))
		return false;
	if (mw->type == 2 && mw->qpn != qp->qpn)
		return false;
	if (addr < base || addr - base > mw->length ||
	    len > mw->length - (addr - base))
		return false;
	*off = mw->addr + (addr - base);
	return true;
}
