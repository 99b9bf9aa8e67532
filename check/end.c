// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The end of objects of any kind. */
#include <errno.h>

#include "check/front.h"
#include "check/report.h"

__thread int ur_inside_cm;

void ur_judge_unacked(const struct ur_watched *object)
{
	if (object && object->async_unacked)
		ur_report(UR_CHECK_ASYNC_UNACKED, object,
			  "%u events of it were got and not acknowledged",
			  object->async_unacked);
}

void ur_busy(const struct ur_watched *object)
{
	/* rdma_destroy_qp() tries whether it was the last queue pair. */
	if (ur_inside_cm)
		return;
	for (int kind = 0; kind < UR_KINDS; kind++) {
		struct ur_watched *o = ur_watched_newest(kind);

		for (; o; o = o->older) {
			for (int i = 0; i < UR_NEEDS; i++) {
				if (o->needs[i] != object)
					continue;
				ur_report(UR_CHECK_BUSY, o,
					  "the %s (%p) is still needed by this "
					  "%s, and %u in all",
					  ur_kind_name(object->kind),
					  object->handle, ur_kind_name(o->kind),
					  object->users);
				return;
			}
		}
	}
}

void ur_watch_ended(struct ur_watched *object, int err)
{
	if (!object)
		return;
	ur_table_lock();
	if (err)
		ur_watch_back(object);
	else
		ur_watch_gone(object);
	if (err == EBUSY)
		ur_busy(object);
	ur_table_unlock();
}
