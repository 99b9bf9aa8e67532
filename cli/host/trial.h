/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a library may go into every program: before it does, and after. */
#ifndef UR_CLI_HOST_TRIAL_H
#define UR_CLI_HOST_TRIAL_H

#include <stddef.h>

#define UR_TRIAL_WHY_MAX 512

/**
 * ur_trial_place() - check that only root can change the library
 * @root: of the file system; "" for this machine's
 * @library: its name there, without links
 * @why: gets the reason of an error, UR_TRIAL_WHY_MAX bytes
 *
 * The library and the folders above must be root's and writable by root only. Everybody must
 * be able to read it. It must not be in a build tree, where the next build would overwrite it
 * under running programs. Its program headers must be its last bytes, so that the dynamic
 * linker notices a truncated file (preload/table_last.sh).
 *
 * Return: 0 or -EPERM.
 */
int ur_trial_place(const char *root, const char *library, char *why);

/**
 * ur_trial_run() - run true(1) as every program will be run
 * @library: put into LD_PRELOAD, and checked to be loaded by the dynamic linker; NULL: uses
 * /etc/ld.so.preload
 * @why: gets the reason of an error, UR_TRIAL_WHY_MAX bytes
 *
 * Return: 0, or -ENOEXEC if the program fails or prints anything.
 */
int ur_trial_run(const char *root, const char *library, char *why);

#endif
