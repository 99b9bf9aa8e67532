/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The socket in the run directory. */
#ifndef UR_DEVICE_LISTEN_H
#define UR_DEVICE_LISTEN_H

#include <sys/un.h>
#include "device/device.h"

/* Fills *addr with the address of a socket name in the run directory. Returns 0 or
 * -ENAMETOOLONG. */
int ur_listen_address(const struct ur_daemon *daemon, const char *name,
		      struct sockaddr_un *addr);
/* Creates the socket and sets its group. Accepts nobody yet. Returns 0 or -errno. */
int ur_listen_bind(struct ur_daemon *daemon);
/* Clients can connect from now on, and are served by the loop. Returns 0 or -errno. */
int ur_listen_start(struct ur_daemon *daemon);
/* Removes the socket: no new clients come. */
void ur_listen_stop(struct ur_daemon *daemon);

#endif
