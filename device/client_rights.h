/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client may do by the rights that the kernel has given it. */
#ifndef UR_DEVICE_CLIENT_RIGHTS_H
#define UR_DEVICE_CLIENT_RIGHTS_H

#include "device/session.h"

/* Returns whether the client has CAP_NET_RAW in our user namespace, for which
 * the kernel asks before it gives raw packet queue pairs and flow rules. Does
 * not wait for the client. */
bool ur_client_may_raw(const struct ur_session *s);

#endif
