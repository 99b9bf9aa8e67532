/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The directory of a fabric, of its user, with the keeper's socket, and "hosts",
 * where the hosts see a memory file system with their devices' run directories. The process
 * that has the directory locked (flock(2)) owns the fabric: guardian and keeper, while they
 * live.
 */
#ifndef UR_CLI_FABRIC_DIRECTORY_H
#define UR_CLI_FABRIC_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

#include "cli/command.h"
#include "cli/fabric/protocol.h"

#define UR_FABRIC_SOCKET "socket"
#define UR_FABRIC_RUN	 "hosts"
/* An environment variable of the hosts: the fabric's directory. */
#define UR_FABRIC_VARIABLE "UROCE_FABRIC"

struct ur_fabric_dir {
	char dir[PATH_MAX / 2];
	char run[PATH_MAX / 2 + 16]; /* dir/hosts */
	char name[UR_FABRIC_NAME_MAX];
};

/**
 * ur_fabric_dir_find() - determine the directory, by --run-dir and --name
 *
 * With --run-dir DIR: DIR/NAME. Otherwise, in a host: its own fabric, or with another NAME a
 * fabric inside that. Otherwise: NAME in the user's usual run directory with the suffix
 * "-fabric". Neither makes nor examines the directory.
 *
 * Return: 0, or -EINVAL after a line on stderr.
 */
int ur_fabric_dir_find(const struct ur_options *options,
		       struct ur_fabric_dir *paths);

/**
 * ur_fabric_dir_take() - make the directory and lock it
 *
 * Removes the remains of a killed fabric.
 *
 * Return: the locked descriptor, close-on-exec, for ur_fabric_dir_clear(); or -errno after
 * a line on stderr; -EBUSY: the fabric is up.
 */
int ur_fabric_dir_take(const struct ur_fabric_dir *paths);

/* Makes the keeper's socket in the directory. Returns it, listening, or -errno. */
int ur_fabric_dir_listen(int dir);

/* Removes the directory with its contents, and the parent if that is ours and empty. */
void ur_fabric_dir_clear(const struct ur_fabric_dir *paths, int dir);

/* Waits until the directory is unlocked: its fabric has ended. Returns 0, or -ETIMEDOUT
 * after some seconds. */
int ur_fabric_dir_await(const struct ur_fabric_dir *paths);

/**
 * ur_fabric_ask_open() - connect to the keeper, which must be this user's
 * Return: the socket, close-on-exec, or -errno after a line on stderr.
 */
int ur_fabric_ask_open(const struct ur_fabric_dir *paths);

/**
 * ur_fabric_ask() - send a request and receive its reply
 * @fds: gets UR_FABRIC_NS_COUNT descriptors of the reply, or NULL
 * Return: 0, or -errno after a line on stderr.
 */
int ur_fabric_ask(int sock, const struct ur_fabric_request *request,
		  struct ur_fabric_answer *answer, int *fds);

#endif
