/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Identifies the file of a descriptor. Inode numbers do not: those of sockets
 * and of files in memory have 32 bits and begin anew, so a program that makes
 * enough of them gets two with one number.
 */
#ifndef UR_DEVICE_FILE_ID_H
#define UR_DEVICE_FILE_ID_H

#include <stdbool.h>
#include <sys/types.h>
#include "util/bytes.h"

/* File systems of this kernel need 4 to 40 bytes. A longer handle is cut, and
 * compared by its beginning. */
#define UR_FILE_HANDLE_BYTES 40

struct ur_file_id {
	u64 dev, ino;
	/* A socket's cookie, which no other socket has, ever; 0: no socket. */
	u64 cookie;
	/* The handle of the file system, which has the generation of the
	 * inode: of a file in memory a random number. Zero: it has none. */
	u32 handle_bytes;
	s32 handle_type;
	u8 handle[UR_FILE_HANDLE_BYTES];
};

/* Fills *id. The kernel answers from what it knows: no server of a file system is
 * asked, and a socket's owner cannot hold it up. Returns 0 or -errno. */
int ur_file_id(int fd, struct ur_file_id *id);

bool ur_file_id_same(const struct ur_file_id *a, const struct ur_file_id *b);

#endif
