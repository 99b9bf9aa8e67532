/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of the daemon as JSON, for the command line. */
#ifndef UR_DEVICE_REPORT_STATUS_H
#define UR_DEVICE_REPORT_STATUS_H

#include "device/device.h"

struct ur_session;

/*
 * Returns a memfd, the caller's, with *len bytes of text, -EFBIG (more than a
 * client takes), -ENOMEM (more than the session's user may have) or another
 * -errno. subject: "" for everything, or one of the top-level members
 * "devices", "sessions", "qps", "cqs", "mrs", "cm_ids", "cm" ..., or "story"
 * and a QPN, which is answered in plain text: see ur_why_tell(). Facts about
 * others' objects that to_whom's user may not know are left out: see
 * ur_may_see(). The text is charged to the session while it is written. Without
 * the lock, which is taken for a few objects at a time.
 */
int ur_status(struct ur_session *to_whom, const char *subject, u64 *len);

#endif
