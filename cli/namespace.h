/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A user namespace, without which an ordinary user cannot make other namespaces. */
#ifndef UR_CLI_NAMESPACE_H
#define UR_CLI_NAMESPACE_H

/* Maps user and group to themselves in the new user namespace of this process. Returns 0 or
 * -errno. */
int ur_namespace_map(unsigned int uid, unsigned int gid);

/* Makes a user namespace with the same user and group as outside, and the namespaces of
 * flags (CLONE_NEW*). The process has one thread. Returns 0 or -errno. */
int ur_namespace_own(int flags);

/* Writes text to a /proc file of the namespace. Returns 0 or -errno. */
int ur_namespace_write(const char *path, const char *text);

#endif
