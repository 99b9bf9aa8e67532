/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ring between two programs, with three places, of which one is that of the message to
 * come: [W1] [W2] [V1] [V2] [E1]. The word of a place says that a message is there; it looks the
 * same in each lap, so that what an earlier one has left must be gone before the reader gets
 * there. The reader sleeps when there is nothing, the writer when there is no room, and
 * who is not woken sleeps for ever, which is an invalid end state.
 */
#define PLACES 3
#define POSTS 4
#define WORDS 6
#define VALUES 28
#define THREADS 2
#define DATA PLACES
#include "memory.pml"
#define MARK(n) ((n) % PLACES)
#define TAKEN 3
#define ASLEEP 4
#define WAITS 5
#define NO 9

bool go;
bool wake_reader, wake_writer; /* datagrams */

active proctype writer_()
{
	byte next, cons, seen, k_;

	memory_init();
	go = true;
	do
	:: next == POSTS -> break
	:: next < POSTS && next - cons < PLACES - 1 ->
		write_data(0, next % PLACES);
		if
		:: E1 != NO ->
			/* The reader has copied the word with the rest. */
			write_data(0, (next + 1) % PLACES);
			store(0, MARK(next + 1), E1, 0)
		:: else
		fi;
		store(0, MARK(next), W1, 1);
		next++;
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
	:: next < POSTS && next - cons == PLACES - 1 ->
		load(0, TAKEN, W2, cons);
		if
		:: next - cons == PLACES - 1 ->
			atomic {
				seen = value[WAITS * VALUES + count[WAITS] - 1];
				exchange(0, WAITS, SC, seen, seen + 1)
			};
			barrier(0, W2_BARRIER);
			load(0, TAKEN, W2, cons);
			if
			:: next - cons == PLACES - 1 ->
				atomic { wake_writer -> wake_writer = false }
			:: else
			fi
		:: else
		fi
	od
}

active proctype reader()
{
	byte next, there, waits, seen;

	go;
	do
	:: next == POSTS -> break
	:: next < POSTS ->
		load(1, MARK(next), V1, there);
		if
		:: there ->
			read_data(1, next % PLACES);
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
			load(1, MARK(next), V1, there);
			if
			:: there
			:: else ->
				atomic { wake_reader -> wake_reader = false }
			fi;
			store(1, ASLEEP, RLX, 0)
		fi
	od
}
