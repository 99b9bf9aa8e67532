/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pages that live in the shared file: which of the application's pages can, and
 * how ranges of them move in and out. page_share.c knows which registrations
 * use them.
 *
 * Ranges are page aligned. The caller holds the registry's lock.
 */
#ifndef UR_PROVIDER_PAGES_H
#define UR_PROVIDER_PAGES_H

#include "util/bytes.h"

/* Returns the descriptor of the file, or -1 while there is none. */
int ur_pages_file(void);
/* Moves the range into the file, at the offset of its address. dontfork: a
 * child of fork shall not have it. Returns 1, 0 where the range cannot be moved
 * and is as it was, or -EAGAIN where it cannot be moved and some pages that
 * were moved did not come back: the caller calls ur_pages_out() later. */
int ur_pages_in(u64 start, u64 end, bool dontfork);
/* Makes what is in the file of the range plain memory again. Returns whether
 * all of it could be. */
bool ur_pages_out(u64 start, u64 end);
/* Returns whether anything is mapped from the file. */
bool ur_pages_any(void);
/* Gives a child of fork copies of its own, and no file. Called in the child. */
void ur_pages_child(void);

#endif
