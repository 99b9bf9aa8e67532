/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Vendors' functions beside verbs (mlx5dv_*, efadv_* and others). They are not
 * wrapped, their objects are not watched, and direct access to a queue's memory
 * is not seen.
 */
#ifndef UR_CHECK_VENDOR_H
#define UR_CHECK_VENDOR_H

#include <stdbool.h>

/* Notes that a context of this provider, such as "mlx5", was opened; "":
 * unknown. With the table's lock. */
void ur_vendor_opened(const char *provider);

/* Returns whether any context was opened in this process. Without the lock or
 * with it. */
bool ur_vendor_any(void);

/* Returns whether the program links functions of its devices' vendors. With the
 * lock. */
bool ur_vendor_linked(void);

/* Prints on standard error which functions of its devices' vendors the program
 * links, if any. Without the lock. */
void ur_vendor_note(void);

#endif
