/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cases of undisturbed_memory. Each ends the process where it finds memory
 * that registration has disturbed. */
#ifndef UR_TESTS_UNDISTURBED_H
#define UR_TESTS_UNDISTURBED_H

#include "tests/e2e/verbs/bench.h"

/* pages.c: mappings and pages are the same before, meanwhile and after. */
void case_pages(void);
/* waiters.c: other threads, asleep or in system calls. */
void case_futex(void);
void case_psem(void);
void case_read(void);
void case_near_read(void);
void case_near_cond(void);
void case_near_sem(void);

#endif
