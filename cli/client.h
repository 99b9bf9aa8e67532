/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A connection to the device process of a run directory. */
#ifndef UR_CLI_CLIENT_H
#define UR_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * ur_client_connect() - connect and see that somebody answers
 *
 * The connection counts as use of an on-demand device until it is closed. Where
 * the caller may administer the device's network namespace, the device knows it
 * from now on (util/os/proof.h). With one thread only: it is in that namespace
 * for a moment.
 * Return: socket, close-on-exec, or -errno (-ENOENT, -ECONNREFUSED: nobody is
 * there; -EIO: it went away while we asked).
 */
int ur_client_connect(const char *run_dir);

struct uroce_tun_msg;

/**
 * ur_client_ask() - one message and its DONE, which replaces it in @msg
 * @fd: to attach, or -1 (stays the caller's)
 * @ret_fd: what came with the answer, or -1
 * Return: 0 or -errno, as the answer says; -EIO when nobody answers.
 */
int ur_client_ask(int sock, struct uroce_tun_msg *msg, int fd, int *ret_fd);

/**
 * ur_client_ask_text() - the same for a message that text follows
 * @len: bytes of @text, its NUL included where the message wants it
 * Return: as ur_client_ask().
 */
int ur_client_ask_text(int sock, struct uroce_tun_msg *msg, const char *text,
		       size_t len);

/**
 * ur_client_lives() - is the device at @run_dir the one that @sock is connected to
 *
 * For where nobody answered: one of an older release ends a connection on which
 * a message comes that it does not know, as one that dies ends them all.
 */
bool ur_client_lives(int sock, const char *run_dir);

/**
 * ur_client_status() - ask for a status text
 * @subject: "" for the whole
 * @ret_text: JSON text, NUL terminated, to be freed by the caller
 * Return: 0 or -errno, as the device gave it.
 */
int ur_client_status(int sock, const char *subject, char **ret_text,
		     size_t *ret_size);

#endif
