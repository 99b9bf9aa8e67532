/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ring between two programs, with room for two of three messages: [W1] [W2] [V1]
 * [V2]. The reader sleeps when there is nothing, the writer when there is no room, and
 * who is not woken sleeps for ever, which is an invalid end state.
 */
#define ENTRIES 2
#define POSTS 3
#define WORDS 4
#define VALUES 24
#define THREADS 2
#define DATA ENTRIES
#include "memory.pml"
#define PUBLISHED 0
#define TAKEN 1
#define ASLEEP 2
#define WAITS 3

bool go;
bool wake_reader, wake_writer; /* datagrams */

active proctype writer_()
{
	byte next, cons, seen, k_;

	memory_init();
	go = true;
	do
	:: next == POSTS -> break
	:: next < POSTS && next - cons < ENTRIES ->
		write_data(0, next % ENTRIES);
		next++;
		store(0, PUBLISHED, W1, next);
		barrier(0, W1_BARRIER);
		load(0, ASLEEP, RLX, seen);
		if
		:: seen ->
			exchange(0, ASLEEP, SC, seen, 0);
			if
			:: seen -> wake_reader = true
			:: else
			fi
		:: else
		fi
	:: next < POSTS && next - cons == ENTRIES ->
		load(0, TAKEN, W2, cons);
		if
		:: next - cons == ENTRIES ->
			atomic {
				seen = value[WAITS * VALUES + count[WAITS] - 1];
				exchange(0, WAITS, SC, seen, seen + 1)
			};
			barrier(0, W2_BARRIER);
			load(0, TAKEN, W2, cons);
			if
			:: next - cons == ENTRIES ->
				atomic { wake_writer -> wake_writer = false }
			:: else
			fi
		:: else
		fi
	od
}

active proctype reader()
{
	byte next, prod, waits, seen;

	go;
	do
	:: next == POSTS -> break
	:: next < POSTS ->
		load(1, PUBLISHED, V1, prod);
		if
		:: next < prod ->
			read_data(1, next % ENTRIES);
			next++;
			store(1, TAKEN, V2, next);
			barrier(1, V2_BARRIER);
			load(1, WAITS, RLX, seen);
			if
			:: seen != waits ->
				waits = seen;
				wake_writer = true
			:: else
			fi
		:: else ->
			store(1, ASLEEP, RLX, 1);
			barrier(1, S2_BARRIER);
			load(1, PUBLISHED, V1, prod);
			if
			:: next < prod
			:: else ->
				atomic { wake_reader -> wake_reader = false }
			fi;
			store(1, ASLEEP, RLX, 0)
		fi
	od
}
