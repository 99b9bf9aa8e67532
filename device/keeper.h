/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keeper: a process beside uroced that holds copies of the descriptors with which
 * engines in programs survive uroced (engine/ground/keep.h). It reads no packet, ring or
 * client command: only messages of one size, from a uroced of its own user that holds the
 * lock of the run directory. It refuses connections of other users.
 *
 * If uroced is a service with a descriptor store, systemd takes its place (keeper_store.h).
 *
 * The keeper ends with uroced when uroced exits normally. When uroced was killed, the
 * keeper stays until the next uroced comes, or until the last program with a slot has
 * ended.
 */
#ifndef UR_DEVICE_KEEPER_H
#define UR_DEVICE_KEEPER_H

#include "device/device.h"

/* Connects to a running keeper, or starts one. The run directory is locked. Called before
 * there are threads, and before uroced is confined. If no keeper can be started, which is
 * logged, connections end with uroced. Returns 0, or -ETIMEDOUT: a running keeper does not
 * reply. It has the sockets of running programs, so no other keeper can take its place. */
int ur_keeper_start(struct ur_daemon *daemon);
/* Ends the keeper: uroced exits, and no other uroced is to take over. */
void ur_keeper_stop(struct ur_daemon *daemon);

/* keeper_serve.c: the main loop of the keeper. It talks to uroced over link, and accepts
 * the next uroced at listener. Ends the process. */
_Noreturn void ur_keeper_serve(int link, int listener,
			       const struct ur_daemon *daemon);

#endif
