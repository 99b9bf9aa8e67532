/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions of vendors beside verbs (mlx5dv_*, efadv_* and others), which pass
 * through. The objects that they make are not watched, and nobody sees what a program
 * does in a queue's memory by itself.
 */
#ifndef UR_CHECK_VENDOR_H
#define UR_CHECK_VENDOR_H

#include <stdbool.h>

/* Notes that a context of this provider was opened ("mlx5"; "": none that
 * is known). With the table's lock. */
void ur_vendor_opened(const char *provider);

/* Returns whether any context was opened in this process. Without the lock or
 * with it. */
bool ur_vendor_any(void);

/* Returns whether the program is linked with functions of the vendors of its
 * devices. With the lock. */
bool ur_vendor_linked(void);

/* Says on standard error which functions of the vendors of its devices the program
 * is linked with, if any. Without the lock. */
void ur_vendor_note(void);

#endif
