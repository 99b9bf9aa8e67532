// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The objects of uverbs files as JSON. */
#include <json-c/json.h>
#include <stdlib.h>
#include "device/administrator.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/uverbs_status.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/shared_engine.h"
#include "device/uverbs/ufile.h"
#include "util/assert.h"
#include "util/verbs_words.h"

static struct json_object *qp_counters(const struct ur_qpc *qpc)
{
	static const char *const names[] = {
#define X(name) #name,
		UR_QP_COUNTERS(X)
#undef X
	};
	struct json_object *o = ur_json_object();
	u64 cnt[UR_QP_CNT_COUNT];

	ur_qpc_counters(qpc, cnt);
	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		ur_json_int(o, names[i], cnt[i]);
	return o;
}

static struct json_object *owned(const struct ur_object *obj)
{
	struct json_object *o = ur_json_object();
	const struct ur_session *s = obj->file->session;

	ur_json_text(o, "device", obj->file->dev->name);
	ur_json_int(o, "session", s->id);
	return o;
}

/* Describes an object that the asker may not see. */
static struct json_object *hidden(const struct ur_object *obj)
{
	struct json_object *o = owned(obj);

	ur_listing_hide(o);
	return o;
}

static struct json_object *object_base(const struct ur_object *obj)
{
	struct json_object *o = owned(obj);
	const struct ur_session *s = obj->file->session;

	ur_json_int(o, "pid", (u64)s->pid);
	ur_json_text(o, "comm", s->comm);
	ur_json_int(o, "handle", obj->handle);
	return o;
}

static bool is_of_shared(const struct ur_obj_qp *qp)
{
	const struct ur_shared_engine *e = qp->obj.file->shared;

	return e && ur_slot_of(qp->qpc->qpn) == e->slot;
}

static struct json_object *qp(struct ur_object *obj)
{
	struct ur_obj_qp *qp = ur_obj_qp_of(obj);
	struct json_object *o = object_base(obj);
	const struct ur_epath *path = &qp->qpc->path;
	struct ur_qp_attr attr;
	char text[40];

	ur_qpc_look(qp->qpc, &attr);
	ur_json_int(o, "qpn", qp->qpc->qpn);
	ur_json_text(o, "type", ur_qp_type_name(qp->type));
	ur_json_text(o, "state", ur_qp_state_name(attr.state));
	ur_json_text(o, "engine",
		     obj->file->apart || is_of_shared(qp) ? "process"
							  : "program");
	ur_json_int(o, "path_mtu", attr.path_mtu);
	ur_json_int(o, "max_send_wr", qp->qpc->caps.max_send_wr);
	ur_json_int(o, "max_recv_wr", qp->qpc->caps.max_recv_wr);
	if (qp->qpc->have_path) {
		ur_json_int(o, "dest_qpn", attr.dest_qpn);
		ur_gid_print(text, path->dgid);
		ur_json_text(o, "dgid", text);
		ur_json_int(o, "sgid_index", path->sgid_index);
	}
	ur_json_add(o, "counters", qp_counters(qp->qpc));
	return o;
}

static struct json_object *cq(struct ur_object *obj)
{
	struct ur_obj_cq *cq = ur_obj_cq_of(obj);
	struct json_object *o = object_base(obj);

	ur_json_int(o, "entries", cq->entries);
	ur_json_int(o, "users", cq->obj.users);
	return o;
}

static struct json_object *pd(struct ur_object *obj)
{
	struct ur_obj_pd *pd = ur_obj_pd_of(obj);
	struct json_object *o = object_base(obj);

	ur_json_int(o, "pdn", pd->pdn);
	ur_json_int(o, "users", pd->obj.users);
	return o;
}

static struct json_object *mr(struct ur_object *obj)
{
	struct ur_obj_mr *mr = ur_obj_mr_of(obj);
	struct json_object *o = object_base(obj);

	ur_json_int(o, "key", mr->key);
	ur_json_int(o, "iova", mr->range.iova);
	ur_json_int(o, "length", mr->range.length);
	ur_json_int(o, "access", mr->range.access);
	return o;
}

/* ---- the walk ---- */

/* empty handles skipped in one step */
#define STEP_SLOTS 256

/* Lists the ids of the present uverbs files; a file may be gone at its turn. */
static bool list_files(struct ur_listing *w)
{
	u32 n = 0;

	ur_assert(ur_loop_mine(w->daemon->loop));
	ur_list_for_each(d, &w->daemon->devices)
		ur_ufile_for_each(f, ur_list_entry(d, struct ur_device, node))
			n++;
	w->files = calloc(n + 1, sizeof(*w->files));
	if (!w->files)
		return false;
	ur_list_for_each(d, &w->daemon->devices)
		ur_ufile_for_each(f, ur_list_entry(d, struct ur_device, node))
			w->files[w->n_files++] = f->id;
	return true;
}

static struct ur_ufile *find_file(struct ur_daemon *daemon, u64 id)
{
	ur_assert(ur_loop_mine(daemon->loop));
	ur_list_for_each(d, &daemon->devices)
		ur_ufile_for_each(f, ur_list_entry(d, struct ur_device, node))
			if (f->id == id)
				return f;
	return NULL;
}

static struct ur_object *
next_of_file(struct ur_listing *w, const struct ur_ufile *f, u32 type, u32 end)
{
	while (w->slot < end) {
		struct ur_object *obj = f->handles.slot[w->slot++];

		if (obj && obj->type->id == type)
			return obj;
	}
	return NULL;
}

/* Finds the next object of the type; NULL: none in this step. Returns false at the end. */
static bool next(struct ur_listing *w, u32 type, struct ur_object **obj)
{
	const struct ur_ufile *f;
	u32 size;

	ur_assert(ur_loop_mine(w->daemon->loop));
	*obj = NULL;
	if (!w->files && !list_files(w))
		return false;
	if (w->at == w->n_files)
		return false;
	f = find_file(w->daemon, w->files[w->at]);
	size = f ? f->handles.size : 0;
	*obj = next_of_file(w, f, type, ur_min_u32(size, w->slot + STEP_SLOTS));
	if (w->slot >= size) {
		w->at++;
		w->slot = 0;
	}
	return true;
}

/* Describes the object, or hides it where the asker may not see it. */
static struct json_object *
tell(const struct ur_listing *w, struct ur_object *obj,
     struct json_object *(*describe)(struct ur_object *obj))
{
	return ur_may_see(w->asker, obj->file->session->uid) ? describe(obj)
							     : hidden(obj);
}

bool ur_status_next_pd(struct ur_listing *w, struct json_object **o)
{
	struct ur_object *obj;
	bool more = next(w, UVERBS_OBJECT_PD, &obj);

	if (obj)
		*o = tell(w, obj, pd);
	return more;
}

bool ur_status_next_obj_qp(struct ur_listing *w, struct ur_obj_qp **qp)
{
	struct ur_object *obj;
	bool more = next(w, UVERBS_OBJECT_QP, &obj);

	*qp = ur_obj_qp_of(obj);
	return more;
}

bool ur_status_next_qp(struct ur_listing *w, struct json_object **o)
{
	struct ur_object *obj;
	bool more = next(w, UVERBS_OBJECT_QP, &obj);

	if (obj && ur_obj_qp_of(obj)->qpc && !ur_destroy_is_hinted(obj))
		*o = tell(w, obj, qp);
	return more;
}

bool ur_status_next_cq(struct ur_listing *w, struct json_object **o)
{
	struct ur_object *obj;
	bool more = next(w, UVERBS_OBJECT_CQ, &obj);

	if (obj)
		*o = tell(w, obj, cq);
	return more;
}

bool ur_status_next_mr(struct ur_listing *w, struct json_object **o)
{
	struct ur_object *obj;
	bool more = next(w, UVERBS_OBJECT_MR, &obj);

	if (obj && ur_obj_mr_of(obj)->key && !ur_destroy_is_hinted(obj))
		*o = tell(w, obj, mr);
	return more;
}
