/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The test and the uroced made for it (inject.c) share a page of memory that
 * says which call of the process is to fail. It counts the calls, of any
 * thread, that allocate memory, open a descriptor or start a thread.
 */
#ifndef UR_TESTS_FAULTS_INJECT_H
#define UR_TESTS_FAULTS_INJECT_H

#include <stdatomic.h>
#include <stdint.h>

/* Number of the page's descriptor, which uroced inherits. */
#define INJECT_ENV "UROCE_INJECT_FD"

struct inject {
	/* The call to fail, from now on: 1 is the next, 0 none. */
	_Atomic int64_t left;
	/* Set when it has failed: with which errno, in what function. */
	_Atomic int err;
	char what[32];
	uintptr_t caller; /* relative to the program's own begin */
};

#endif
