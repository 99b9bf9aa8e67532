/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Programs that a program starts have the device too. */
#ifndef UR_PRELOAD_EXEC_H
#define UR_PRELOAD_EXEC_H

/* Notes what the environment says at the start of the process. Called once. */
void ur_exec_init(void);

#endif
