/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory files (memfd) for clients. */
#ifndef UR_DEVICE_MEMFD_H
#define UR_DEVICE_MEMFD_H

/*
 * Returns a new memfd, the caller's, close-on-exec and sealable; or -errno. Before a client
 * gets it, the caller seals it, with F_SEAL_SEAL: a client that could add seals could stop
 * us from shrinking the file or freeing its pages. Any thread.
 */
int ur_memfd(const char *name);
/* Does the same for a file that needs no other seals: it has F_SEAL_SEAL, so only the
 * daemon can change its size. */
int ur_memfd_for_client(const char *name);

#endif
