/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * uroced as a service: it notifies systemd when it serves and when it stops,
 * and feeds the watchdog only while every engine thread answers. Without
 * systemd all functions do nothing. Control lock held.
 */
#ifndef UR_DEVICE_SERVICE_H
#define UR_DEVICE_SERVICE_H

struct ur_daemon;

void ur_service_ready(struct ur_daemon *daemon);
void ur_service_reloading(struct ur_daemon *daemon);
void ur_service_stopping(struct ur_daemon *daemon);

#endif
