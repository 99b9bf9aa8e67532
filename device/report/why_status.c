// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Failures as JSON, and as text about one queue pair for its user. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include "device/administrator.h"
#include "device/listing.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "device/report/why.h"
#include "device/uverbs/uverbs_status.h"
#include "util/verbs_words.h"

/* Returns the explanation, which the caller frees, or NULL without memory. */
static char *story(struct ur_daemon *daemon, const struct ur_session *asker,
		   const struct ur_why *y)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	ur_why_story(out, daemon, asker, y);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void add_story(struct json_object *o, struct ur_daemon *daemon,
		      const struct ur_session *asker, const struct ur_why *y)
{
	char *text = story(daemon, asker, y);

	ur_json_add(o, "story", text ? json_object_new_string(text) : NULL);
	free(text);
}

static struct json_object *describe(struct ur_listing *w,
				    const struct ur_why *y)
{
	struct json_object *o = ur_json_object();
	const struct ur_failure *f = &y->failure;
	char text[40];

	ur_json_text(o, "device", y->device);
	if (!ur_may_see(w->asker, y->uid)) {
		ur_listing_hide(o);
		return o;
	}
	ur_json_int(o, "pid", (u64)y->pid);
	ur_json_text(o, "comm", y->comm);
	ur_json_int(o, "age_ms", (ur_loop_now() - f->at) / 1000000);
	ur_json_add(o, "gone", json_object_new_boolean(y->gone));
	if (y->cm) {
		ur_json_text(o, "dst", y->dst);
		ur_json_int(o, "event", y->event);
		ur_json_add(o, "status", json_object_new_int(y->status));
	} else {
		ur_json_int(o, "qpn", y->qpn);
		ur_json_int(o, "dest_qpn", y->dest_qpn);
		if (y->have_path) {
			ur_gid_print(text, y->path.dgid);
			ur_json_text(o, "dgid", text);
		}
		ur_json_add(o, "peers", json_object_new_boolean(f->peers));
		ur_json_int(o, "status", f->status);
		ur_json_text(o, "opcode", ur_wqe_opcode_words(f->opcode));
		ur_json_int(o, "psn", f->psn);
		ur_json_add(o, "silence",
			    json_object_new_boolean(f->reason ==
						    UR_REASON_SILENCE));
	}
	add_story(o, w->daemon, w->asker, y);
	return o;
}

/* A queue pair connected to itself has both records: its own has all facts. */
static bool of_qp(struct ur_obj_qp *qp, struct ur_why *y)
{
	if (!ur_why_of_qp(qp, false, y) && !ur_why_of_qp(qp, true, y))
		return false;
	y->gone = ur_destroy_is_hinted(&qp->obj);
	return true;
}

bool ur_status_next_failure(struct ur_listing *w, struct json_object **o)
{
	const struct ur_why *kept;
	struct ur_obj_qp *qp;
	struct ur_why y;

	if (!w->second) {
		w->second = !ur_status_next_obj_qp(w, &qp);
		if (qp && of_qp(qp, &y))
			*o = describe(w, &y);
		return true;
	}
	kept = ur_why_next(w->daemon, w->last);
	if (!kept)
		return false;
	w->last = kept->id;
	*o = describe(w, kept);
	return true;
}

/* Finds the newest record of this queue pair, or of the process's rdma_cm. */
static bool find_kept(const struct ur_session *s, u32 qpn, struct ur_why *y)
{
	bool found = false;

	ur_list_each(const struct ur_why, kept, &s->daemon->whys, node) {
		if (ur_may_see(s, kept->uid) &&
		    (qpn ? !kept->cm && kept->qpn == qpn
			 : kept->cm && kept->pid == s->pid)) {
			*y = *kept;
			found = true;
		}
	}
	return found;
}

static bool find_live(const struct ur_session *s, u32 qpn, struct ur_why *y)
{
	ur_list_each(struct ur_device, dev, &s->daemon->devices, node) {
		struct ur_obj_qp *qp = ur_qpc_owner(dev, qpn);

		if (qp && ur_may_see(s, qp->obj.file->session->uid) &&
		    of_qp(qp, y))
			return true;
	}
	return false;
}

int ur_why_write(FILE *f, struct ur_session *to_whom, const char *number)
{
	u32 qpn = (u32)strtoul(number, NULL, 0);
	struct ur_daemon *daemon = to_whom->daemon;
	char *text = NULL;
	struct ur_why y;
	int err;

	ur_loop_lock(daemon->loop);
	err = ur_session_answer_room(to_whom, 0);
	if (!err && ((qpn && find_live(to_whom, qpn, &y)) ||
		     find_kept(to_whom, qpn, &y))) {
		text = story(daemon, to_whom, &y);
		err = text ? 0 : -ENOMEM;
	}
	ur_loop_unlock(daemon->loop);
	if (text)
		fputs(text, f);
	free(text);
	return err;
}
