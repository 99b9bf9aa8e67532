/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages about the devices themselves: STATUS, LINK, FAULT, DIRECTORY. */
#ifndef UR_DEVICE_CONTROL_H
#define UR_DEVICE_CONTROL_H

#include "device/session.h"

/* Carries out the message and replies; hangs up if the reply cannot be sent. Returns false
 * if the message is none of these. On the session's thread, lock not held. */
bool ur_control(struct ur_session *s, const struct uroce_tun_msg *msg);

#endif
