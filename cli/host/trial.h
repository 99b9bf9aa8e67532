/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a library may go into every program: before it does, and after. */
#ifndef UR_CLI_HOST_TRIAL_H
#define UR_CLI_HOST_TRIAL_H

#include <stddef.h>

#define UR_TRIAL_WHY_MAX 512

/**
 * ur_trial_place() - whether nobody but root can change the library
 * @root: of the file system; "" for this machine's
 * @library: its name there, without links
 * @why: else what is wrong, UR_TRIAL_WHY_MAX bytes
 *
 * It and the folders above are root's and written by root alone, everybody may read
 * it, and it is no build tree's, which the next build writes anew under the programs
 * that run. Its program headers are its last bytes, so that the dynamic linker
 * finds out where the end is missing (preload/table_last.sh).
 *
 * Return: 0 or -EPERM.
 */
int ur_trial_place(const char *root, const char *library, char *why);

/**
 * ur_trial_run() - runs true(1) as every program will be run
 * @library: with it in LD_PRELOAD, and the dynamic linker asked whether it loads
 * it; NULL: with what /etc/ld.so.preload has
 * @why: what went wrong, UR_TRIAL_WHY_MAX bytes
 *
 * Return: 0, or -ENOEXEC where a program ends otherwise than without it, or says
 * anything.
 */
int ur_trial_run(const char *root, const char *library, char *why);

#endif
