// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes a Container Device Interface specification for the device of a run directory: what
 * a container of any image with libibverbs gets from this host. It has one device, since a
 * run directory makes all of its devices visible.
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/status.h"

/* 0.3.0 is accepted by Debian 12's Podman and newer runtimes. */
#define CDI_VERSION "0.3.0"
#define KIND	    "uroce.io/nic"
#define NAME	    "all"

/* The folder in the container. It has both libraries, so that the front-end finds the
 * provider whatever the configuration of the image's libibverbs. */
#define LIBRARIES "/opt/uroce"
#define RUN_DIR	  "/run/uroce"

static void add_mount(struct json_object *mounts, const char *host,
		      const char *container)
{
	/* A socket on a read-only mount can be connected to. */
	static const char *const options[] = {"rbind", "ro", "nosuid", "nodev"};
	struct json_object *mount = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		json_object_array_add(list, json_object_new_string(options[i]));
	ur_json_put_text(mount, "hostPath", host);
	ur_json_put_text(mount, "containerPath", container);
	json_object_object_add(mount, "options", list);
	json_object_array_add(mounts, mount);
}

/* Mounted under this name, even if it is a link on the host. */
static void add_library(struct json_object *mounts, const char *name)
{
	char inside[PATH_MAX + 16], host[PATH_MAX];

	snprintf(inside, sizeof(inside), LIBRARIES "%s", strrchr(name, '/'));
	add_mount(mounts, realpath(name, host) ? host : name, inside);
}

/* Adds all files of the package's folder: the front-end, a provider for each private ABI of
 * libibverbs, and the engine. Returns their number. */
static size_t add_folder(struct json_object *mounts, const char *dir)
{
	char pattern[PATH_MAX + 64];
	size_t count = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/liburoce-*.so", dir);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (; count < found.gl_pathc; count++)
		add_library(mounts, found.gl_pathv[count]);
	globfree(&found);
	return count;
}

/* Adds the only library of the engine that an image with libibverbs may lack. */
static void add_isal(struct json_object *mounts)
{
	void *lib = dlopen("libisal.so.2", RTLD_LAZY);
	void *function = lib ? dlsym(lib, "crc32_gzip_refl") : NULL;
	Dl_info info;

	if (function && dladdr(function, &info))
		add_library(mounts, info.dli_fname);
}

static int add_libraries(struct json_object *mounts)
{
	char path[PATH_MAX];
	int err = ur_environment_library(path, sizeof(path));

	if (err) {
		ur_complain("the front-end's library is not there: install the "
			    "package liburoce-preload");
		return err;
	}
	*strrchr(path, '/') = '\0';
	if (add_folder(mounts, path) < 2) {
		ur_complain("the provider's library is not there: install the "
			    "package uroce-ibverbs-provider");
		return -ENOENT;
	}
	add_isal(mounts);
	return 0;
}

static struct json_object *specification(struct json_object *mounts)
{
	struct json_object *spec = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	struct json_object *device = json_object_new_object();
	struct json_object *edits = json_object_new_object();
	struct json_object *env = json_object_new_array();

	json_object_array_add(env,
			      json_object_new_string("LD_PRELOAD=" LIBRARIES
						     "/liburoce-preload.so"));
	json_object_array_add(env,
			      json_object_new_string("UROCE_RUN_DIR=" RUN_DIR));
	json_object_object_add(edits, "env", env);
	json_object_object_add(edits, "mounts", mounts);
	ur_json_put_text(device, "name", NAME);
	json_object_object_add(device, "containerEdits", edits);
	json_object_array_add(devices, device);
	ur_json_put_text(spec, "cdiVersion", CDI_VERSION);
	ur_json_put_text(spec, "kind", KIND);
	json_object_object_add(spec, "devices", devices);
	return spec;
}

int ur_cmd_cdi(struct ur_options *options)
{
	struct json_object *mounts = json_object_new_array(), *spec;
	int sock;

	if (options->rest_count) {
		ur_complain("cdi: takes no argument");
		json_object_put(mounts);
		return UR_EXIT_USAGE;
	}
	if (add_libraries(mounts)) {
		json_object_put(mounts);
		return UR_EXIT_FAILED;
	}
	add_mount(mounts, options->run_dir, RUN_DIR);
	sock = ur_client_connect(options->run_dir);
	if (sock < 0)
		ur_complain("note: no device serves %s now; containers need "
			    "one when they start",
			    options->run_dir);
	else
		close(sock);
	spec = specification(mounts);
	ur_json_print(spec);
	json_object_put(spec);
	return 0;
}
