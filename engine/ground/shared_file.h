/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory of a process that is a file in memory already (a memfd, /dev/shm, hugetlbfs, mapped shared). The
 * process finds the file (file_search.h) and publishes the number of its descriptor. Another process of the
 * same user opens that in /proc, as it could without us, and maps it read-only. The kernel decides whether
 * it may.
 */
#ifndef UR_ENGINE_GROUND_SHARED_FILE_H
#define UR_ENGINE_GROUND_SHARED_FILE_H

#include <sys/types.h>
#include "util/bytes.h"

/* Describes exported memory. The reader trusts none of it. */
struct ur_shown_file {
	u64 dev, ino;
	/* offset: in the file, of the memory's first byte. bytes 0: the export
	 * is revoked. */
	u64 offset, bytes;
	s32 pid, fd; /* the exporter, and its descriptor of the file */
	s32 proof; /* the exporter's descriptor of a file that the reader knows */
	u32 number; /* of this export: not 0, never reused */
	u32 place;  /* index in the reader's table */
};

/* Longer memory is not exported. */
#define UR_SHOWN_FILE_BYTES (1ull << 40)

/* A file of another process, mapped. */
struct ur_seen_file {
	const u8 *map; /* NULL: none */
	size_t map_bytes;
	const u8 *at; /* the exported memory in map */
	u64 bytes;
};

/* Returns whether fd is a file in memory that belongs to this user and can be read by fd. */
bool ur_shared_file_is_good(int fd);
/* Returns whether the calling thread may make the system calls of this file: it has no seccomp filter, which might end the
 * process. */
bool ur_shared_files_may(void);
/* Returns whether pid is a process of our user and namespaces that the kernel lets us inspect, and whose descriptor proof
 * is the same file as our descriptor known. */
bool ur_process_is_kin(s32 pid, s32 proof, int known);
/* Maps memory that another process exports, in *seen. Returns 0, -EPERM (not such a process, or it has ended) or
 * -errno. */
int ur_seen_file_map(const struct ur_shown_file *shown, int known,
		     struct ur_seen_file *seen);
void ur_seen_file_unmap(struct ur_seen_file *seen);

#endif
