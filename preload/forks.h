/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Notifies an engine in the program of reads of event files and of the end of
 * the process, and the provider of the latter (kernel-abi/uroce-forks.h). */
#ifndef UR_PRELOAD_FORKS_H
#define UR_PRELOAD_FORKS_H

/* Called before a read of a descriptor that may be an event file. Any
 * thread. */
void ur_forks_before_read(int fd);
/* Called before the process ends or executes another program. Any thread, also in a signal
 * handler. Does nothing in a vfork() child. */
void ur_forks_last(void);

#endif
