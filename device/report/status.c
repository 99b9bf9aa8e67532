// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The state of the daemon as JSON. Daemon, sessions and devices are written here; the files
 * that own other objects have functions that list them step by step. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "device/fault.h"
#include "device/memfd.h"
#include "device/listing.h"
#include "device/session.h"
#include "device/settings/setting.h"
#include "device/report/status.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/uverbs_status.h"
#include "device/numa.h"
#include "device/port.h"
#include "device/uverbs/ufile.h"
#include "engine/ground/hold_time.h"
#include "device/report/why.h"

/* Returns -ENOMEM if anything was left out for lack of memory since the last call. */
static int check_memory(void)
{
	return ur_json_lacked() ? -ENOMEM : 0;
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
		o = ur_json_object();
		ur_gid_print(text, g->gid);
		ur_json_int(o, "index", i);
		ur_json_text(o, "gid", text);
		ur_json_text(o, "type",
			     g->type == UR_GID_ROCE_V1 ? "IB/RoCE v1"
						       : "RoCE v2");
		ur_json_append(list, o);
	}
	return list;
}

/* Lists addresses without a GID because another program has their UDP port. */
static struct json_object *taken(const struct ur_device *dev)
{
	struct json_object *list = json_object_new_array();

	for (u32 i = 0; i < UR_GID_MAX; i++) {
		const struct ur_gid *g = &dev->gids.entry[i];
		struct json_object *o;
		char text[40];

		if (!g->refused || !g->taken)
			continue;
		o = ur_json_object();
		ur_gid_print(text, g->gid);
		ur_json_text(o, "gid", text);
		ur_json_append(list, o);
	}
	return list;
}

static struct json_object *counters(const u64 *cnt)
{
	static const char *const names[] = {
#define X(name) #name,
		UR_COUNTERS(X)
#undef X
	};
	struct json_object *o = ur_json_object();

	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		ur_json_int(o, names[i], cnt[i]);
	return o;
}

static void add_setting(void *ctx, const char *name, const char *text)
{
	ur_json_text(ctx, name, text);
}

static struct json_object *settings(struct ur_device *dev)
{
	struct json_object *o = ur_json_object();

	ur_settings_for_each(dev, add_setting, o);
	return o;
}

static struct json_object *device(struct ur_device *dev)
{
	struct json_object *o = ur_json_object();
	struct ib_uverbs_query_port_resp port = {0};
	u64 cnt[UR_CNT_COUNT], programs[UR_CNT_COUNT];
	const char *like = dev->daemon->like->word;
	char guid[24];

	ur_fill_port(dev, &port);
	snprintf(guid, sizeof(guid), "%016llx",
		 (unsigned long long)dev->node_guid);
	ur_json_text(o, "name", dev->name);
	ur_json_int(o, "uverbs", dev->uverbs);
	ur_json_text(o, "netdev", dev->netdev);
	ur_json_text(o, "like", like ? like : "uroce");
	ur_json_int(o, "numa_node", ur_numa_node(dev));
	ur_json_text(o, "node_guid", guid);
	ur_json_text(o, "state", port.state == 4 ? "ACTIVE" : "DOWN");
	ur_json_int(o, "netdev_mtu", dev->netdev_mtu);
	ur_json_int(o, "active_mtu", dev->mtu_bytes);
	ur_json_int(o, "speed_mbps", dev->speed_mbps);
	ur_json_int(o, "rate_mbps", ur_port_rate10(&port) * 100);
	ur_json_add(o, "sl7_refused",
		    json_object_new_boolean(ur_engine_sl_refused(dev->engine)));
	ur_json_add(o, "gids", gids(dev));
	ur_json_add(o, "taken", taken(dev));
	ur_json_add(o, "settings", settings(dev));
	ur_engine_counters(dev->engine, cnt, programs);
	ur_json_add(o, "counters", counters(cnt));
	ur_json_add(o, "program_counters", counters(programs));
	return o;
}

static struct json_object *session(struct ur_session *s)
{
	struct json_object *o = ur_json_object();

	ur_json_int(o, "id", s->id);
	ur_json_int(o, "pid", (u64)s->pid);
	ur_json_int(o, "uid", s->uid);
	ur_json_text(o, "comm", s->comm);
	ur_json_text(o, "file",
		     s->kind == UROCE_TUN_UVERBS    ? "uverbs"
		     : s->kind == UROCE_TUN_RDMA_CM ? "rdma_cm"
		     : s->kind == UROCE_TUN_UMAD    ? "umad"
		     : s->kind == UROCE_TUN_NETLINK ? "netlink"
						    : "none");
	ur_json_int(o, "commands",
		    __atomic_load_n(&s->commands, __ATOMIC_RELAXED));
	if (s->mem && !ur_user_mem_reaches(s->mem))
		ur_json_add(o, "memory_reached",
			    json_object_new_boolean(false));
	if (s->open && s->kind == UROCE_TUN_UVERBS) {
		struct ur_ufile *f = s->open->file;

		ur_json_text(o, "device", f->dev->name);
		ur_json_int(o, "objects", f->handles.count);
	}
	return o;
}

/* ---- steps through lists, with the lock held ---- */

static bool next_device(struct ur_listing *w, struct json_object **o)
{
	u32 i = 0;

	ur_list_for_each(it, &w->daemon->devices) {
		if (i++ != w->at)
			continue;
		w->at++;
		*o = device(ur_list_entry(it, struct ur_device, node));
		return true;
	}
	return false;
}

/* The list is sorted by id. */
static bool next_session(struct ur_listing *w, struct json_object **o)
{
	ur_list_each(struct ur_session, s, &w->daemon->sessions, node) {
		if (s->id <= w->last)
			continue;
		w->last = s->id;
		*o = session(s);
		return true;
	}
	return false;
}

/* ---- the text ---- */

/* bytes of text that the command line accepts */
#define STATUS_MAX (64u << 20)
/* objects per hold of the lock: some hundred microseconds */
#define PAGE 16

static int write_object(FILE *f, struct json_object *o)
{
	const char *text =
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	if (text)
		fputs(text, f);
	json_object_put(o);
	if (!text)
		return -ENOMEM;
	return ftello(f) > STATUS_MAX ? -EFBIG : 0;
}

/* Writes a list, page by page: objects are made with the lock held and formatted without
 * it, so that others get the lock however long the list is. */
static int write_list(FILE *f, struct ur_session *to_whom,
		      ur_listing_next *next)
{
	struct ur_daemon *daemon = to_whom->daemon;
	struct ur_listing w = {.daemon = daemon, .asker = to_whom};
	bool more = true, first = true;
	int err = 0;

	fputc('[', f);
	while (more && !err) {
		struct json_object *o[PAGE] = {0};

		ur_loop_lock(daemon->loop);
		err = ur_session_answer_room(to_whom, (u64)ftello(f));
		for (u32 i = 0; !err && more && i < PAGE; i++)
			more = next(&w, &o[i]);
		err = check_memory() ?: err;
		ur_loop_unlock(daemon->loop);
		for (u32 i = 0; i < PAGE; i++) {
			if (!o[i])
				continue;
			if (!first)
				fputc(',', f);
			first = false;
			err = write_object(f, o[i]) ?: err;
		}
	}
	fputc(']', f);
	free(w.files);
	return err;
}

static struct json_object *pid(struct ur_daemon *daemon)
{
	return json_object_new_uint64((u64)getpid());
}

static struct json_object *run_dir(struct ur_daemon *daemon)
{
	return json_object_new_string(daemon->run_dir);
}

static struct json_object *confinement(struct ur_daemon *daemon)
{
	const struct ur_confinement *c = ur_confinement();
	struct json_object *o = ur_json_object();

	ur_json_add(o, "asked", json_object_new_boolean(c->asked));
	ur_json_add(o, "calls", json_object_new_boolean(c->calls));
	ur_json_add(o, "files", json_object_new_boolean(c->files));
	ur_json_add(o, "mounts", json_object_new_boolean(c->mounts));
	ur_json_text(o, "capabilities", c->caps);
	return o;
}

static const struct member {
	const char *name;
	ur_listing_next *next;
	/* For a member that is no list. */
	struct json_object *(*describe)(struct ur_daemon *daemon);
} members[] = {
	{"pid", NULL, pid},
	{"run_dir", NULL, run_dir},
	{"confinement", NULL, confinement},
	{"devices", next_device, NULL},
	{"sessions", next_session, NULL},
	{"pds", ur_status_next_pd, NULL},
	{"qps", ur_status_next_qp, NULL},
	{"cqs", ur_status_next_cq, NULL},
	{"mrs", ur_status_next_mr, NULL},
	{"cm_ids", ur_status_next_cm_id, NULL},
	{"faults", ur_status_next_fault, NULL},
	{"failures", ur_status_next_failure, NULL},
	{"cm", NULL, ur_ucma_status_counters},
};

static int tell(FILE *f, struct ur_session *to_whom, const struct member *m)
{
	struct ur_daemon *daemon = to_whom->daemon;
	struct json_object *o;
	int err;

	if (m->next)
		return write_list(f, to_whom, m->next);
	ur_loop_lock(daemon->loop);
	err = ur_session_answer_room(to_whom, (u64)ftello(f));
	o = err ? NULL : m->describe(daemon);
	err = check_memory() ?: err;
	ur_loop_unlock(daemon->loop);
	if (err || !o) {
		json_object_put(o);
		return -ENOMEM;
	}
	return write_object(f, o);
}

static int write_all(FILE *f, struct ur_session *to_whom)
{
	int err = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(members) && !err; i++) {
		fprintf(f, "%c\"%s\":", i ? ',' : '{', members[i].name);
		err = tell(f, to_whom, &members[i]);
	}
	fputc('}', f);
	return err;
}

/* Writes the longest hold of the lock since the last call; for tests. */
static int write_lock(FILE *f, struct ur_loop *loop)
{
	u64 ns;

	ur_loop_lock(loop);
	ns = ur_hold_time_longest();
	ur_loop_unlock(loop);
	if (ns == UINT64_MAX)
		return -ENOENT;
	fprintf(f, "{\"longest_ns\":%llu}", (unsigned long long)ns);
	return 0;
}

static int write_subject(FILE *f, struct ur_session *to_whom,
			 const char *subject)
{
	if (!*subject)
		return write_all(f, to_whom);
	if (!strcmp(subject, "lock"))
		return write_lock(f, to_whom->daemon->loop);
	if (!strncmp(subject, "story ", 6))
		return ur_why_write(f, to_whom, subject + 6);
	for (u32 i = 0; i < UR_ARRAY_SIZE(members); i++)
		if (!strcmp(members[i].name, subject))
			return tell(f, to_whom, &members[i]);
	return -ENOENT;
}

int ur_status(struct ur_session *to_whom, const char *subject, u64 *len)
{
	int fd = ur_memfd_for_client("status"), copy, err;
	FILE *f = NULL;

	if (fd < 0)
		return fd;
	/* fclose() closes the copy. */
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		f = fdopen(copy, "w");
	if (!f) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		goto err_close;
	}
	err = write_subject(f, to_whom, subject);
	*len = (u64)ftello(f);
	if (fclose(f) && !err)
		err = -EIO;
	if (!err)
		return fd;
err_close:
	close(fd);
	return err;
}
