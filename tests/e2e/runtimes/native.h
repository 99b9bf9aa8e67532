/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A reliable connection to the same program elsewhere, for run times that are not C's: each
 * function is one short call, as bindings of verbs have them, and all data is the caller's.
 */
#ifndef UR_TESTS_RUNTIMES_NATIVE_H
#define UR_TESTS_RUNTIMES_NATIVE_H

#include <stddef.h>

/* native_take() and native_wait() return these of a completion. */
#define NATIVE_SEND    1
#define NATIVE_WRITE   2
#define NATIVE_READ    3
#define NATIVE_RECEIVE 129

struct native;

/* Connects to the server, or waits for a client where that is "", over TCP at first. The buffer
 * is registered, and the peer may write and read all of it. Returns NULL after a line that says
 * why. */
struct native *native_open(const char *server, int port, int gid_index,
			   const char *gid, void *buffer, size_t bytes);
/* Post a request of these bytes of the buffer, at and remote being offsets. Return what verbs
 * do. */
int native_send(struct native *n, size_t at, size_t bytes);
int native_write(struct native *n, size_t at, size_t remote, size_t bytes);
int native_read(struct native *n, size_t at, size_t remote, size_t bytes);
int native_receive(struct native *n, size_t at, size_t bytes);
/* Says that it is ready, and waits until the peer has. Returns 0 or -1. */
int native_meet(struct native *n);
/* Returns one completion, 0 where there is none, or minus the status of one that failed. */
int native_take(struct native *n);
/* The same, but sleeps at the completion channel until there is one. */
int native_wait(struct native *n);
/* Returns 0 or -1. */
int native_close(struct native *n);

#endif
