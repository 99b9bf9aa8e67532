/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The engine thread. */
#ifndef UR_DEVICE_TURN_H
#define UR_DEVICE_TURN_H

/* arg: struct ur_engine; returns when its stop is set. */
void *ur_turn_thread(void *arg);

#endif
