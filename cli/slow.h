/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uroce why --slow: finds what limits a running program, by its counters. */
#ifndef UR_CLI_SLOW_H
#define UR_CLI_SLOW_H

#include "cli/command.h"

/* Observes the programs named by PID or name in options->rest for options->interval seconds
 * (0: one), and prints what limits them, the worst first. Returns an exit code. */
int ur_slow(const struct ur_options *options);

#endif
