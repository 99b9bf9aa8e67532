/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A connection to the device process of a run directory. */
#ifndef UR_CLI_CLIENT_H
#define UR_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * ur_client_connect() - connect, and check that the device answers
 *
 * An on-demand device stays while the connection is open. If the caller may administer the
 * device's network namespace, proves that to the device (util/os/proof.h). Only with a single
 * thread, which enters that namespace for a moment.
 * Return: socket, close-on-exec, or -errno (-ENOENT, -ECONNREFUSED: no device; -EIO: it ended
 * meanwhile).
 */
int ur_client_connect(const char *run_dir);

struct uroce_tun_msg;

/**
 * ur_client_ask() - send a message and receive its DONE into @msg
 * @fd: to attach, or -1 (stays the caller's)
 * @ret_fd: the descriptor of the reply, or -1
 * Return: 0 or -errno, from the reply; -EIO without a reply.
 */
int ur_client_ask(int sock, struct uroce_tun_msg *msg, int fd, int *ret_fd);

/**
 * ur_client_ask_text() - the same for a message followed by text
 * @len: bytes of @text, with its NUL if the message requires that
 * Return: as ur_client_ask().
 */
int ur_client_ask_text(int sock, struct uroce_tun_msg *msg, const char *text,
		       size_t len);

/**
 * ur_client_lives() - whether the device at @run_dir is still the one behind @sock
 *
 * Called after a missing reply: a device of an older release hangs up on an unknown message,
 * while a dying one ends all connections.
 */
bool ur_client_lives(int sock, const char *run_dir);

/**
 * ur_client_status() - get a status text
 * @subject: "" for all
 * @ret_text: JSON text, NUL terminated, to be freed by the caller
 * Return: 0 or -errno, from the device.
 */
int ur_client_status(int sock, const char *subject, char **ret_text,
		     size_t *ret_size);

#endif
