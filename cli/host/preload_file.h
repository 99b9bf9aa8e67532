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
 * ur_preload_file_read() - read the file
 * @root: of the file system; "" for this machine's
 * @file: gets its text, empty if there is no such file
 *
 * Return: 0; -EINVAL: it is a link or no plain file, has a 0 byte, or more than
 * 1 MiB; -ENOMEM or another -errno.
 */
int ur_preload_file_read(const char *root, struct ur_preload_file *file);

/**
 * ur_preload_file_write() - replace the file atomically: write a new file in the same
 * folder, sync it and rename it
 * @text, @size: the new content; size 0: removes the file
 * @like: the old file, whose mode and owner are kept
 *
 * Return: 0 or -errno; -EBUSY: it is a mount point.
 */
int ur_preload_file_write(const char *root, const char *text, size_t size,
			  const struct ur_preload_file *like);

/**
 * ur_preload_file_ours() - find an entry that names our library, in any folder
 * @entry: gets its name, as a string; PATH_MAX bytes
 * @len: bytes of the name
 *
 * Return: its position in the text, or NULL.
 */
const char *ur_preload_file_ours(const char *text, char *entry, size_t *len);

/* Removes all our entries from the text, and lines that have nothing else. */
void ur_preload_file_cut(char *text);

#endif
