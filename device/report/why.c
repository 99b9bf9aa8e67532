// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Records of failures: copied from queue pairs, kept after their end, bounded. */
#include <stdlib.h>
#include <string.h>
#include "device/memory.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "device/report/why.h"
#include "util/assert.h"

/* Maximum age of a record. */
#define KEEP_NS (600ull * 1000000000)

static void forget(struct ur_daemon *daemon, struct ur_why *y)
{
	ur_assert(daemon->n_whys && !ur_list_empty(&y->node));
	ur_memory_give(y->uid, UR_KIB_OBJECT);
	ur_list_del(&y->node);
	daemon->n_whys--;
	free(y);
}

static void make_room(struct ur_daemon *daemon, uid_t uid)
{
	struct ur_why *oldest = NULL;
	u64 now = ur_loop_now();
	u32 n = 0;

	ur_assert(ur_loop_mine(daemon->loop));
	ur_list_for_each_safe(it, &daemon->whys) {
		struct ur_why *y = ur_list_entry(it, struct ur_why, node);

		if (now - y->failure.at > KEEP_NS) {
			forget(daemon, y);
			continue;
		}
		if (y->uid != uid)
			continue;
		if (!oldest)
			oldest = y;
		n++;
	}
	if (n >= UR_WHY_PER_USER)
		forget(daemon, oldest);
	else if (daemon->n_whys >= UR_WHY_MAX)
		forget(daemon,
		       ur_list_entry(daemon->whys.next, struct ur_why, node));
}

void ur_why_keep(struct ur_session *s, const struct ur_why *y)
{
	struct ur_daemon *daemon = s->daemon;
	struct ur_why *copy;

	ur_assert(ur_loop_mine(s->daemon->loop));
	make_room(daemon, s->uid);
	if (ur_memory_take(s->uid, UR_KIB_OBJECT))
		return;
	copy = malloc(sizeof(*copy));
	if (!copy) {
		ur_memory_give(s->uid, UR_KIB_OBJECT);
		return;
	}
	*copy = *y;
	copy->uid = s->uid;
	copy->pid = s->pid;
	memcpy(copy->comm, s->comm, sizeof(copy->comm));
	copy->gone = true;
	copy->id = ++daemon->last_why;
	ur_list_add_tail(&daemon->whys, &copy->node);
	daemon->n_whys++;
}

bool ur_why_of_qp(struct ur_obj_qp *qp, bool peers, struct ur_why *y)
{
	const struct ur_session *s = qp->obj.file->session;
	const struct ur_device *dev = qp->obj.file->dev;
	const struct ur_qpc *qpc = qp->qpc;

	ur_assert(ur_loop_mine(qp->obj.file->dev->daemon->loop));
	memset(y, 0, sizeof(*y));
	if (!qpc ||
	    !ur_engine_shown_failure(dev->engine, qpc->qpn, peers, &y->failure))
		return false;
	y->path = qpc->path;
	y->have_path = qpc->have_path;
	y->uid = s->uid;
	y->pid = s->pid;
	memcpy(y->comm, s->comm, sizeof(y->comm));
	snprintf(y->device, sizeof(y->device), "%s", dev->name);
	y->qpn = qpc->qpn;
	y->dest_qpn = qpc->attr.dest_qpn;
	y->path_mtu = qpc->attr.path_mtu;
	y->type = (u8)qp->type;
	return true;
}

void ur_why_keep_qp(struct ur_obj_qp *qp)
{
	struct ur_why y;

	for (int peers = 0; peers < 2; peers++)
		if (ur_why_of_qp(qp, peers, &y))
			ur_why_keep(qp->obj.file->session, &y);
}

const struct ur_why *ur_why_next(struct ur_daemon *daemon, u64 after)
{
	ur_assert(ur_loop_mine(daemon->loop));
	ur_list_each(const struct ur_why, y, &daemon->whys, node) {
		if (y->id > after && ur_loop_now() - y->failure.at <= KEEP_NS)
			return y;
	}
	return NULL;
}

void ur_why_forget_all(struct ur_daemon *daemon)
{
	ur_list_for_each_safe(it, &daemon->whys)
		forget(daemon, ur_list_entry(it, struct ur_why, node));
}
