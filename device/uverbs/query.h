/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the device and its port say of themselves. */
#ifndef UR_DEVICE_QUERY_H
#define UR_DEVICE_QUERY_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/device.h"

u32 ur_num_comp_vectors(void);
void ur_fill_port(struct ur_device *dev, struct ib_uverbs_query_port_resp *r);
/* Rate in Gb/s times ten, of active_width and active_speed. */
u32 ur_port_rate10(const struct ib_uverbs_query_port_resp *r);

#endif
