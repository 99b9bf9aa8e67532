/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Engine processes. uroce-engine runs the engines of other processes of one user. It loads
 * liburoce-engine.so, and offers that library's calls (struct uroce_call of uroce-engine.h) to a program
 * over a socket: each is a message of fixed size (struct uroce_call_msg), and so is its reply. Objects
 * have numbers there. Rings and doorbells lie in memory that both map, so posting and polling need no
 * message.
 *
 * uroced makes the socket pair. It gives one end to the program
 * (UROCE_METHOD_ENGINE_APART), and the other end to the engine process, with the engine's
 * slot and access to the program's memory. The engine process trusts nothing from a
 * program: a program can break its own context only.
 */
#ifndef UROCE_APART_H
#define UROCE_APART_H

#include "kernel-abi/uroce-engine.h"

#define UROCE_APART_PROGRAM "uroce-engine"
/* The engine process's descriptor of the socket from which it receives contexts. */
#define UROCE_APART_FD 3

#define UROCE_APART_VERSION 4

/* Descriptors that come with a context, in this order; has tells which are present. */
enum uroce_apart_fd {
	UROCE_APART_SOCKET, /* the program has the other end */
	UROCE_APART_MEM,
	UROCE_APART_MAPS,
	UROCE_APART_LOCAL, /* from here on those of struct uroce_engine_open */
	UROCE_APART_OUT6,
	UROCE_APART_OUT4,
	UROCE_APART_COUNT,
	UROCE_APART_SETTINGS,
	UROCE_APART_RECORD,
	UROCE_APART_RELAY,
	UROCE_APART_RELAY_WORDS,
	UROCE_APART_OUTBOX,
	UROCE_APART_WAKE,
	UROCE_APART_BELL,
	UROCE_APART_ASYNC_TX, /* of a shared engine: those of set_async() */
	UROCE_APART_ASYNC_RX,
	UROCE_APART_LIVENESS,
	UROCE_APART_LISTED, /* see struct uroce_apart_context */
	UROCE_APART_V1, /* the first of UROCE_V1_FDS, on a device with RoCEv1 */
	UROCE_APART_FDS = UROCE_APART_V1 + UROCE_V1_FDS
};

/* A message without descriptors reports that no more contexts come for the shared engine. */
struct uroce_apart_context {
	__u32 version;
	__u32 has; /* a bit for each descriptor */
	__s32 pid;
	/* 0: the context has an engine of its own. Otherwise the number of a shared engine,
	 * which its first context creates. */
	__u32 engine;
	__u64 ring_bytes, object_bytes;
	__u32 adverse; /* UROCE_ADVERSE_* */
	__u32 adverse_seed;
	__u32 realm; /* if users are isolated; else 0 */
	/* Number of regions in the file UROCE_APART_LISTED, each a struct uroce_emr_init.
	 * The context begins with them. Its program claims each by REG_MR with the key, and
	 * CLAIMED ends the others. */
	__u32 listed;
	/* Contexts of a shared engine with the same number have the same protection domains. */
	__u64 file;
	struct uroce_engine_open open; /* its descriptors are ignored */
};

#endif
