/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages about the devices themselves: STATUS, LINK, FAULT, DIRECTORY. */
#ifndef UR_DEVICE_CONTROL_H
#define UR_DEVICE_CONTROL_H

#include "device/session.h"

/* Does what the message asks, and answers; a connection that takes no answer
 * is hung up. Returns false where the message is none of these. The session's
 * thread, lock not held. */
bool ur_control(struct ur_session *s, const struct uroce_tun_msg *msg);

#endif
