/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The shell of `uroce run` without a program. */
#ifndef UR_CLI_SHELL_H
#define UR_CLI_SHELL_H

#include "cli/command.h"

/* Sets the environment that marks the prompt, and returns the arguments of the user's
 * shell, NULL terminated and static. */
char **ur_shell(const struct ur_options *options);

#endif
