/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Arming a completion queue: [A1] [A2]. The client waits for an event only
 * when its poll after arming found nothing, and arms again after each; without
 * one it waits for ever, which is an invalid end state. */
#define PUSHES 2
#define WORDS (PUSHES + 1)
#define VALUES 8
#define THREADS 2
#define DATA 1
#include "memory.pml"
#define ARM PUSHES

bool go;
byte events, told; /* told: what was pushed before the last event */

active proctype client()
{
	byte cons, owner, serial, k_;

	memory_init();
	go = true;
	do
	:: cons == PUSHES -> break
	:: cons < PUSHES ->
		serial++;
		store(0, ARM, A1, serial);
		barrier(0, A1_BARRIER);
		load(0, cons, ACQ, owner);
		if
		:: owner -> cons++
		:: else ->
			/* A message of the kernel's, which orders. */
			d_step {
				events > 0 -> events--;
				for (k_ : 0 .. PUSHES - 1) {
					if
					:: k_ < told -> now[0].at[k_] = 1
					:: else
					fi
				}
				k_ = 0
			}
		fi
	od
}

active proctype device()
{
	byte prod, arm, fired;

	go;
	do
	:: prod == PUSHES -> break
	:: prod < PUSHES ->
		store(1, prod, REL, 1);
		prod++;
		barrier(1, A2_BARRIER);
		load(1, ARM, ACQ, arm);
		if
		:: arm != fired -> atomic { fired = arm; told = prod; events++ }
		:: else
		fi
	od
}
