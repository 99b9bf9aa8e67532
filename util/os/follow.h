/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The thread of a connection follows its client to the client's processor. A
 * command is a message there and one back; on one processor the two threads take
 * turns, as in a system call, while a sleeper on another one has to be woken
 * there, which costs several times the command, most of all where processors are
 * virtual.
 *
 * A client with threads on several processors is followed less and less, since
 * moving a thread costs as much as a few such wakings. Thread of the connection.
 *
 * The client decides what else runs there. A thread that waits for one that
 * follows can make it leave, so that nobody waits for the client's processor.
 */
#ifndef UR_UTIL_OS_FOLLOW_H
#define UR_UTIL_OS_FOLLOW_H

#include "util/bytes.h"

/* All zero: it runs where it likes. */
struct ur_follow {
	u32 cpu;      /* it runs there, plus one; 0: anywhere */
	u32 missed;   /* commands from elsewhere, without one from there */
	u32 patience; /* it moves after so many */
};

/* A command came from processor cpu - 1; 0: not known. Returns whether the
 * thread is to move there. */
bool ur_follow_look(struct ur_follow *follow, u32 cpu);
/* The same, and moves the calling thread. Where it may not run it stays, since
 * the number is the client's word. */
void ur_follow(struct ur_follow *follow, u32 cpu);
/* Returns the thread's number if it follows, else 0. The calling thread. */
u32 ur_follow_thread(void);
/* Makes that thread of ours leave the processor that it follows on, at once, if
 * there is another one. It follows again later, when a client of a bound program
 * has sent many commands from one processor. The thread must exist. Any thread. */
void ur_follow_release(u32 thread);
/* The calling thread, whose creator may follow a client, runs anywhere. */
void ur_follow_nobody(void);

#endif
