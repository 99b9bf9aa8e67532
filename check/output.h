/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reports go to standard error, and into a file. The program may close descriptors and
 * open others under their numbers; those get nothing. errno stays. With the table's
 * lock or without.
 */
#ifndef UR_CHECK_OUTPUT_H
#define UR_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Begins: once, before all others. json: the file, absolute, or NULL. */
void ur_output_init(const char *json);

/* Returns whether there is a file. */
bool ur_output_has_json(void);

/* Write all of the text, in one piece, to standard error or the end of the file; what
 * cannot be written is lost. No signal comes of it. */
void ur_output_text(const char *text, size_t size);
void ur_output_json(const char *text, size_t size);

/* Moves a descriptor of ours out of the way of programs that count on low
 * numbers, where it can. Returns its number then. */
int ur_fd_high(int fd);

#endif
