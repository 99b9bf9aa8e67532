/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The starter: a process that uroced forks before it gives up its rights, and that starts
 * engine processes (device/apart/) as the users whose contexts they have. It executes one
 * program and no other, with no environment and one descriptor. It ends with uroced; the
 * processes that it has started stay.
 *
 * An engine process has its user's uid and no group of his: a program that is setgid would pass on a
 * group that the user's other programs do not have. Since its gid is another one, they cannot trace it.
 */
#ifndef UR_DEVICE_ENGINE_STARTER_H
#define UR_DEVICE_ENGINE_STARTER_H

#include <sys/types.h>

/* Starts it; once, before there are threads. argv: that of main(). Without one, which is logged, there
 * are no engine processes. */
void ur_engine_starter_begin(char **argv);
/* Has an engine process started as the user of that uid, or as uroced's own where that is not root. It talks to uroced by
 * the other end of link, which stays the caller's. Returns 0, or -errno where nobody could be asked: when the
 * process cannot be started link's peer hangs up. Waits for nobody. */
int ur_engine_starter_ask(uid_t uid, int link);

#endif
