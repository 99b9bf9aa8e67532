/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * /etc/ld.so.preload, the file that names libraries for every dynamic program
 * (ld.so(8)): names with blanks or colons between them, and remarks from "#" to the
 * end of the line. The rest of its text, which others wrote, stays byte for byte.
 */
#ifndef UR_CLI_HOST_PRELOAD_FILE_H
#define UR_CLI_HOST_PRELOAD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UR_PRELOAD_FILE "/etc/ld.so.preload"

struct ur_preload_file {
	char *text; /* the caller's, to be freed; never NULL, ended by a 0 byte */
	size_t size;
	bool exists;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/**
 * ur_preload_file_read() - reads it
 * @root: of the file system; "" for this machine's
 * @file: its text, empty where there is no such file
 *
 * Return: 0; -EINVAL: it is a link or no plain file, has a 0 byte, or more than
 * 1 MiB; -ENOMEM or another -errno.
 */
int ur_preload_file_read(const char *root, struct ur_preload_file *file);

/**
 * ur_preload_file_write() - puts a whole new one in its place, or leaves it as it
 * is: a new file in the same folder, written to the disk and renamed
 * @text, @size: what shall be in it; size 0: there shall be no such file
 * @like: has its mode and owner, where it exists
 *
 * Return: 0 or -errno; -EBUSY: it is a mount point.
 */
int ur_preload_file_write(const char *root, const char *text, size_t size,
			  const struct ur_preload_file *like);

/**
 * ur_preload_file_ours() - an entry that names our library, in whatever folder
 * @entry: its name goes here, as a string; PATH_MAX bytes
 * @len: bytes of the name
 *
 * Return: where it begins in the text, or NULL where there is none.
 */
const char *ur_preload_file_ours(const char *text, char *entry, size_t *len);

/* Removes all our entries from the text, and lines that have nothing else. */
void ur_preload_file_cut(char *text);

#endif
