/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes and removes the drop-in that gives a systemd service the device,
 * /etc/systemd/system/NAME.d/uroce.conf. */
#ifndef UR_CLI_SERVICE_DROPIN_H
#define UR_CLI_SERVICE_DROPIN_H

#include <stddef.h>

struct ur_unit;

/**
 * ur_dropin_write() - give the service the device from its next start on
 * @root: of the file system; "" for this machine's
 * @unit: of ur_unit_read()
 * @preload: the value of its LD_PRELOAD
 * @run_dir: of the device; if it is that of the service uroced, the unit also wants that
 * service (Wants=), and starts after it
 *
 * Replaces our existing file atomically; does not touch files of others.
 *
 * Return: 0, -EEXIST (there is a file of that name which is not ours) or another
 * -errno.
 */
int ur_dropin_write(const char *root, const struct ur_unit *unit,
		    const char *preload, const char *run_dir);

/* Removes the drop-in, and its folder if empty. Returns 0, -ENOENT (there is none of ours)
 * or another -errno. */
int ur_dropin_remove(const char *root, const char *name);

/* Calls each for every unit with our drop-in, with the library that it names. Returns their
 * number. */
int ur_dropin_each(const char *root,
		   void (*each)(void *arg, const char *name,
				const char *library),
		   void *arg);

#endif
