/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The confinement of uroced: rights that it gives up before it serves. An attacker who
 * exploits the code that reads clients' rings or peers' packets gains a process with hardly
 * any rights.
 */
#ifndef UR_DEVICE_CONFINE_CONFINE_H
#define UR_DEVICE_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* The confinement in effect, for the log, `uroce link --json` and `uroce
 * doctor`. */
struct ur_confinement {
	bool asked; /* false: nothing was tried */
	bool calls; /* a filter of system calls */
	bool files; /* Landlock: writes below the run directory only */
	/* a mount namespace, read-only except the run directory */
	bool mounts;
	char caps[64]; /* names of the remaining capabilities */
};

/*
 * Confines the whole process. Called once, before there are threads, after the run
 * directory is made and after the last action that needs a right. Parts that this kernel,
 * or our parent, does not allow are skipped and logged. keep_raw: packet sockets will be
 * opened.
 */
void ur_confine(const char *run_dir, bool keep_raw);
const struct ur_confinement *ur_confinement(void);
/* Confines the keeper (device/keeper.h), a process of its own, as far as this kernel
 * allows: no rights, no files, and few calls. */
void ur_confine_keeper(const char *run_dir);
/* Confines an engine process (device/apart/): no rights, no files, and only uroced's system
 * calls. Its libraries are loaded, and it has no threads yet. */
void ur_confine_engine(void);

/* Calls fn(arg) with no effective capability, and returns its result. Sockets that fn opens
 * never carry a capability. */
int ur_confine_without(int (*fn)(void *arg), void *arg);

/* ---- parts of ur_confine(); they return 0 or -errno ---- */

/* Makes a mount namespace of our own. */
int ur_confine_mounts(const char *run_dir);
/* Limits writes by Landlock, for this thread and those that it starts. run_dir: the only
 * writable directory; NULL: none. */
int ur_confine_files(const char *run_dir);
/* Allows only the listed system calls, in all threads. A call that only an intruder makes
 * kills the process; any other returns EPERM. */
int ur_confine_calls(bool packet_sockets);
/* Allows only the keeper's system calls. */
int ur_confine_keeper_calls(void);

#endif
