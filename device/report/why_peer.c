// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The other end of a failure, if it is on our devices and visible to the asker. */
#include <string.h>
#include "device/administrator.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "device/report/why.h"

struct ur_device *ur_why_device_at(struct ur_daemon *daemon, const u8 *gid)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		for (u32 i = 0; i < UR_GID_MAX; i++) {
			const struct ur_gid *g = ur_gid_get(dev, i);

			if (g && !memcmp(g->gid, gid, 16))
				return dev;
		}
	}
	return NULL;
}

struct ur_obj_qp *ur_why_live_peer(struct ur_device *dev,
				   const struct ur_session *asker,
				   const struct ur_why *y)
{
	struct ur_obj_qp *qp = ur_qpc_owner(dev, y->dest_qpn);

	return qp && ur_may_see(asker, qp->obj.file->session->uid) ? qp : NULL;
}

/* Returns whether both records are ends of the same failure. */
static bool fits(const struct ur_why *theirs, const struct ur_why *y)
{
	return theirs->failure.peers != y->failure.peers &&
	       theirs->qpn == y->dest_qpn && theirs->dest_qpn == y->qpn &&
	       theirs->failure.psn == y->failure.psn && theirs->have_path &&
	       !memcmp(theirs->path.sgid, y->path.dgid, 16);
}

bool ur_why_of_peer(struct ur_daemon *daemon, struct ur_device *dev,
		    const struct ur_session *asker, const struct ur_why *y,
		    struct ur_why *found)
{
	struct ur_obj_qp *qp = ur_why_live_peer(dev, asker, y);

	if (qp && ur_why_of_qp(qp, !y->failure.peers, found) && fits(found, y))
		return true;
	ur_list_each(const struct ur_why, old, &daemon->whys, node) {
		if (ur_may_see(asker, old->uid) && !old->cm && fits(old, y)) {
			*found = *old;
			return true;
		}
	}
	return false;
}
