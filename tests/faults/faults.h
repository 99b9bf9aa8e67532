/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every call that can fail for want of memory, descriptors or threads fails
 * once, in the device process, while a program uses the device through the
 * stock libraries: steps of that program, each run with its first such call
 * failing, then its second, until it gets through.
 */
#ifndef UR_TESTS_FAULTS_FAULTS_H
#define UR_TESTS_FAULTS_FAULTS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "tests/check.h"
#include "tests/device/client.h"

/*
 * One step. run() returns 0 or an errno, and has then left nothing behind;
 * undo() removes what it has made. prepare() and undo() run without a fault.
 */
struct step {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	void (*undo)(void);
	int also; /* an errno that run() may return besides the fault's own;
		   * ANY_ERRNO: where it has no way to say why */
};
#define ANY_ERRNO (-1)

extern struct daemon_proc device;

/* Starts uroced_faults on eth1 and eth2, in UROCE_RUN_DIR, and opens a file of
 * every kind on the first: tests/device/company.h. */
/* Shows on a connection that it may administer, where the process may. Returns 0 or
 * the errno of the answer; EPIPE: none came. */
int faults_show_right(int sock);
void faults_start(void);
/* No descriptor is left behind. */
void faults_settle(void);
/* It must end well, with no memory left behind. */
void faults_stop(void);
/* Compare the end with now, when there are that many connections besides. */
void faults_baseline(int connections);
/* Does so for the steps up to one without name. */
void faults_each(const struct step *steps);

/* By hand: the n-th call from now on fails; what has failed since, or 0. */
void faults_arm(int64_t n);
int faults_disarm(void);
/* n for the next round: by one, or where nobody asked for all, by ever more. */
int64_t faults_next(int64_t n);

/* The devices, opened. */
extern struct ibv_context *eth1, *eth2;
void faults_open(void);
void faults_close(void);

/* Starts one. Whether it says "ready"; where not, it has ended with status 1. */
bool faults_spawn(const char *uroced, pid_t *pid);

void test_start(const char *uroced);
void test_verbs(void);
void test_cm(void);
void test_traffic(void);
void test_kinds(void);

#endif
