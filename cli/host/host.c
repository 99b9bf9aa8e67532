// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device for every dynamic program of a host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/host/host.h"
#include "cli/host/preload_file.h"
#include "cli/host/trial.h"
#include "cli/mount.h"

/* The dynamic linker of 32-bit programs, where there are any. */
#define LINKER_32 "/lib/ld-linux.so.2"

static const char *root_of(const struct ur_options *options)
{
	return options->root && strcmp(options->root, "/") != 0 ? options->root
								: "";
}

static int complain(int err)
{
	ur_complain(UR_PRELOAD_FILE ": %s",
		    err == -EACCES || err == -EPERM ? "it takes root"
		    : err == -EINVAL ? "it is no plain file of names"
		    : err == -EBUSY  ? "it is a mount point: change the file "
				       "that is mounted there"
				     : strerror(-err));
	return UR_EXIT_FAILED;
}

/* Returns the text with our library in front of all others, and only there. */
static char *with_library(const char *text, const char *library)
{
	char *rest = strdup(text), *ret = NULL;

	if (!rest)
		return NULL;
	ur_preload_file_cut(rest);
	if (asprintf(&ret, "%s\n%s", library, rest) < 0)
		ret = NULL;
	free(rest);
	return ret;
}

static int write_and_try(const char *root, const char *library,
			 const struct ur_preload_file *before)
{
	char *text = with_library(before->text, library), why[UR_TRIAL_WHY_MAX];
	int err;

	if (!text)
		return complain(-ENOMEM);
	if (!strcmp(text, before->text)) {
		free(text);
		printf(UR_PRELOAD_FILE ": every program sees the device "
				       "already\n");
		return 0;
	}
	err = ur_preload_file_write(root, text, strlen(text), before);
	free(text);
	if (err)
		return complain(err);
	if (ur_trial_run(root, NULL, why)) {
		err = ur_preload_file_write(root, before->text, before->size,
					    before);
		ur_complain(UR_PRELOAD_FILE ": %s: %s", why,
			    err ? strerror(-err) : "it is as it was before");
		return UR_EXIT_FAILED;
	}
	printf(UR_PRELOAD_FILE ": every dynamic program sees the device from "
			       "its next start on ('uroce disable --host' "
			       "undoes it)\n");
	return 0;
}

static int check_library(const char *root, const char *library)
{
	char why[UR_TRIAL_WHY_MAX];

	if (ur_trial_place(root, library, why)) {
		ur_complain("every program would run what is in %s, but %s",
			    library, why);
		return UR_EXIT_FAILED;
	}
	if (ur_trial_run(root, library, why)) {
		ur_complain("%s: %s", library, why);
		return UR_EXIT_FAILED;
	}
	return 0;
}

int ur_host_enable(const struct ur_options *options)
{
	const char *root = root_of(options);
	char library[PATH_MAX], path[2 * PATH_MAX];
	struct ur_preload_file before;
	int err = ur_environment_library(path, PATH_MAX);

	if (!err && !realpath(path, library))
		err = -errno;
	if (err) {
		ur_complain("liburoce-preload.so: %s: install the package "
			    "liburoce-preload",
			    strerror(-err));
		return UR_EXIT_FAILED;
	}
	err = ur_preload_file_read(root, &before);
	if (err)
		return complain(err);
	err = check_library(root, library);
	if (!err && options->mount && ur_mount_host())
		err = UR_EXIT_FAILED;
	if (!err) {
		err = write_and_try(root, library, &before);
		if (err && options->mount)
			ur_unmount_host();
	}
	free(before.text);
	snprintf(path, sizeof(path), "%s" LINKER_32, root);
	if (!err && !access(path, F_OK))
		printf("note: 32-bit programs run as before, and ld.so says on "
		       "their standard error that it cannot preload the "
		       "library\n");
	return err;
}

int ur_host_disable(const struct ur_options *options)
{
	const char *root = root_of(options);
	struct ur_preload_file before;
	int err = ur_preload_file_read(root, &before);
	char *text;

	if (!*root && ur_unmount_host())
		return UR_EXIT_FAILED;
	if (err)
		return complain(err);
	text = strdup(before.text);
	if (!text) {
		err = -ENOMEM;
	} else {
		ur_preload_file_cut(text);
		if (!strcmp(text, before.text))
			puts(UR_PRELOAD_FILE ": no library of ours is in it");
		else
			err = ur_preload_file_write(root, text, strlen(text),
						    &before);
	}
	if (!err && text && strcmp(text, before.text) != 0)
		puts(UR_PRELOAD_FILE ": programs are as before from their next "
				     "start on");
	free(text);
	free(before.text);
	return err ? complain(err) : 0;
}

void ur_doctor_host(struct doctor *doctor)
{
	static const char undo[] = "uroce disable --host";
	char entry[PATH_MAX], why[UR_TRIAL_WHY_MAX];
	struct ur_preload_file file;
	size_t len;

	if (ur_preload_file_read("", &file))
		return;
	if (!ur_preload_file_ours(file.text, entry, &len)) {
		free(file.text);
		return;
	}
	if (ur_trial_place("", entry, why) || ur_trial_run("", entry, why))
		ur_doctor_print(doctor, "host", "problem", undo,
				"every program shall see the device "
				"by " UR_PRELOAD_FILE ": %s: %s",
				entry, why);
	else
		ur_doctor_print(doctor, "host", "ok", NULL,
				"every dynamic program sees the device (%s: "
				"undoes it)",
				undo);
	free(file.text);
}
