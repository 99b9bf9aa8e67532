/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A receive is posted while the device asks to be told of receives: [K1] [K2].
 * Either the client sees the flag and rings, or the device sees the receive. */
#define WORDS 2
#define VALUES 3
#define THREADS 2
#define DATA 1
#include "memory.pml"
#define PROD 0
#define FLAGS 1

bool go, rung;

active proctype client()
{
	byte old, flags, k_;

	memory_init();
	go = true;
	write_data(0, 0);
	exchange(0, PROD, K1_POST, old, 1);
	load(0, FLAGS, K1, flags);
	if
	:: flags -> rung = true
	:: else
	fi
}

active proctype device()
{
	byte prod;

	go;
	store(1, FLAGS, RLX, 1);
	barrier(1, K2_BARRIER);
	load(1, PROD, K2, prod);
	if
	:: prod
	:: else ->
		rung; /* for ever, when nobody rings */
		do
		:: prod -> break
		:: else -> load(1, PROD, K2, prod)
		od
	fi;
	read_data(1, 0)
}
