// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce run: executes a program with the device present. No process stays in between:
 * signals, status and death are the program's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/mount.h"
#include "cli/netns.h"
#include "cli/shell.h"
#include "cli/status.h"
#include "kernel-abi/uroce-tunnel.h"
#include "util/os/elf.h"

/*
 * Keeps an on-demand device while the program runs, even before the program opens it. If
 * the device cannot see this process, or is older, the program inherits the connection,
 * which keeps the device.
 */
static void hold_device(int sock, const struct ur_options *options)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_HOLD};
	int fd, err = ur_client_ask(sock, &msg, -1, &fd);

	if (fd >= 0)
		close(fd);
	if (!err)
		return;
	sock = ur_client_connect(options->run_dir);
	if (sock >= 0)
		fcntl(sock, F_SETFD, 0);
}

static int check_only(const struct ur_options *options)
{
	char name[sizeof(options->run_dir) + sizeof(UROCE_TUN_ONLY) + 1];

	if (!options->only)
		return 0;
	snprintf(name, sizeof(name), "%s/" UROCE_TUN_ONLY, options->run_dir);
	if (access(name, F_OK) == 0)
		return 0;
	ur_complain("the device at %s was started without --only: it shows "
		    "those of the host too. Choose another --run-dir, wait "
		    "until it ends with its last user, or start uroced with "
		    "--only",
		    options->run_dir);
	return -EBUSY;
}

/* Looks for the program as execvp() will. Returns 0 or -errno. */
static int find_program(const char *name)
{
	char path[2 * PATH_MAX];
	int err = ur_program_find(name, path, sizeof(path));

	return err && !strchr(name, '/') && *name &&
			       ur_environment_has_tool(name)
		       ? 0
		       : err;
}

int ur_cmd_run(struct ur_options *options)
{
	char **argv = options->rest;
	bool started;
	int sock, err;

	if (options->rest_count < 1)
		argv = ur_shell(options);
	/* Before a device is started for it. */
	err = find_program(argv[0]);
	if (err)
		return ur_cannot_run(argv[0], -err);
	if (options->devices && ur_netns_name(options))
		return UR_EXIT_USAGE;
	sock = ur_launch(options, &started);
	if (sock < 0)
		return UR_EXIT_NO_DEVICE;
	if (ur_status_check_devices(sock, options) || check_only(options) ||
	    ur_environment_set(options->run_dir) ||
	    ur_environment_check(options) || ur_environment_adverse(options) ||
	    ur_environment_engine(options)) {
		close(sock);
		return UR_EXIT_NO_DEVICE;
	}
	hold_device(sock, options);
	for (int i = 0; i < UR_FAULTS_MAX && options->fault[i]; i++) {
		if (ur_fault_add(sock, options, options->fault[i])) {
			close(sock);
			return UR_EXIT_NO_DEVICE;
		}
	}
	if (started && !options->quiet && !options->netdevs &&
	    !options->devices)
		ur_status_print_netdev(sock, options);
	if (ur_mount(options)) {
		close(sock);
		return UR_EXIT_NO_DEVICE;
	}
	execvp(argv[0], argv);
	err = ur_cannot_run(argv[0], errno);
	close(sock);
	return err;
}
