/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads of event files and the end of the process, for an engine in the program
 * (kernel-abi/uroce-forks.h). */
#ifndef UR_PRELOAD_FORKS_H
#define UR_PRELOAD_FORKS_H

/* A descriptor that may be an event file is about to be read. Any thread. */
void ur_forks_before_read(int fd);
/* The process is about to end, or to run another program. Any thread, also in a handler of a
 * signal. */
void ur_forks_last(void);

#endif
