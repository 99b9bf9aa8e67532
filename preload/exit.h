/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_PRELOAD_EXIT_H
#define UR_PRELOAD_EXIT_H

/* Registers for the end of the process, before other handlers do. Called once,
 * when the library is loaded. */
void ur_exit_init(void);
/* Notes that the first thread ends, or may end by an unseen system call:
 * util/os/first_thread.h. */
void ur_exit_first(void);

#endif
