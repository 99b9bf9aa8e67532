/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Threads that nobody waits for. */
#ifndef UR_UTIL_OS_THREAD_H
#define UR_UTIL_OS_THREAD_H

#include <stddef.h>

/* Starts a detached thread with that stack. It gets no signals of the process: all are blocked
 * but those that a fault of its own raises. Returns 0 or -errno. */
int ur_thread_start(size_t stack_bytes, void *(*run)(void *arg), void *arg);

#endif
