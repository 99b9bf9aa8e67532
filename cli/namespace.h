/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A user namespace, for users who may have no other namespace without it. */
#ifndef UR_CLI_NAMESPACE_H
#define UR_CLI_NAMESPACE_H

/* Maps the user and the group to themselves in the user namespace that this
 * process was put into. Returns 0 or -errno. */
int ur_namespace_map(unsigned int uid, unsigned int gid);

/* Makes a user namespace, in which user and group are the same as outside, and
 * with it those of flags (CLONE_NEW*). The process has one thread. Returns 0 or
 * -errno. */
int ur_namespace_own(int flags);

/* Writes text to a file of /proc that is the namespace's. Returns 0 or -errno. */
int ur_namespace_write(const char *path, const char *text);

#endif
