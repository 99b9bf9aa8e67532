/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device's own story of a failure, where the device is one of uroce. */
#ifndef UR_CHECK_WHY_H
#define UR_CHECK_WHY_H

#include <stdint.h>

/* Writes on standard error what the device knows of the failed queue pair with
 * that number, or with 0 of the connection that this process did not get;
 * nothing where the context (struct ibv_context *; NULL: of a connection that got
 * none) is of another device, or the mute file has WHY for this place. Without the
 * table's lock; takes a second at most. */
void ur_check_why(const void *context, uint32_t qpn);

#endif
