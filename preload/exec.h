/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gives the device to programs that a program starts. */
#ifndef UR_PRELOAD_EXEC_H
#define UR_PRELOAD_EXEC_H

/* Stores what the environment says at the start of the process. Called once. */
void ur_exec_init(void);

#endif
