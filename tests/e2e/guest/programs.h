/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* More of what programs do, each with verified messages meanwhile: more modes of guest.c. */
#ifndef UR_TESTS_GUEST_PROGRAMS_H
#define UR_TESTS_GUEST_PROGRAMS_H

#include "rounds.h"

/* Does what is called so: each side vforks, blocks all signals, or has a handler of SIGSEGV; or
 * the server ends by exit or abort, and the client says what its request failed with. Returns
 * whether there is such a mode. */
bool run_program(const char *name, struct ibv_context *context,
		 const struct rounds_peer *peer);

#endif
