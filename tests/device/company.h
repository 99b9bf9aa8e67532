/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file of every kind, open on one device at the same time: uverbs with
 * objects, rdma_cm with ids, umad with all the agents that it may have, netlink
 * with groups, a setting, a status that is not taken. Everything that looks at
 * a device finds them all; nobody may take one for another. For tests of a
 * daemon, and inside a process that is one (tests/fuzz), so it uses no other
 * file of tests.
 *
 * Failed expectations end the program.
 */
#ifndef UR_TESTS_DEVICE_COMPANY_H
#define UR_TESTS_DEVICE_COMPANY_H

#include <stdbool.h>
#include <stdint.h>

#define COMPANY_AGENTS 32 /* of the umad file */

struct company {
	/* A new connection to the daemon, and what it gets. */
	int (*connect)(const void *arg);
	const void *arg;
	const char *device;	   /* its name */
	unsigned int uverbs, umad; /* the N of its nodes */

	/* Connections. */
	int verbs_sock, cm_sock, umad_sock, groups_sock, nl_sock, setting_sock,
		status_sock;
	int visible[3]; /* of uverbs, rdma_cm, umad; -1: none */
	int answer;	/* that status_sock has in its hands */
	bool full;	/* with settings and the recorder */
	bool plain;	/* shows no right on connections */
	/* has no engine, nor queues that need one; programs would exchange rings with it
	 * that it never takes */
	bool no_engine;
	unsigned int opened;		 /* connections */
	uint32_t n_devices, indices[16]; /* of netlink */
};

/* Connections of company_open(). */
#define COMPANY_SESSIONS (6 + UROCE_WITH_UMAD)
/* Files that are open for them in the daemon: ur_daemon.files. */
#define COMPANY_FILES (2 + UROCE_WITH_UMAD)

/* Opens all of them. Set the first group of members before; full: settings are
 * made, and the recorder is begun, which only an administrator may. */
void company_open(struct company *c);
/* Asks for everything that describes the device: each list of netlink, all of
 * status, counters; with full, changes a setting, too. The answers are well
 * formed. */
void company_look(struct company *c);
/* Returns the number that the summary of `rdma resource` has for that word, such
 * as "ctx", of all devices together. */
uint64_t company_count(struct company *c, const char *word);
/* Returns how many entries the list of that command has (RDMA_NLDEV_CMD_RES_*),
 * of all devices together. */
uint32_t company_list(struct company *c, uint32_t command);
/* Returns whether the text of that status subject has the word. */
bool company_status_has(struct company *c, const char *subject,
			const char *word);
/* Asks on a new connection from now on; the old one is the caller's. */
void company_ask_anew(struct company *c);
/* Returns 0, or the -errno of a write to set/DEVICE/NAME. */
int company_set(struct company *c, const char *name, const char *value);
/* Closes all of them. */
void company_close(struct company *c);

#endif
