/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device on demand. The contract with uroced:
 *
 *   uroced --run-dir DIR --on-demand --ready-fd N [--netdev IF]
 *          [--name NAME] ... [--only]
 *
 * writes "ready" and a newline to descriptor N when it serves, or says on
 * stderr why it cannot and exits; status 3 says that another one, perhaps on
 * its way out, still holds the run directory. With --on-demand it exits by
 * itself some seconds after its last connection has closed.
 */
#ifndef UR_CLI_LAUNCH_H
#define UR_CLI_LAUNCH_H

#include "cli/command.h"

/**
 * ur_launch() - a connection to the device of options->run_dir, which is
 * started where there is none
 *
 * Any number of processes may do this at once: one starts it, under a lock in
 * the run directory. Says on stderr what is wrong. *started: it was this one.
 * Return: socket (see ur_client_connect()) or -errno.
 */
int ur_launch(const struct ur_options *options, bool *started);

/* Executes uroced: the one beside this program, the installed one, or one in PATH. If there
 * is none, prints that on stderr and exits with 1. */
_Noreturn void ur_launch_exec(char **argv);

#endif
