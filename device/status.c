/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <errno.h>
#include <json-c/json.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/query.h"
#include "device/status.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/ufile.h"

static void add_int(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_text(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static struct json_object *gids(const struct ur_device *dev)
{
	struct json_object *list = json_object_new_array();

	for (u32 i = 0; i < UR_GID_MAX; i++) {
		const struct ur_gid *g = ur_gid_get(dev, i);
		struct json_object *o;
		char text[40];

		if (!g)
			continue;
		o = json_object_new_object();
		ur_gid_print(text, g->gid);
		add_int(o, "index", i);
		add_text(o, "gid", text);
		add_text(o, "type",
			 g->type == UR_GID_ROCE_V1 ? "IB/RoCE v1" : "RoCE v2");
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *qp_counters(const struct ur_eqp *qp)
{
	static const char *const names[] = {
#define X(name) #name,
		UR_QP_COUNTERS(X)
#undef X
	};
	struct json_object *o = json_object_new_object();
	u64 cnt[UR_QP_CNT_COUNT];

	ur_eqp_counters(qp, cnt);
	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		add_int(o, names[i], cnt[i]);
	return o;
}

static struct json_object *counters(struct ur_device *dev)
{
	static const char *const names[] = {
#define X(name) #name,
		UR_COUNTERS(X)
#undef X
	};
	struct json_object *o = json_object_new_object();
	u64 cnt[UR_CNT_COUNT];

	ur_engine_counters(dev->engine, cnt);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		add_int(o, names[i], cnt[i]);
	return o;
}

static struct json_object *device(struct ur_device *dev)
{
	struct json_object *o = json_object_new_object();
	struct ib_uverbs_query_port_resp port = {0};
	char guid[24];

	ur_fill_port(dev, &port);
	snprintf(guid, sizeof(guid), "%016llx",
		 (unsigned long long)dev->node_guid);
	add_text(o, "name", dev->name);
	add_int(o, "uverbs", dev->uverbs);
	add_text(o, "netdev", dev->netdev);
	add_text(o, "node_guid", guid);
	add_text(o, "state", port.state == 4 ? "ACTIVE" : "DOWN");
	add_int(o, "netdev_mtu", dev->netdev_mtu);
	add_int(o, "active_mtu", dev->mtu_bytes);
	add_int(o, "speed_mbps", dev->speed_mbps);
	add_int(o, "rate_mbps", ur_port_rate10(&port) * 100);
	json_object_object_add(o, "gids", gids(dev));
	json_object_object_add(o, "counters", counters(dev));
	return o;
}

static struct json_object *object_base(const struct ur_object *obj)
{
	struct json_object *o = json_object_new_object();
	const struct ur_session *s = obj->file->session;

	add_text(o, "device", obj->file->dev->name);
	add_int(o, "session", s->id);
	add_int(o, "pid", (u64)s->pid);
	add_text(o, "comm", s->comm);
	add_int(o, "handle", obj->handle);
	return o;
}

static struct json_object *qp(struct ur_obj_qp *qp)
{
	static const char *const states[] = {"RESET", "INIT", "RTR", "RTS",
					     "SQD",   "SQE",  "ERR"};
	static const char *const types[] = {
		[UR_QPT_RC] = "RC",	      [UR_QPT_UC] = "UC",
		[UR_QPT_UD] = "UD",	      [UR_QPT_XRC_INI] = "XRC_INI",
		[UR_QPT_XRC_TGT] = "XRC_TGT",
	};
	struct json_object *o = object_base(&qp->obj);
	struct ur_qp_attr attr = {0};
	struct ur_eqp_init init = {0};
	struct ur_epath path = {0};
	bool have_path = false;
	char text[40];

	ur_eqp_query(qp->qp, &attr, &init, &path, &have_path);
	add_int(o, "qpn", ur_eqp_number(qp->qp));
	add_text(o, "type", types[qp->type]);
	add_text(o, "state",
		 attr.state <= UR_QP_ERR ? states[attr.state] : "?");
	add_int(o, "path_mtu", attr.path_mtu);
	add_int(o, "max_send_wr", init.max_send_wr);
	add_int(o, "max_recv_wr", init.max_recv_wr);
	if (have_path) {
		add_int(o, "dest_qpn", attr.dest_qpn);
		ur_gid_print(text, path.dgid);
		add_text(o, "dgid", text);
		add_int(o, "sgid_index", path.sgid_index);
	}
	json_object_object_add(o, "counters", qp_counters(qp->qp));
	return o;
}

static struct json_object *cq(struct ur_obj_cq *cq)
{
	struct json_object *o = object_base(&cq->obj);

	add_int(o, "entries", cq->entries);
	add_int(o, "users", cq->obj.users);
	return o;
}

static struct json_object *pd(struct ur_obj_pd *pd)
{
	struct json_object *o = object_base(&pd->obj);

	add_int(o, "pdn", pd->pdn);
	add_int(o, "users", pd->obj.users);
	return o;
}

static struct json_object *mr(struct ur_obj_mr *mr)
{
	struct json_object *o = object_base(&mr->obj);

	add_int(o, "key", ur_emr_key(mr->mr));
	add_int(o, "iova", mr->iova);
	add_int(o, "length", mr->length);
	add_int(o, "access", mr->access);
	return o;
}

static struct json_object *session(struct ur_session *s)
{
	struct json_object *o = json_object_new_object();

	add_int(o, "id", s->id);
	add_int(o, "pid", (u64)s->pid);
	add_int(o, "uid", s->uid);
	add_text(o, "comm", s->comm);
	add_text(o, "file",
		 s->kind == UROCE_TUN_UVERBS	? "uverbs"
		 : s->kind == UROCE_TUN_RDMA_CM ? "rdma_cm"
						: "none");
	if (s->open && s->kind == UROCE_TUN_UVERBS) {
		struct ur_ufile *f = s->open->file;

		add_text(o, "device", f->dev->name);
		add_int(o, "objects", f->handles.count);
	}
	return o;
}

struct lists {
	struct json_object *pds, *qps, *cqs, *mrs;
};

static void add_objects(const struct ur_ufile *f, const struct lists *l)
{
	for (u32 i = 0; i < f->handles.size; i++) {
		struct ur_object *obj = f->handles.slot[i];

		if (!obj)
			continue;
		switch (obj->type->id) {
		case UVERBS_OBJECT_PD:
			json_object_array_add(l->pds,
					      pd((struct ur_obj_pd *)obj));
			break;
		case UVERBS_OBJECT_QP:
			if (((struct ur_obj_qp *)obj)->qp)
				json_object_array_add(
					l->qps, qp((struct ur_obj_qp *)obj));
			break;
		case UVERBS_OBJECT_CQ:
			json_object_array_add(l->cqs,
					      cq((struct ur_obj_cq *)obj));
			break;
		case UVERBS_OBJECT_MR:
			if (((struct ur_obj_mr *)obj)->mr)
				json_object_array_add(
					l->mrs, mr((struct ur_obj_mr *)obj));
			break;
		}
	}
}

static struct json_object *everything(struct ur_daemon *daemon)
{
	struct json_object *root = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	struct json_object *sessions = json_object_new_array();
	struct lists l = {json_object_new_array(), json_object_new_array(),
			  json_object_new_array(), json_object_new_array()};

	ur_list_for_each(it, &daemon->devices) {
		struct ur_device *dev =
			ur_list_entry(it, struct ur_device, node);

		json_object_array_add(devices, device(dev));
		ur_list_for_each(f, &dev->files)
			add_objects(ur_list_entry(f, struct ur_ufile, node),
				    &l);
	}
	ur_list_for_each(it, &daemon->sessions)
		json_object_array_add(
			sessions,
			session(ur_list_entry(it, struct ur_session, node)));
	add_int(root, "pid", (u64)getpid());
	add_text(root, "run_dir", daemon->run_dir);
	json_object_object_add(root, "devices", devices);
	json_object_object_add(root, "sessions", sessions);
	json_object_object_add(root, "pds", l.pds);
	json_object_object_add(root, "qps", l.qps);
	json_object_object_add(root, "cqs", l.cqs);
	json_object_object_add(root, "mrs", l.mrs);
	json_object_object_add(root, "cm_ids", ur_ucma_status_ids(daemon));
	json_object_object_add(root, "cm", ur_ucma_status_counters(daemon));
	return root;
}

int ur_status(struct ur_daemon *daemon, const char *subject, u64 *len)
{
	struct json_object *root = everything(daemon), *part = root;
	const char *text;
	size_t n;
	int fd = -ENOENT;

	if (*subject && !json_object_object_get_ex(root, subject, &part))
		goto out;
	text = json_object_to_json_string_ext(part, JSON_C_TO_STRING_PLAIN);
	n = strlen(text);
	fd = memfd_create("status", MFD_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
	} else if (pwrite(fd, text, n, 0) != (ssize_t)n) {
		close(fd);
		fd = -EIO;
	}
	*len = n;
out:
	json_object_put(root);
	return fd;
}
