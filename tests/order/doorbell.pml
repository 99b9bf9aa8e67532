/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two threads of a client post on queues that share a word of the doorbell
 * page, while the device falls asleep whenever it finds nothing: [D1]..[D4]
 * [S1] [S2], with [P1] [C1] for what is posted. A post that nobody hears of
 * leaves the device asleep for ever, which is an invalid end state.
 */
#define CLIENTS 2
#define WORDS (CLIENTS + 3)
#define VALUES 8
#define THREADS (CLIENTS + 1)
#define DATA CLIENTS
#include "memory.pml"
#define SUMMARY CLIENTS
#define WORD (CLIENTS + 1)
#define ASLEEP (CLIENTS + 2)
#define DEVICE CLIENTS

bool go;
bool wake; /* the eventfd */

inline ring(me)
{
	/* fetch_or: nobody else sets this bit, and it is never set twice. */
	atomic {
		seen = value[WORD * VALUES + count[WORD] - 1];
		exchange(me, WORD, D1, seen, seen | (1 << me))
	};
	load(me, SUMMARY, D2_LOOK, seen);
	if
	:: seen
	:: else -> exchange(me, SUMMARY, D2, seen, 1)
	fi;
	load(me, ASLEEP, S1, seen);
	if
	:: seen -> wake = true
	:: else
	fi
}

active [CLIENTS] proctype client()
{
	byte seen, self = _pid;

	go;
	write_data(self, self);
	store(self, self, P1, 1);
	ring(self)
}

inline take(i)
{
	if
	:: bits & (1 << i) ->
		load(DEVICE, i, C1, seen);
		if
		:: seen && !(done & (1 << i)) ->
			read_data(DEVICE, i);
			done = done | (1 << i)
		:: else
		fi
	:: else
	fi
}

active proctype device()
{
	byte seen, bits, done, k_;

	memory_init();
	go = true;
	do
	:: exchange(DEVICE, SUMMARY, D4, seen, 0);
		if
		:: seen ->
			exchange(DEVICE, WORD, D3, bits, 0);
			take(0);
			take(1)
		:: else
		fi;
		if
		:: done == 3 -> break
		:: else
		fi;
		store(DEVICE, ASLEEP, RLX, 1);
		barrier(DEVICE, S2_BARRIER);
		load(DEVICE, SUMMARY, RLX, seen);
		if
		:: seen
		:: else -> atomic { wake -> wake = false }
		fi;
		store(DEVICE, ASLEEP, RLX, 0)
	od
}
