/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory of a process that is a file in memory already (a memfd, /dev/shm, hugetlbfs, mapped
 * shared). The process finds the file (file_search.h) and says where it is: which of its own descriptors it
 * has. Another process of the same user opens that in /proc, as it could without us, and maps it
 * to read: it is the kernel that says whether it may.
 */
#ifndef UR_ENGINE_GROUND_SHARED_FILE_H
#define UR_ENGINE_GROUND_SHARED_FILE_H

#include <sys/types.h>
#include "util/bytes.h"

/* A process shows memory by this, all of which the next one doubts. */
struct ur_shown_file {
	u64 dev, ino;
	u64 offset,
		bytes; /* in the file, of the memory's first byte; 0 bytes: it is shown no more */
	s32 pid, fd; /* of the process, and its descriptor */
	s32 proof;   /* one of a file that the reader knows */
	u32 number;  /* not 0; never again */
	u32 place;   /* of that reader's */
};

/* Memory that is longer is not shown. */
#define UR_SHOWN_FILE_BYTES (1ull << 40)

/* A file of another process, mapped. */
struct ur_seen_file {
	const u8 *map; /* NULL: none */
	size_t map_bytes;
	const u8 *at; /* what is shown */
	u64 bytes;
};

/* Returns whether it is a file in memory, of this user, which can be read by that descriptor. */
bool ur_shared_file_is_good(int fd);
/* Returns whether the calling thread may make all calls that this takes: no filter of system calls is over it, which might
 * end the process for one. */
bool ur_shared_files_may(void);
/* Returns whether that is a process of this one's user and namespaces that the kernel lets it look into, whose
 * descriptor proof is of the file known. */
bool ur_process_is_kin(s32 pid, s32 proof, int known);
/* Opens and maps what another process shows. Returns 0, -EPERM (it is no such process, or has ended) or
 * -errno. */
int ur_seen_file_map(const struct ur_shown_file *shown, int known,
		     struct ur_seen_file *seen);
void ur_seen_file_unmap(struct ur_seen_file *seen);

#endif
