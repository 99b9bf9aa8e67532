/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The starter: a process that uroced forks before it gives up its rights, and that starts
 * engine processes (device/apart/) as the users whose contexts they have. It executes one
 * program and no other, with no environment and one descriptor. It ends with uroced; the
 * processes that it has started stay.
 */
#ifndef UR_DEVICE_ENGINE_STARTER_H
#define UR_DEVICE_ENGINE_STARTER_H

#include <sys/types.h>

/* Most groups of a user that his engine process has. */
#define UR_STARTER_GROUPS 64

struct ur_starter_user {
	uid_t uid;
	gid_t gid;
	int n_groups;
	gid_t groups[UR_STARTER_GROUPS];
};

/* Starts it; once, before there are threads. argv: that of main(). Without one, which is logged, there
 * are no engine processes. */
void ur_engine_starter_begin(char **argv);
/* Has an engine process started as that user, or as uroced's own where that is not root. It talks to uroced by the
 * other end of link, which stays the caller's. Returns 0, or -errno where nobody could be asked: when the
 * process cannot be started link's peer hangs up. Waits for nobody. */
int ur_engine_starter_ask(const struct ur_starter_user *user, int link);

#endif
