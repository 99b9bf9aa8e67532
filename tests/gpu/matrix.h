/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parts of the matrix that are in other files. Both sides call each. */
#ifndef UR_TESTS_GPU_MATRIX_H
#define UR_TESTS_GPU_MATRIX_H

#include "tests/gpu/pair.h"

/* The pattern that was used last. */
extern uint32_t seed;

/* The client's request; bytes of one side's place come to the other's. */
void exchange(enum ibv_wr_opcode op, enum place here, enum place far,
	      uint32_t off, uint32_t len);

void run_rereg(void);
void run_dereg(void);
void run_freed(void);
void run_rules(void);
void run_child_dmabuf(void);
void run_files(void);
void run_child(void);
void run_blocked(void);
void run_failures(void);
void run_order(void);
void run_contexts(void);
void run_hostile(void);
void run_services(void);
void run_speed(void);
void run_overlap(void);

#endif
