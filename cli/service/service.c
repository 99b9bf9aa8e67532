// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce enable and disable: give the device to systemd services without a wrapper in their
 * ExecStart=. host/host.c does it for every program.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/host/host.h"
#include "cli/service/dropin.h"
#include "cli/service/unit.h"
#include "util/os/preload.h"
#include "util/os/rundir.h"

extern char **environ;

static const char *root_of(const struct ur_options *options)
{
	return options->root && strcmp(options->root, "/") != 0 ? options->root
								: "";
}

/* Makes systemd read the files again, if it runs and root is this machine's. */
static int reload(const char *root)
{
	char *argv[] = {(char *)"systemctl", (char *)"daemon-reload", NULL};
	int status, err;
	pid_t pid;

	if (*root || access("/run/systemd/system", F_OK))
		return 0;
	err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (!err) {
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return UR_EXIT_FAILED;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			return 0;
	}
	ur_complain("the files are there, but systemd has not read them: "
		    "systemctl daemon-reload");
	return UR_EXIT_FAILED;
}

static int complain_of_file(const char *name, int err)
{
	if (err == -EEXIST)
		ur_complain("%s: its " UR_UNIT_DROPIN " is not ours: move it",
			    name);
	else
		ur_complain("%s: /etc/systemd/system: %s%s", name,
			    strerror(-err),
			    err == -EACCES || err == -EPERM ? "; it takes root"
							    : "");
	return UR_EXIT_FAILED;
}

/* Prints settings of the service that may keep its programs from the device. */
static void note(const struct ur_unit *unit, const char *run_dir)
{
	if (unit->call_filter)
		printf("%s: note: its SystemCallFilter= must let through what "
		       "@system-service does\n",
		       unit->name);
	if (unit->no_unix)
		printf("%s: note: its RestrictAddressFamilies= must let "
		       "through AF_UNIX\n",
		       unit->name);
	if (unit->own_root)
		printf("%s: note: it has a root of its own, which needs "
		       "BindPaths=%s, the packages liburoce-preload and "
		       "uroce-ibverbs-provider\n",
		       unit->name, run_dir);
	if (unit->own_network)
		printf("%s: note: it has a network of its own; the device's "
		       "traffic goes through the device's\n",
		       unit->name);
}

static int enable(const struct ur_options *options, const char *given)
{
	const char *root = root_of(options);
	char name[UR_UNIT_NAME_MAX], library[PATH_MAX], *preload;
	struct ur_unit unit;
	int err = ur_unit_name(given, name);

	if (err) {
		ur_complain("%s: no name of a service", given);
		return UR_EXIT_USAGE;
	}
	err = ur_unit_read(root, name, &unit);
	if (err) {
		ur_complain("%s: %s", name,
			    err == -ENOENT ? "there is no such service"
					   : strerror(-err));
		return UR_EXIT_FAILED;
	}
	if (*unit.overrides) {
		ur_complain("%s: %s sets LD_PRELOAD, which counts for more "
			    "than what is set here: add the library there",
			    name, unit.overrides);
		return UR_EXIT_FAILED;
	}
	err = ur_environment_library(library, sizeof(library));
	if (!err)
		err = ur_preload_value(library, unit.preload, &preload);
	if (err) {
		ur_complain("liburoce-preload.so: %s: install the package "
			    "liburoce-preload",
			    strerror(-err));
		return UR_EXIT_FAILED;
	}
	err = ur_dropin_write(root, &unit, preload, options->run_dir);
	free(preload);
	if (err)
		return complain_of_file(name, err);
	printf("%s: sees the device from its next start on: systemctl restart "
	       "%s\n",
	       name, name);
	note(&unit, options->run_dir);
	return 0;
}

static int disable(const struct ur_options *options, const char *given)
{
	char name[UR_UNIT_NAME_MAX];
	int err = ur_unit_name(given, name);

	if (err) {
		ur_complain("%s: no name of a service", given);
		return UR_EXIT_USAGE;
	}
	err = ur_dropin_remove(root_of(options), name);
	if (err == -ENOENT) {
		ur_complain("%s: 'uroce enable' has not been there", name);
		return UR_EXIT_FAILED;
	}
	if (err)
		return complain_of_file(name, err);
	printf("%s: as before from its next start on: systemctl restart %s\n",
	       name, name);
	return 0;
}

static int each_named(struct ur_options *options,
		      int (*act)(const struct ur_options *options,
				 const char *given))
{
	int worst = 0, err;

	for (int i = 0; i < options->rest_count; i++) {
		err = act(options, options->rest[i]);
		worst = err > worst ? err : worst;
	}
	err = reload(root_of(options));
	return err > worst ? err : worst;
}

static int check_what(const struct ur_options *options, const char *command)
{
	if (options->service == options->host) {
		ur_complain("%s: either --host or --service NAME... says what "
			    "sees the device",
			    command);
		return UR_EXIT_USAGE;
	}
	if (options->host && options->run_dir_asked) {
		ur_complain(
			"%s: --host is of the host's device, in " UR_RUNDIR_HOST
			", or of each user's own: no "
			"--run-dir",
			command);
		return UR_EXIT_USAGE;
	}
	if (options->mount && (!options->host || options->root)) {
		ur_complain(
			"%s: --mount is for this host: with --host, without "
			"--root",
			command);
		return UR_EXIT_USAGE;
	}
	if (options->host && options->rest_count)
		return ur_too_many(command, options->rest[0]);
	return 0;
}

int ur_cmd_enable(struct ur_options *options)
{
	if (check_what(options, "enable"))
		return UR_EXIT_USAGE;
	if (options->host)
		return ur_host_enable(options);
	if (!options->rest_count) {
		ur_complain("enable: --service takes names of services");
		return UR_EXIT_USAGE;
	}
	return each_named(options, enable);
}

struct all {
	const struct ur_options *options;
	int worst;
};

static void disable_one(void *arg, const char *name, const char *library)
{
	struct all *all = arg;
	int err = disable(all->options, name);

	(void)library;
	all->worst = err > all->worst ? err : all->worst;
}

int ur_cmd_disable(struct ur_options *options)
{
	struct all all = {.options = options};
	int err;

	if (check_what(options, "disable"))
		return UR_EXIT_USAGE;
	if (options->host)
		return ur_host_disable(options);
	if (options->rest_count)
		return each_named(options, disable);
	if (!ur_dropin_each(root_of(options), disable_one, &all))
		return 0;
	err = reload(root_of(options));
	return err > all.worst ? err : all.worst;
}

static void print_service(void *arg, const char *name, const char *library)
{
	struct doctor *doctor = arg;
	char todo[2 * UR_UNIT_NAME_MAX];

	snprintf(todo, sizeof(todo), "uroce disable --service %s", name);
	if (access(library, R_OK))
		ur_doctor_print(doctor, "service", "problem", todo,
				"%s shall see the device by %s: %s", name,
				library, strerror(errno));
	else
		ur_doctor_print(doctor, "service", "ok", NULL,
				"%s sees the device (%s: undoes it)", name,
				todo);
}

void ur_doctor_services(struct doctor *doctor)
{
	ur_dropin_each("", print_service, doctor);
}
