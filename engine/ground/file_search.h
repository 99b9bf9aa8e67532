/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The search for the file that memory of this process is: in steps, since a process may have tens of thousands of
 * mappings, and whoever searches has other things to do.
 */
#ifndef UR_ENGINE_GROUND_FILE_SEARCH_H
#define UR_ENGINE_GROUND_FILE_SEARCH_H

#include "engine/ground/shared_file.h"

struct ur_file_search;

/* Begins one for a range. Returns NULL where there is no memory, or nothing to look at. Any thread. */
struct ur_file_search *ur_file_search_begin(u64 addr, u64 len);
/* Goes on for 0.3 ms or so. Returns -EAGAIN: there is more to do; 0: the file is found, dev, ino, offset, bytes and fd
 * of *file are filled in, and fd is the caller's; -ENOENT: it is none that can be shown. */
int ur_file_search_step(struct ur_file_search *search,
			struct ur_shown_file *file);
/* Frees it. NULL: nothing. */
void ur_file_search_end(struct ur_file_search *search);

#endif
