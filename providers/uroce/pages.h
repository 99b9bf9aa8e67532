/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pages that live in the shared file: which of the application's can, and
 * moving ranges of them in and out. Who uses them is page_share.c's matter.
 *
 * All functions: page aligned ranges; the caller holds the registry's lock.
 */
#ifndef UR_PROVIDER_PAGES_H
#define UR_PROVIDER_PAGES_H

#include "util/bytes.h"

/* The file's descriptor, -1 while there is none. */
int ur_pages_file(void);
/* 1: all of the range is in the file, at the offset of its address, where
 * 'dontfork' not for a child. 0: it cannot be, and is as it was. -EAGAIN: it
 * cannot be, and some that went would not come back (ur_pages_out()). */
int ur_pages_in(u64 start, u64 end, bool dontfork);
/* What of the range is in the file becomes plain memory again; whether all of it
 * could. */
bool ur_pages_out(u64 start, u64 end);
/* Whether anything is mapped from the file. */
bool ur_pages_any(void);
/* In the child of fork: it has copies of its own, and no file. */
void ur_pages_child(void);

#endif
