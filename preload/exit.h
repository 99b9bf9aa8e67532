/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_PRELOAD_EXIT_H
#define UR_PRELOAD_EXIT_H

/* Be told when the process ends. Once, before anybody else is. */
void ur_exit_init(void);

#endif
