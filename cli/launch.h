/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device on demand. The contract with uroced:
 *
 *   uroced --run-dir DIR --on-demand --ready-fd N [--netdev IF]
 *          [--name NAME] ... [--only]
 *
 * writes "ready" and a newline to descriptor N when it serves. Otherwise it prints the reason
 * on stderr and exits; status 3: another uroced, perhaps an ending one, still holds the run
 * directory. With --on-demand it exits some seconds after its last connection has closed.
 */
#ifndef UR_CLI_LAUNCH_H
#define UR_CLI_LAUNCH_H

#include "cli/command.h"

/**
 * ur_launch() - connect to the device of options->run_dir, after starting it if needed
 *
 * Any number of processes may call this at once: one starts the device, under a lock in the
 * run directory. *started: this one did. Prints errors on stderr.
 * Return: socket (see ur_client_connect()) or -errno.
 */
int ur_launch(const struct ur_options *options, bool *started);

/* Executes uroced: the one beside this program, the installed one, or one in PATH. If there
 * is none, prints that on stderr and exits with 1. */
_Noreturn void ur_launch_exec(char **argv);

#endif
