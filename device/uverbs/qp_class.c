// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Traffic class and hop limit of RC queue pairs: the administrator's rules override the
 * program. QUERY_QP still returns the program's values. */
#include "device/uverbs/qp_class.h"
#include "device/uverbs/ufile.h"
#include "util/assert.h"

void ur_qp_class_apply(const struct ur_device *dev, struct ur_obj_qp *qp)
{
	struct ur_epath path;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (qp->type != UR_QPT_RC || !qp->qpc || !qp->qpc->have_path)
		return;
	path = qp->qpc->path;
	ur_tclass_apply(&dev->tclass, path.sgid, path.dgid, &path.traffic_class,
			&path.hop_limit);
	ur_engine_put_class(dev->engine, qp->qpc->qpn, path.traffic_class,
			    path.hop_limit);
}

void ur_qp_class_changed(struct ur_device_file *on_device)
{
	struct ur_ufile *file = ur_ufile_of(on_device);

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	for (u32 i = 0; i < file->handles.size; i++) {
		struct ur_object *obj = file->handles.slot[i];

		if (obj && obj->type->id == UVERBS_OBJECT_QP)
			ur_qp_class_apply(file->dev, ur_obj_qp_of(obj));
	}
}
