/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control of a device, from dev->cc. Control lock held. */
#ifndef UR_DEVICE_CC_H
#define UR_DEVICE_CC_H

#include "device/device.h"

/* Sets the default values of a new device. Its engine exists. */
void ur_device_cc_init(struct ur_device *dev);
/* Applies dev->cc, and the speed of its netdev, to the engine. */
void ur_device_cc_apply(struct ur_device *dev);

#endif
