/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of the daemon as JSON, for the command line. */
#ifndef UR_DEVICE_REPORT_STATUS_H
#define UR_DEVICE_REPORT_STATUS_H

#include "device/device.h"

struct ur_session;

/*
 * Returns a memfd, the caller's, with *len bytes of text; or -EFBIG (more than a client
 * accepts), -ENOMEM (more than the session's user may have) or another -errno. subject: ""
 * for everything; a top-level member ("devices", "sessions", "qps", "cqs", "mrs", "cm_ids",
 * "cm" ...); or "story" and a QPN, answered in plain text (ur_why_write()). Facts that
 * to_whom's user may not see are left out (ur_may_see()). The text is charged to the
 * session while it is written. Called without the lock, which is taken for a few objects at
 * a time.
 */
int ur_status(struct ur_session *to_whom, const char *subject, u64 *len);

#endif
