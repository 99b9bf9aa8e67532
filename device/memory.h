/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory that the daemon, and the kernel on its behalf, hold for a user:
 * charged to him in KiB, rounded up, at what one thing of a kind takes at most.
 * Rings and mapped regions are charged by their bytes (uverbs/maps.h).
 * doc/limits.md has the whole table; tests/device/test_memory measures that
 * what is charged is enough.
 */
#ifndef UR_DEVICE_MEMORY_H
#define UR_DEVICE_MEMORY_H

#include <sys/types.h>
#include "util/bytes.h"

/* ---- what one costs, in KiB ---- */

/* Domain, region, window, address handle, device memory, XRC domain, shared
 * receive queue, flow rule, counters object: control's part, engine's and transport's;
 * an rdma_cm event that a program wrote. */
#define UR_KIB_OBJECT 1
#define UR_KIB_CQ     2
/* A queue pair, with as many READs outstanding as there may be, and without
 * what its send queue adds: see ur_eqp_kib(). */
#define UR_KIB_QP 24 /* a work queue too */
/* An indirection table, and what queue pairs keep of it. */
#define UR_KIB_RWQ_TABLE 5
/* A completion channel or asynchronous event file: the events that its socket
 * holds until somebody reads them. */
#define UR_KIB_EVENTS 256
/* A connection: its thread, and answers that are not read. */
#define UR_KIB_SESSION 64
/* An open file: an uverbs context, or rdma_cm's page of changes. */
#define UR_KIB_FILE 64
/* An umad file: its agents, the MADs that it waits for answers to, and those in
 * its socket that nobody has read. */
#define UR_KIB_UMAD 448
/* An rdma_cm id, its connection, its event, and its two records for the next uroced. */
#define UR_KIB_CM_ID 6

/* Finds the limits of control groups. At the start, with all rights. */
void ur_memory_init(void);
/* Returns the KiB that this process may have: those of the machine, or the
 * limit of its control group or of a parent of that. Half of it is for all
 * users together; device/quota.h says how much of it one user may have. */
u64 ur_memory_total_kib(void);

/* Charges the user. Returns 0, or -ENOMEM with, now and then, a line in the
 * log. Control lock held. */
int ur_memory_take(uid_t uid, u32 kib);
/* Gives back what was charged. Control lock held. */
void ur_memory_give(uid_t uid, u32 kib);

#endif
