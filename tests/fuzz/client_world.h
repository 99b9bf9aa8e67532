/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The world of the client door: the device of device_world.h behind its tunnel,
 * with sessions of clients. */
#ifndef UR_TESTS_FUZZ_CLIENT_WORLD_H
#define UR_TESTS_FUZZ_CLIENT_WORLD_H

#include "util/bytes.h"

/* Mapped in the client's process. */
#define ARENA	    0x10000000ull
#define ARENA_BYTES 65536u

/* Once. Ends the program with 77 and a reason where namespaces may not be
 * made. */
void client_world_create(void);
/* "uverbsN" of the device. */
const char *client_uverbs_name(void);
/* The client's end of a new session. */
int client_connect(void);
/* Until no session is left. */
void client_wait_idle(void);

/* A new descriptor of the client's memory. */
int client_mem(void);
void client_write(u64 addr, const void *bytes, size_t n);
/* One of some descriptors, or -1. */
int client_fd(u32 which);

#endif
