/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state of the daemon as JSON, for the command line. */
#ifndef UR_DEVICE_STATUS_H
#define UR_DEVICE_STATUS_H

#include "device/device.h"

/*
 * A memfd (the caller's) with *len bytes of text, or -errno. subject: "" for
 * everything, or one of the top-level members "devices", "sessions", "qps",
 * "cqs", "mrs", "cm_ids", "cm". Lock held.
 */
int ur_status(struct ur_daemon *daemon, const char *subject, u64 *len);

#endif
