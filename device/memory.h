/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory that the daemon, and the kernel on its behalf, hold for a user. It is charged to
 * the user in KiB, rounded up, at the most that an object of its kind takes. doc/limits.md has the whole
 * table; tests/device/test_memory measures that the charges are enough.
 */
#ifndef UR_DEVICE_MEMORY_H
#define UR_DEVICE_MEMORY_H

#include <sys/types.h>
#include "util/bytes.h"

/* ---- what one costs, in KiB ---- */

/* Domain, region, window, address handle, device memory, XRC domain, shared receive queue,
 * flow rule, counters object; and an
 * rdma_cm event that a program wrote. */
#define UR_KIB_OBJECT 1
#define UR_KIB_CQ     2
#define UR_KIB_QP     4 /* a work queue too */
/* An indirection table, with the copies in its queue pairs. */
#define UR_KIB_RWQ_TABLE 5
/* A completion channel or asynchronous event file: unread events in its socket. */
#define UR_KIB_EVENTS 256
/* A connection: its thread and unread replies. */
#define UR_KIB_SESSION 64
/* An open file: a uverbs context, or the page of changes of rdma_cm. */
#define UR_KIB_FILE 64
/* A umad file: its agents, its requests without a response yet, and unread MADs in its
 * socket. */
#define UR_KIB_UMAD 448
/* An rdma_cm id, its connection, its event, and its two records for the next uroced. */
#define UR_KIB_CM_ID 6

/* Finds the limits of control groups. Called at the start, with all rights. */
void ur_memory_init(void);
/* Returns the KiB that this process may use: the machine's memory, or the lowest limit of
 * its control group and that group's parents. All users together get half of it;
 * device/quota.h gives the part of one user. */
u64 ur_memory_total_kib(void);

/* Charges the user. Returns 0 or -ENOMEM, which is logged at a limited rate. Control lock
 * held. */
int ur_memory_take(uid_t uid, u32 kib);
/* Gives back what was charged. Control lock held. */
void ur_memory_give(uid_t uid, u32 kib);

#endif
