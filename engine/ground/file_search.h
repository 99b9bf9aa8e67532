/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Searches the file behind memory of this process. In steps, since a process may have tens of thousands of mappings, and
 * the caller has other work.
 */
#ifndef UR_ENGINE_GROUND_FILE_SEARCH_H
#define UR_ENGINE_GROUND_FILE_SEARCH_H

#include "engine/ground/shared_file.h"

struct ur_file_search;

/* Begins a search for the memory range. Returns NULL without memory or /proc, or for a range longer than
 * UR_SHOWN_FILE_BYTES. Any thread. */
struct ur_file_search *ur_file_search_begin(u64 addr, u64 len);
/* Continues the search for about 0.3 ms. Returns -EAGAIN: call again; 0: found, with dev, ino, offset, bytes and fd of
 * *file filled in, and fd the caller's; -ENOENT: the memory is no file that can be exported. */
int ur_file_search_step(struct ur_file_search *search,
			struct ur_shown_file *file);
/* Frees a search. search may be NULL. */
void ur_file_search_end(struct ur_file_search *search);

#endif
