/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The world of the doors to the device: a device process inside this one, on
 * the loopback of a network namespace of its own, and another process whose
 * memory is the client's. */
#ifndef UR_TESTS_FUZZ_DEVICE_WORLD_H
#define UR_TESTS_FUZZ_DEVICE_WORLD_H

#include "device/serve.h"

extern struct ur_daemon device_world;

/*
 * The client: this process as it is now, asleep; prepare (or NULL) runs in it
 * first. Returns a descriptor of its memory. Before the start.
 */
int device_world_client(void (*prepare)(void));

/* Once. Ends the program with 77 and a reason where namespaces may not be made.
 * The control loop runs on a thread of its own. */
void device_world_start(void);

/* A file of every kind is open on the device all the while (tests/device/
 * company.h): inputs meet other kinds than their own, and everything that
 * describes the device meets all. */
/* Ends an input: asks for everything that describes the device. */
void device_world_look(void);
/* Waits until no session is left but those of these files. */
void device_world_settle(void);
/* Closes them, and makes them again on the first device that there is now. */
void device_world_part(void);
void device_world_meet(void);

/* A session of that client, for calling what it calls; front_end answers its
 * upcalls on a thread of its own, and gets the other end of its socket. */
void device_world_session(struct ur_session *s, int mem,
			  void (*front_end)(int sock));

#endif
