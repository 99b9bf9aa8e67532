/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads from the files of a systemd service what decides whether its programs can use the
 * device. Formats and folders are those of systemd.unit(5) and systemd.exec(5). Reads files
 * instead of asking systemd, which need not run; and the root file system may be another
 * machine's.
 */
#ifndef UR_CLI_SERVICE_UNIT_H
#define UR_CLI_SERVICE_UNIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* systemd.unit(5): a name has at most 255 characters. */
#define UR_UNIT_NAME_MAX 256

/* The name of our drop-in, in a folder NAME.d. systemd reads it after most others, so its
 * settings win. */
#define UR_UNIT_DROPIN "uroce.conf"

struct ur_unit {
	char name[UR_UNIT_NAME_MAX]; /* with ".service" */
	char preload[PATH_MAX];	     /* LD_PRELOAD of its Environment=, or "" */
	/* its EnvironmentFile= that sets, and so overrides, LD_PRELOAD; or "" */
	char overrides[PATH_MAX];
	bool call_filter; /* has SystemCallFilter= */
	bool no_unix;	  /* RestrictAddressFamilies= leaves out AF_UNIX */
	bool own_root;	  /* RootDirectory=, RootImage= */
	bool own_network; /* PrivateNetwork=, NetworkNamespacePath= */
};

/**
 * ur_unit_name() - get the unit name of a service
 * @given: from a command line; ".service" is optional
 * @name: gets the name; UR_UNIT_NAME_MAX bytes
 *
 * Return: 0, or -EINVAL (not a name for a service).
 */
int ur_unit_name(const char *given, char *name);

/**
 * ur_unit_read() - read the files of a unit, with all drop-ins except ours
 * @root: of the file system; "" for this machine's
 * @name: from ur_unit_name(). An instance's files count, and its template's.
 * @unit: gets the settings
 *
 * Return: 0, -ENOENT (no such unit) or another -errno.
 */
int ur_unit_read(const char *root, const char *name, struct ur_unit *unit);

#endif
