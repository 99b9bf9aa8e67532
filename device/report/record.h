/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flight recorders of the devices: they begin and end here, are read by
 * those who may know (kernel-abi/uroce-record.h is the form), and are written
 * to files when a queue pair fails. Control lock held, unless a comment says
 * otherwise.
 */
#ifndef UR_DEVICE_REPORT_RECORD_H
#define UR_DEVICE_REPORT_RECORD_H

#include "engine/ground/recorder.h"
#include "device/session.h"

/* Files of one device at most: the oldest is written over. */
#define UR_RECORD_FILES 4

/* Begins to record, anew where it did already, with so many KiB, or ends it with
 * 0. Returns 0 or -ENOMEM. */
int ur_record_set(struct ur_device *dev, u32 kib);
/* Returns the KiB, or 0 while nothing is recorded. */
u32 ur_record_kib(const struct ur_device *dev);

/* A program with queue pairs ends: its name is kept beside its records. */
void ur_record_client_ends(const struct ur_session *s);
/* Records an event for a program of rdma_cm, as ur_engine_record_cm() does. */
void ur_record_cm(struct ur_device *dev, u32 qpn, uid_t uid, pid_t pid,
		  u32 event, int status);

/* To be called before the first device: from then on a file is written soon
 * after a work request failed, and before its device goes. */
void ur_record_watch(struct ur_daemon *daemon);
/* Writes a file for each device that records: RUNDIR/record/DEVICE-N, which
 * only the daemon's user can read. */
void ur_record_write_all(struct ur_daemon *daemon);

/*
 * Returns a memfd, the caller's, with what all devices have recorded, as far as
 * to_whom's user may know it: his own, or all for an administrator (ur_may_see()).
 * *len bytes; charged to the session. Returns -ENODATA where no device records,
 * -ENOMEM or another -errno. Lock not held.
 */
int ur_record_tell(struct ur_session *to_whom, u64 *len);

#endif
