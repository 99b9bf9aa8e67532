/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A completion queue of two entries and three completions: the owner bit
 * [Q1] [Q2], room [Q3] [Q4]. Data are the entries without that bit. */
#define ENTRIES 2
#define PUSHES 3
#define WORDS (ENTRIES + 1)
#define VALUES 5
#define THREADS 2
#define DATA ENTRIES
#include "memory.pml"
#define OWNER(i) ((i) % ENTRIES)
#define CONS ENTRIES
#define LAP(i) (((i) / ENTRIES) & 1 ^ 1)

bool go;

active proctype client()
{
	byte cons, owner, k_;

	memory_init();
	go = true;
	do
	:: cons == PUSHES -> break
	:: cons < PUSHES ->
		load(0, OWNER(cons), Q2, owner);
		if
		:: owner == LAP(cons) ->
			read_data(0, cons % ENTRIES);
			cons++;
			store(0, CONS, Q3, cons)
		:: else
		fi
	od
}

active proctype device()
{
	byte prod, cons;

	go;
	do
	:: prod == PUSHES -> break
	:: prod < PUSHES && prod - cons == ENTRIES -> load(1, CONS, Q4, cons)
	:: prod < PUSHES && prod - cons < ENTRIES ->
		write_data(1, prod % ENTRIES);
		store(1, OWNER(prod), Q1, LAP(prod));
		prod++
	od
}
