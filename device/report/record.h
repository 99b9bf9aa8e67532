/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorders of the devices: starts and stops them, returns their records to
 * authorized readers (format: kernel-abi/uroce-record.h), and writes files when a queue
 * pair fails. Control lock held, unless a comment says otherwise.
 */
#ifndef UR_DEVICE_REPORT_RECORD_H
#define UR_DEVICE_REPORT_RECORD_H

#include "engine/ground/recorder.h"
#include "device/session.h"

/* Maximum number of files per device; the oldest is overwritten. */
#define UR_RECORD_FILES 4

/* Starts a new recording with a ring of kib KiB, or stops recording with 0. Returns 0 or
 * -ENOMEM. */
int ur_record_set(struct ur_device *dev, u32 kib);
/* Returns the size of the ring in KiB, or 0 if the device does not record. */
u32 ur_record_kib(const struct ur_device *dev);

/* Keeps the name of a program with queue pairs that ends, for its records. */
void ur_record_client_ends(const struct ur_session *s);
/* Records an event for a program of rdma_cm, as ur_engine_record_cm() does. */
void ur_record_cm(struct ur_device *dev, u32 qpn, uid_t uid, pid_t pid,
		  u32 event, int status);

/* Registers a watcher that writes a file soon after a failed work request, and before its
 * device goes. Called before the first device is made. */
void ur_record_watch(struct ur_daemon *daemon);
/* Writes a file for each device that records: RUNDIR/record/DEVICE-N, which
 * only the daemon's user can read. */
void ur_record_write_all(struct ur_daemon *daemon);

/*
 * Returns a memfd, the caller's, with the records of all devices that to_whom's user may
 * see (ur_may_see()): his own, or all for an administrator. *len: bytes, charged to the
 * session. Returns -ENODATA if no device records, -ENOMEM or another -errno. Lock not held.
 */
int ur_record_memfd(struct ur_session *to_whom, u64 *len);

#endif
