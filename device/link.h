/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* `uroce link add` and `del`: adds and removes devices at run time. */
#ifndef UR_DEVICE_LINK_H
#define UR_DEVICE_LINK_H

#include "device/session.h"

/*
 * Carries out a UROCE_TUN_LINK of this client. ret_name (UROCE_TUN_NAME_MAX bytes) gets the
 * name of the device. Returns 0, -EPERM (the client is neither root nor the daemon's user),
 * an error of ur_device_create(), or, for a removal, -ENODEV (no such device). Control lock
 * held.
 */
int ur_link_command(struct ur_session *s, const struct uroce_tun_msg *msg,
		    char *ret_name);

#endif
