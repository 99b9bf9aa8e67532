/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The test and the uroced made for it (held_send.c) share a page of memory, by which
 * the test holds up the thread that is about to send a client a descriptor.
 */
#ifndef UR_TESTS_DEVICE_HELD_SEND_H
#define UR_TESTS_DEVICE_HELD_SEND_H

#include <stdatomic.h>

/* Number of the page's descriptor, which uroced inherits. */
#define HELD_SEND_ENV "UROCE_HELD_SEND_FD"

struct held_send {
	_Atomic int armed; /* the next one is to wait */
	_Atomic int waits; /* one does */
	_Atomic int go;
};

#endif
