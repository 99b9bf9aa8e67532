/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rights that uroced gives up before it serves. An attacker who
 * exploits the code that reads clients' rings or peers' packets gains a process
 * with hardly any rights.
 */
#ifndef UR_DEVICE_CONFINE_CONFINE_H
#define UR_DEVICE_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* The confinement in effect, for the log, `uroce link --json` and `uroce
 * doctor`. */
struct ur_confinement {
	bool asked;    /* else nothing of it was tried */
	bool calls;    /* a filter of system calls */
	bool files;    /* Landlock: writes below the run directory only */
	bool mounts;   /* a mount namespace, read-only but for the same */
	char caps[64]; /* names of the capabilities that are left */
};

/*
 * Confines the whole process. To be called once, before there are threads, with
 * the run directory made and everything done that needs a right for the last
 * time. Parts that this kernel, or our parent, does not allow are left out and
 * logged. keep_raw: packet sockets will be opened.
 */
void ur_confine(const char *run_dir, bool keep_raw);
const struct ur_confinement *ur_confinement(void);
/* Confines the keeper (device/keeper.h), a process of its own, as far as this kernel
 * allows: no rights, no files, and few calls. */
void ur_confine_keeper(const char *run_dir);
/* Confines an engine process (device/apart/): no rights, no files, and the calls that uroced
 * makes. It has the libraries that it needs, and no threads yet. */
void ur_confine_engine(void);

/* Calls fn(arg) with no capability in effect, and returns its result: sockets
 * that it opens can never be used with one. */
int ur_confine_without(int (*fn)(void *arg), void *arg);

/* ---- its parts; 0 or -errno ---- */

/* Makes a mount namespace of our own. */
int ur_confine_mounts(const char *run_dir);
/* Limits writes by Landlock, for this thread and those that it starts. run_dir: NULL for
 * none at all. */
int ur_confine_files(const char *run_dir);
/* Allows only the calls of the table, in every thread. Any other returns EPERM,
 * or ends the process if no mistake of ours can make it. */
int ur_confine_calls(bool packet_sockets);
/* Allows those that the keeper makes. */
int ur_confine_keeper_calls(void);

#endif
