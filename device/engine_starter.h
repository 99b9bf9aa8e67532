/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The starter: a process that uroced forks before it gives up its rights. It starts engine
 * processes (device/apart/) under the uids of the users whose contexts they run. It
 * executes this one program only, with an empty environment and one descriptor. The starter
 * ends with uroced; the engine processes stay.
 *
 * An engine process has its user's uid and none of the user's groups: a setgid program
 * would pass on a group that the user's other programs lack. Because its gid differs, the
 * user's programs cannot trace it.
 */
#ifndef UR_DEVICE_ENGINE_STARTER_H
#define UR_DEVICE_ENGINE_STARTER_H

#include <sys/types.h>

/* Starts the starter. Called once, before there are threads. argv: of main(). If this
 * fails, which is logged, there are no engine processes. */
void ur_engine_starter_begin(char **argv);
/* Asks the starter for an engine process with that uid, or with uroced's own uid if that is
 * not root. The process talks to uroced over the other end of link, which stays the
 * caller's. Returns 0, or -errno if the starter cannot be asked. If the process cannot be
 * started, link's peer hangs up. Does not block. */
int ur_engine_starter_ask(uid_t uid, int link);

#endif
