/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The place of the engine: "apart", in an engine process, or "together" with the
 * program, so that TSan sees both ends of the rings.
 */
#ifndef UR_TESTS_THREADS_WORLD_H
#define UR_TESTS_THREADS_WORLD_H

void world_start(void);
void world_stop(void);

#endif
