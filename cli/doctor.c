// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce doctor: checks everything that can be wrong before the first packet, and names the
 * command that fixes it. `uroce ping` checks the path between two machines; --fabric checks
 * what the path does to packets. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/status.h"
#include "util/os/elf.h"
#include "util/os/private_abi.h"
#include "util/os/rundir.h"

static void check_preload(struct doctor *doctor)
{
	char path[PATH_MAX];

	if (ur_environment_library(path, sizeof(path)))
		ur_doctor_print(doctor, "preload", "problem",
				"apt-get install liburoce-preload",
				"liburoce-preload.so is not installed");
	else
		ur_doctor_print(doctor, "preload", "ok", NULL, "%s", path);
}

static bool has_provider(int abi, char *path, size_t size)
{
	char dir[PATH_MAX];

	if (ur_environment_library(dir, sizeof(dir)))
		return false;
	*strrchr(dir, '/') = '\0';
	snprintf(path, size, "%s/liburoce-rdmav%d.so", dir, abi);
	return access(path, R_OK) == 0;
}

static void check_verbs(struct doctor *doctor)
{
	char path[PATH_MAX + 64];
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY);
	int abi = lib ? ur_private_abi(lib) : 0;

	if (!lib)
		ur_doctor_print(
			doctor, "libibverbs", "problem",
			"apt-get install libibverbs1 (Fedora: dnf install "
			"libibverbs)",
			"libibverbs.so.1 is not installed");
	else if (abi == 0)
		ur_doctor_print(
			doctor, "libibverbs", "problem",
			"use a libibverbs of rdma-core 26 or later",
			"this libibverbs takes no providers that we know");
	else if (!has_provider(abi, path, sizeof(path)))
		ur_doctor_print(
			doctor, "libibverbs", "problem",
			"install another release of uroce, or a libibverbs of "
			"one of these",
			"no provider for this libibverbs (private ABI %d): "
			"those here are for " UR_PRIVATE_ABIS,
			abi);
	else
		ur_doctor_print(doctor, "libibverbs", "ok", NULL,
				"private ABI %d, %s", abi, path);
}

static void check_run_dir(struct doctor *doctor)
{
	const char *dir = doctor->options->run_dir;
	struct stat st;

	if (stat(dir, &st)) {
		if (errno == ENOENT)
			ur_doctor_print(doctor, "run-dir", "note", NULL,
					"%s will be made when needed", dir);
		else
			ur_doctor_print(
				doctor, "run-dir", "problem",
				"name another directory with --run-dir or "
				"UROCE_RUN_DIR",
				"%s: %s", dir, strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		ur_doctor_print(doctor, "run-dir", "problem",
				"name another with --run-dir or UROCE_RUN_DIR",
				"%s is not a directory", dir);
	} else if (access(dir, X_OK | R_OK)) {
		ur_doctor_print(
			doctor, "run-dir", "problem",
			"ask its owner for access, or name another with --run-dir",
			"%s: %s", dir, strerror(errno));
	} else if (!ur_rundir_trusted(dir, &st)) {
		ur_doctor_print(doctor, "run-dir", "problem",
				"name a directory of your own with --run-dir",
				"%s belongs to user %u", dir, st.st_uid);
	} else {
		ur_doctor_print(doctor, "run-dir", "ok", NULL, "%s", dir);
	}
}

/* Why programs see no device, behind their name, and what to do; NULL: that is no problem. */
static const struct {
	const char *todo, *what;
} unfit[] = {
	[UR_ELF_STATIC] = {"use a dynamically linked build of it",
			   "is statically linked: no library can be put in "
			   "front of it"},
	[UR_ELF_PRIVILEGED] = {"run a copy without the setuid bit and "
			       "capabilities, as the user that it needs",
			       "runs with more rights than you have: the "
			       "dynamic linker ignores LD_PRELOAD"},
	[UR_ELF_FOREIGN] = {"use a build of it for this machine, of 64 bits",
			    "is a program of another machine: the library "
			    "does not fit into it"},
	[UR_ELF_MUSL] = {"use a build of it for glibc",
			 "is of another C library, musl: the library does not "
			 "fit into it"},
	[UR_ELF_OTHER] = {NULL, "is a script or of another kind; look at what "
				"it runs"},
	[UR_ELF_DENIED] = {"make it executable: chmod +x",
			   "may not be executed"},
	[UR_ELF_MISSING] = {"give its full name, or install it",
			    "is not there"},
};

static void check_program(struct doctor *doctor, const char *program)
{
	char path[PATH_MAX];
	enum ur_elf kind = ur_elf_kind(program, path, sizeof(path));

	if (kind != UR_ELF_DYNAMIC) {
		ur_doctor_print(doctor, "program",
				unfit[kind].todo ? "problem" : "note",
				unfit[kind].todo, "%s %s", path,
				unfit[kind].what);
		return;
	}
	ur_doctor_print(doctor, "program", "ok", NULL, "%s", path);
	if (ur_elf_opens_libraries(path))
		ur_doctor_print(doctor, "dlopen", "note", NULL,
				"%s opens libraries itself: with RTLD_DEEPBIND "
				"or dlmopen() those see no device, uroce(7)",
				path);
}

int ur_cmd_doctor(struct ur_options *options)
{
	struct doctor doctor = {.options = options};

	if (options->fabric)
		return ur_doctor_fabric(options);
	doctor.findings = json_object_new_array();
	check_preload(&doctor);
	check_verbs(&doctor);
	check_run_dir(&doctor);
	ur_doctor_limits(&doctor);
	ur_doctor_devices(&doctor);
	ur_doctor_host(&doctor);
	ur_doctor_services(&doctor);
	ur_doctor_kernel(&doctor);
	for (int i = 0; i < options->rest_count; i++)
		check_program(&doctor, options->rest[i]);
	if (options->json)
		ur_json_print(doctor.findings);
	json_object_put(doctor.findings);
	return doctor.problems ? UR_EXIT_FAILED : 0;
}
