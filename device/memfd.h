/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files in memory that clients are given. */
#ifndef UR_DEVICE_MEMFD_H
#define UR_DEVICE_MEMFD_H

/*
 * Returns a new memfd, the caller's, close-on-exec, that may be sealed; or
 * -errno. Before a client gets it, the caller adds F_SEAL_SEAL to its own
 * seals: a file that a client has sealed can neither be shortened nor taken
 * back. Any thread.
 */
int ur_memfd(const char *name);
/* The same for a file that has no other seals: only the daemon changes its
 * size. */
int ur_memfd_for_client(const char *name);

#endif
