/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_PRELOAD_EXIT_H
#define UR_PRELOAD_EXIT_H

/* Arranges that the end of the process is noticed, before others that register
 * for it notice it. Called once, when the library is loaded. */
void ur_exit_init(void);
/* The first thread ends, or may by a call that is not seen: util/os/first_thread.h. */
void ur_exit_first(void);

#endif
