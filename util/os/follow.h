/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Moves the thread of a connection to its client's processor. A command is a
 * message and a reply. On one processor the two threads take turns, as in a
 * system call; a sleeper on another processor must be woken there, which costs
 * several times the command, most of all on virtual processors.
 *
 * A client with threads on several processors is followed less and less, since
 * moving a thread costs as much as a few wakings. On the connection's thread.
 *
 * The client decides what else runs on its processor. So a thread that waits
 * for one that follows can make it leave.
 */
#ifndef UR_UTIL_OS_FOLLOW_H
#define UR_UTIL_OS_FOLLOW_H

#include "util/bytes.h"

/* All zero: the thread runs anywhere. */
struct ur_follow {
	u32 cpu;      /* followed processor + 1; 0: none */
	u32 missed;   /* commands in a row from other processors */
	u32 patience; /* moves after this many */
};

/* Notes a command from processor cpu - 1; 0: unknown. Returns whether the
 * thread should move there. */
bool ur_follow_look(struct ur_follow *follow, u32 cpu);
/* Does the same, and moves the calling thread. The client names the processor,
 * so a forbidden one is ignored. */
void ur_follow(struct ur_follow *follow, u32 cpu);
/* Returns the calling thread's number if it follows, else 0. */
u32 ur_follow_thread(void);
/* Makes a thread of this process leave the processor that it follows on, at
 * once, if there is another one. It follows again after many commands from one
 * processor. The thread must exist. Any thread. */
void ur_follow_release(u32 thread);
/* Lets the calling thread run anywhere; it may have inherited a processor from
 * a thread that follows. */
void ur_follow_nobody(void);

#endif
