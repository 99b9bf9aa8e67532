/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The run directory: where the device process keeps its socket and the tree of
 * virtual RDMA files, and where programs look for them.
 */
#ifndef UR_UTIL_OS_RUNDIR_H
#define UR_UTIL_OS_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

struct stat;

/* The run directory of root, and of the service: the whole host's. */
#define UR_RUNDIR_HOST "/run/uroce"

/**
 * ur_rundir() - name of the run directory, absolute, without a trailing slash
 * @arg: what the user asked for on the command line, or NULL
 * @buf, @size: the name goes here
 *
 * In this order: @arg, $UROCE_RUN_DIR, /run/uroce as root,
 * $XDG_RUNTIME_DIR/uroce, /run/user/UID/uroce where /run/user/UID exists,
 * /tmp/uroce-UID. Creates nothing, allocates nothing.
 *
 * Return: 0, or -ENAMETOOLONG, or -errno of getcwd(2) for a relative name.
 */
int ur_rundir(const char *arg, char *buf, size_t size);

/**
 * ur_rundir_make() - create the directory (mode 0700 for a user's own, 0755 as
 * root) and check that it is to be trusted
 *
 * Parents are created too as long as they are missing.
 *
 * Return: 0, -EPERM where it is not, or -errno.
 */
int ur_rundir_make(const char *dir);

/**
 * ur_rundir_serves() - whether there is, or was, a device
 *
 * Its tree of files exists, and this process may look at it. System calls alone;
 * errno stays.
 */
bool ur_rundir_serves(const char *dir);

/**
 * ur_rundir_check() - check the directory before a device there gets memory
 *
 * Anybody can make directories in /tmp. So the default name there is only
 * accepted if the directory exists and is ours.
 *
 * Return: 0, -EPERM where it is not, or -errno.
 */
int ur_rundir_check(const char *dir);

/**
 * ur_rundir_check_peer() - before the device is shown memory or rights
 * @dir: the run directory
 * @sock: a connection to the device there
 *
 * Root's program, or command, uses the device of root or of a service (see
 * ur_rundir_trusted()), since any other user's device would get what the
 * program shows: its memory. It also uses the device of the user whose number
 * is in $UROCE_TRUST_UID. Root of a user namespace also uses the device of a
 * user who has no number there, such as the host's root.
 *
 * Return: 0, 1 where it is such another user's, who is shown no right, or -EPERM.
 */
int ur_rundir_check_peer(const char *dir, int sock);

/**
 * ur_rundir_trusted() - whether the contents of a directory can be trusted
 * @path, @st: its name, and its stat(2)
 *
 * True if its owner is us or root; or if it is directly in /run, where only root
 * makes directories, and gives them to the user of a service.
 */
bool ur_rundir_trusted(const char *path, const struct stat *st);

#endif
