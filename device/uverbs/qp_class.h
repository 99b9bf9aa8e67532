/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Applies the administrator's rules for IP headers to the device's RC queue
 * pairs. Control lock held. */
#ifndef UR_DEVICE_UVERBS_QP_CLASS_H
#define UR_DEVICE_UVERBS_QP_CLASS_H

#include "device/uverbs/objects.h"

/* Applies dev->tclass to the connected queue pairs of the file (device.h). */
void ur_qp_class_changed(struct ur_device_file *on_device);
/* Does the same for a queue pair whose path was just set. */
void ur_qp_class_apply(const struct ur_device *dev, struct ur_obj_qp *qp);

#endif
