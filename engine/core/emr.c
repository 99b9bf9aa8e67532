// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions between control and the transport: registration,
 * reregistration, deregistration. Mapping (app_mem.c) may take long, so the
 * calling thread does it, not the engine.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/gpu/gpu.h"
#include "engine/core/transmit.h"
#include "engine/wire/wire.h"
#include "util/assert.h"

/* Ends the export of the region to neighbours. */
static void hide(struct ur_engine *engine, struct ur_emr *mr)
{
	struct ur_wire *wire = ur_wire_of(engine, false);
	struct stat st;

	ur_chore_forget(engine, &mr->search_chore);
	ur_file_search_end(mr->search);
	mr->search = NULL;
	if (!mr->searched || mr->file.fd < 0)
		return;
	if (wire->near->hide)
		wire->near->hide(wire, mr);
	/* A program that has closed all descriptors may have another file at this one. */
	if (!fstat(mr->file.fd, &st) && st.st_ino == mr->file.ino &&
	    st.st_dev == mr->file.dev)
		close(mr->file.fd);
	ur_assert(mr->ectx->n_files);
	mr->ectx->n_files--;
	mr->searched = false;
	mr->pieces = 0;
}

/* An access to it may wait, so the engine's own thread makes it. No neighbour maps it. */
static void begin_waiting(struct ur_engine *engine, struct ur_emr *mr)
{
	if (!mr->gpu && !mr->attr.synced)
		return;
	mr->searched = true;
	mr->file.fd = -1;
	if (!engine->n_waiting++)
		ur_inproc_alone(engine, true);
}

static void finish_copies(struct ur_engine *engine, struct ur_emr *mr)
{
	if (!mr->gpu && !mr->attr.synced)
		return;
	if (mr->gpu)
		ur_gpu_finish(mr);
	ur_assert(engine->n_waiting);
	if (!--engine->n_waiting)
		ur_inproc_alone(engine, false);
	mr->searched = false;
}

static void describe(struct ur_emr *mr, struct ur_mr_attr *attr)
{
	ur_app_mem_describe(mr, attr);
	if (mr->attr.synced)
		attr->ops = &ur_dmabuf_ops;
	if (mr->attr.key_at)
		attr->ops = &ur_parent_mem_ops;
}

static int reg(struct ur_engine *engine, struct ur_emr *mr)
{
	struct ur_mr_attr attr;
	int err;

	ur_assert(mr->ectx->engine == engine);
	describe(mr, &attr);
	err = ur_mr_create(engine->port, &attr, &mr->mr);
	if (err)
		return err;
	ur_list_add_tail(&mr->ectx->mrs, &mr->node);
	begin_waiting(engine, mr);
	/* No neighbour maps the parent's memory. */
	if (mr->attr.key_at) {
		mr->searched = true;
		mr->file.fd = -1;
	}
	return 0;
}
UR_ENGINE_CALL(1, reg, struct ur_emr *);

int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **ret_mr)
{
	struct ur_emr *mr = calloc(1, sizeof(*mr));
	struct ur_emr_left left;
	int err;

	if (!mr)
		return -ENOMEM;
	mr->ectx = ectx;
	mr->attr = *attr;
	ur_list_init(&mr->node);
	err = attr->synced ? ur_dmabuf_check(attr->sync_fd) : 0;
	if (!err)
		err = ur_app_mem_attach(mr);
	if (err)
		goto err_free;
	err = call_reg(ectx->engine, mr);
	if (err)
		goto err_detach;
	*ret_mr = mr;
	return 0;
err_detach:
	left = ur_app_mem_detach(mr);
	ur_emr_unmap(&left);
err_free:
	free(mr);
	return err;
}

/* *next: the new state; on return the old one. */
static int rereg(struct ur_engine *engine, struct ur_emr *mr,
		 struct ur_emr *next)
{
	struct ur_emr old = *mr;
	struct ur_mr_attr attr;
	bool moves;
	int err;

	ur_assert(mr->ectx->engine == engine);
	describe(next, &attr);
	attr.mem = mr;
	err = ur_mr_rereg(mr->mr, &attr);
	if (err)
		return err;
	hide(engine, mr);
	moves = next->gpu != mr->gpu || next->attr.synced != mr->attr.synced;
	if (moves)
		finish_copies(engine, mr);
	mr->attr = next->attr;
	mr->map = next->map;
	mr->map_len = next->map_len;
	mr->direct = next->direct;
	mr->pinned = next->pinned;
	mr->gpu = next->gpu;
	if (moves)
		begin_waiting(engine, mr);
	*next = old;
	return 0;
}
UR_ENGINE_CALL(2, rereg, struct ur_emr *, struct ur_emr *);

int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr,
		 struct ur_emr_left *left)
{
	struct ur_emr next = *mr;
	int err;

	*left = (struct ur_emr_left){0};
	if (flags & UR_REREG_TRANS) {
		next.attr = *attr;
		next.attr.pd = mr->attr.pd;
		next.attr.access = mr->attr.access;
		next.map = NULL;
		next.direct = NULL;
		next.gpu = NULL;
		err = ur_app_mem_attach(&next);
		if (err)
			return err;
	}
	if (flags & UR_REREG_PD)
		next.attr.pd = attr->pd;
	if (flags & UR_REREG_ACCESS)
		next.attr.access = attr->access;
	err = call_rereg(mr->ectx->engine, mr, &next);
	/* After an error next has the new memory, else the old. */
	if (flags & UR_REREG_TRANS)
		*left = ur_app_mem_detach(&next);
	return err;
}

static int dereg(struct ur_engine *engine, struct ur_emr *mr, u64 *run)
{
	int err;

	ur_assert(mr->ectx->engine == engine);
	if (ur_transmit_drain_all(engine, mr->ectx, run))
		return -EAGAIN;
	err = ur_mr_destroy(mr->mr);
	if (err)
		return err;
	hide(engine, mr);
	finish_copies(engine, mr);
	ur_list_del(&mr->node);
	return 0;
}
UR_ENGINE_CALL(2, dereg, struct ur_emr *, u64 *);

int ur_emr_dereg(struct ur_emr *mr, struct ur_emr_left *left)
{
	u64 run = 0;
	int err;

	do
		err = call_dereg(mr->ectx->engine, mr, &run);
	while (err == -EAGAIN);
	if (err)
		return err;
	*left = ur_app_mem_detach(mr);
	free(mr);
	return 0;
}
