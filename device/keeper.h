/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keeper: a process beside uroced that has copies of the descriptors with which engines
 * in programs go on (engine/ground/keep.h). It reads no packet, no ring and no client's
 * command: only messages of one size, from a uroced of its own user that has the lock of
 * the run directory. Other users cannot connect to it, and are not answered if they do.
 *
 * As a service with a store of descriptors uroced has systemd in its place (keeper_store.h).
 *
 * It ends with uroced when that ends in the ordinary way. When uroced was killed it stays for as
 * long as a program has a slot: until the next uroced comes, or the last such program has
 * ended.
 */
#ifndef UR_DEVICE_KEEPER_H
#define UR_DEVICE_KEEPER_H

#include "device/device.h"

/* Connects to the keeper that is there, or starts one. The run directory is locked; before
 * there are threads, and before uroced is confined. Without a keeper, which is logged,
 * connections end with uroced. */
void ur_keeper_start(struct ur_daemon *daemon);
/* Ends it: uroced does too, and is not to be taken over. */
void ur_keeper_stop(struct ur_daemon *daemon);

/* keeper_serve.c: is the keeper, who talks to uroced by link, and accepts the next one at
 * listener. Ends the process. */
_Noreturn void ur_keeper_serve(int link, int listener,
			       const struct ur_daemon *daemon);

#endif
