/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device's own explanation of a failure, for devices of uroce. */
#ifndef UR_CHECK_WHY_H
#define UR_CHECK_WHY_H

#include <stdint.h>

/* Prints on standard error what the device knows about the failed queue pair
 * qpn, or, with 0, about the connection that this process did not get. Prints
 * nothing for another device's context (struct ibv_context *; NULL: a
 * connection without one), or if the mute file has WHY for this place. Without
 * the table's lock; takes a second at most. */
void ur_check_why(const void *context, uint32_t qpn);

#endif
