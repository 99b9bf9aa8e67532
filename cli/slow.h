/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uroce why --slow: what limits a running program, from what is counted of it. */
#ifndef UR_CLI_SLOW_H
#define UR_CLI_SLOW_H

#include "cli/command.h"

/* Looks at the programs that options->rest names by PID or name, for options->interval seconds (0: one),
 * and prints what limits them, the worst first. Returns an exit code. */
int ur_slow(const struct ur_options *options);

#endif
