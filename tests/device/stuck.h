/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that does not come: a page of a mapped file whose file system (this
 * process) keeps the reader waiting, and one under a userfaultfd that nobody
 * serves. */
#ifndef UR_TESTS_DEVICE_STUCK_H
#define UR_TESTS_DEVICE_STUCK_H

#include <stddef.h>

#define STUCK_BYTES 65536

/* Mount it and map the file; NULL where that is not allowed. Once in a
 * process, with a mount namespace of its own from then on. */
void *stuck_map(void);
/* Wait until somebody waits for a page of it. */
void stuck_wait(void);
/* The file system goes away: who waits fails. */
void stuck_end(void);

/* STUCK_BYTES under a userfaultfd; NULL where that is not allowed. */
void *stuck_fault(void);

#endif
