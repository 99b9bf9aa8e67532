/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of 'uroce fabric'. Each takes the words behind its own in options->rest, prints
 * errors on stderr, and returns an exit status. */
#ifndef UR_CLI_FABRIC_FABRIC_H
#define UR_CLI_FABRIC_FABRIC_H

#include "cli/fabric/directory.h"

int ur_fabric_up(struct ur_options *options);
int ur_fabric_run(struct ur_options *options);
int ur_fabric_ssh(struct ur_options *options);
int ur_fabric_trace(struct ur_options *options);
int ur_fabric_report(struct ur_options *options);
int ur_fabric_link(struct ur_options *options);
int ur_fabric_show(struct ur_options *options);

/* A command's connection to a fabric. */
struct ur_fabric {
	struct ur_fabric_dir paths;
	struct ur_fabric_plan plan;
	int sock;
};

/* Finds the fabric that the options name and gets its plan. Returns 0, or an exit status
 * after a line on stderr. ur_fabric_close() closes the connection. */
int ur_fabric_open(struct ur_fabric *fabric, const struct ur_options *options);
void ur_fabric_close(struct ur_fabric *fabric);

/* Returns the number of a host, or -ENOENT after a line on stderr. */
int ur_fabric_find_host(const struct ur_fabric *fabric, const char *name);

/**
 * ur_fabric_join() - put this process into a host, and its children into the
 * fabric's PID namespace
 *
 * Keeps the working directory if its name exists in the host, and sets the environment for
 * the device.
 *
 * Return: 0, or -errno after a line on stderr.
 */
int ur_fabric_join(struct ur_fabric *fabric, unsigned int host);

/**
 * ur_fabric_spawn() - start a program in a host, with a process that waits for it
 * @argv: the program; NULL terminated
 * @out: becomes its standard output and error; -1: inherits this process's
 *
 * The waiting process forwards signals from other processes, stops, continues and ends with
 * the program; the program is killed when it dies.
 *
 * Return: the waiting process, or -errno after a line on stderr.
 */
pid_t ur_fabric_spawn(struct ur_fabric *fabric, unsigned int host, char **argv,
		      int out);

/* Does as ur_fabric_spawn(), but this process waits. Returns the program's exit status; see
 * command.h. */
int ur_fabric_become(struct ur_fabric *fabric, unsigned int host, char **argv);

/* Runs the program in every host at once. Each line of output is prefixed with the host's
 * name. Returns the highest exit status. */
int ur_fabric_run_all(struct ur_fabric *fabric, char **argv);

#endif
