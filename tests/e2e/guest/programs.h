/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* More of what programs do, each with verified messages meanwhile: more modes of guest.c. */
#ifndef UR_TESTS_GUEST_PROGRAMS_H
#define UR_TESTS_GUEST_PROGRAMS_H

#include "rounds.h"

/* Does what is called so: each side vforks, blocks all signals, has a handler of SIGSEGV, or ends with its last
 * thread, which is not the first; or the server ends by exit, by abort or for want of memory, or the two
 * send for ever, and the client says what its request failed with. Returns
 * whether there is such a mode. */
bool run_program(const char *name, struct ibv_context *context,
		 const struct rounds_peer *peer);

/* confined.c: both programs forbid themselves system calls in the way that is called so, and go
 * on. Returns whether there is such a way. */
bool run_confined(const char *name, struct ibv_context *context,
		  const struct rounds_peer *peer);

#endif
