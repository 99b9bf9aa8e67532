/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Identifies the file of a descriptor. Inode numbers are not enough: those of sockets and
 * memfds have 32 bits and wrap, so a program that makes enough files gets two with one
 * number.
 */
#ifndef UR_DEVICE_FILE_ID_H
#define UR_DEVICE_FILE_ID_H

#include <stdbool.h>
#include <sys/types.h>
#include "util/bytes.h"

/* Linux file systems need 4 to 40 bytes. A longer handle is truncated, and compared by its
 * beginning. */
#define UR_FILE_HANDLE_BYTES 40

struct ur_file_id {
	u64 dev, ino;
	/* A socket's cookie, which no other socket ever gets; 0: no socket. */
	u64 cookie;
	/* The file handle (name_to_handle_at(2)). It contains the inode's generation, for a
	 * memfd a random number. Zero: the file has no handle. */
	u32 handle_bytes;
	s32 handle_type;
	u8 handle[UR_FILE_HANDLE_BYTES];
};

/* Fills *id. Does not block: the kernel asks no file server, and a socket's owner cannot
 * delay it. Returns 0 or -errno. */
int ur_file_id(int fd, struct ur_file_id *id);

bool ur_file_id_same(const struct ur_file_id *a, const struct ur_file_id *b);

#endif
