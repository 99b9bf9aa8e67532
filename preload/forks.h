/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads of event files, for an engine in the program (kernel-abi/uroce-forks.h). */
#ifndef UR_PRELOAD_FORKS_H
#define UR_PRELOAD_FORKS_H

/* A descriptor that may be an event file is about to be read. Any thread. */
void ur_forks_before_read(int fd);

#endif
