/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The door of fuzz_apart: an engine without packets. It holds its callers to the contract of struct uroce_engine_ops, and to
 * what the real engine asserts.
 */
#ifndef UR_TESTS_FUZZ_APART_OPS_H
#define UR_TESTS_FUZZ_APART_OPS_H

#include "kernel-abi/uroce-engine.h"
#include "util/bytes.h"

#define APART_CONTEXTS 3u
#define APART_SLOT     3u

struct apart_world {
	/* The context whose message is carried out: nothing of another is touched. */
	u32 serving;
	/* A number of its uverbs file; 0: it has an engine of its own. */
	u64 file[APART_CONTEXTS];
	/* Not 0: the next call fails. */
	u32 fails;
	u32 homes, objects;
	/* of the open contexts */
	struct uroce_ectx *ectxs[APART_CONTEXTS];
};

extern struct apart_world apart_world;
extern const struct uroce_engine_ops apart_ops;

bool apart_ops_is_packet_socket(int fd);
/* Returns whether the descriptor is the file of rings, or the wake-up, of that context. */
bool apart_ops_is_rings(u32 context, int fd);
bool apart_ops_is_wake(u32 context, int fd);
/* Binds or releases a window at a region of the context, as a program does by its ring. */
void apart_ops_bind(u32 context, u32 which);

#endif
