/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engines in a process of their own: another implementation of struct uroce_door, whose
 * functions are messages (kernel-abi/uroce-apart.h). Queues are posted to and polled in
 * memory, and the engine's own thread does the work. After the end of the process each
 * function returns -EIO.
 */
#ifndef UR_PROVIDERS_UROCE_APART_H
#define UR_PROVIDERS_UROCE_APART_H

#include "kernel-abi/uroce-apart.h"

/* Its open() is called with sock in place of the uverbs file, which becomes the callee's, and without
 * open. posted() and datagram() do nothing: the doorbell's wake_fd is info->wake_fd. */
extern const struct uroce_door ur_apart_door;

#endif
