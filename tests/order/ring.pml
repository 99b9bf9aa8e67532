/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A send ring of two entries and three WQEs: [P1] [C1] [R1] [R2]. */
#define ENTRIES 2
#define POSTS 3
#define WORDS 2
#define VALUES 5
#define THREADS 2
#define DATA ENTRIES
#include "memory.pml"
#define PROD 0
#define CONS 1

bool go;

active proctype client()
{
	byte next, cons, k_;

	memory_init();
	go = true;
	do
	:: next == POSTS -> break
	:: next < POSTS && next - cons < ENTRIES ->
		write_data(0, next % ENTRIES);
		next++;
		store(0, PROD, P1, next)
	:: next < POSTS && next - cons == ENTRIES -> load(0, CONS, R2, cons)
	od
}

active proctype device()
{
	byte next, prod;

	go;
	do
	:: next == POSTS -> break
	:: next < POSTS && next == prod -> load(1, PROD, C1, prod)
	:: next < prod ->
		read_data(1, next % ENTRIES);
		next++;
		store(1, CONS, R1, next)
	od
}
