/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection to the device process of a run directory. */
#ifndef UR_CLI_CLIENT_H
#define UR_CLI_CLIENT_H

#include <stddef.h>

/**
 * ur_client_connect() - connect and see that somebody answers
 *
 * The connection counts as use of an on-demand device until it is closed.
 * Return: socket, close-on-exec, or -errno (-ENOENT, -ECONNREFUSED: nobody is
 * there; -EIO: it went away while we asked).
 */
int ur_client_connect(const char *run_dir);

/**
 * ur_client_status() - ask for a status text
 * @subject: "" for the whole
 * @ret_text: JSON text, NUL terminated, to be freed by the caller
 * Return: 0 or -errno, as the device gave it.
 */
int ur_client_status(int sock, const char *subject, char **ret_text,
		     size_t *ret_size);

#endif
