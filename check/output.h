/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes reports to standard error and to a file. The program may close
 * descriptors and reuse their numbers for other files; those get nothing. Keeps
 * errno. With the table's lock or without.
 */
#ifndef UR_CHECK_OUTPUT_H
#define UR_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Initializes output, before all other functions. json: absolute name of the
 * file, or NULL. */
void ur_output_init(const char *json);

/* Returns whether there is a JSON file. */
bool ur_output_has_json(void);

/* Write the text in one piece to standard error or the end of the file. Errors
 * are ignored, and raise no signal. */
void ur_output_text(const char *text, size_t size);
void ur_output_json(const char *text, size_t size);

/* Moves a descriptor of ours to a high number, away from those that programs
 * expect, if possible. Returns its number. */
int ur_fd_high(int fd);

#endif
