/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UR_TESTS_GUEST_FORKS_H
#define UR_TESTS_GUEST_FORKS_H

#include "rounds.h"

/* The client writes for as long as the server forks, whose children stay; the last value is the
 * one that the server finds. */
void serve_and_fork(struct ibv_context *context,
		    const struct rounds_peer *peer);

#endif
