/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The program's calling stack: addresses, and names for them on request. */
#ifndef UR_CHECK_STACK_H
#define UR_CHECK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Enough for a program's own part above those of libraries and a language's
 * runtime. */
#define UR_STACK_DEPTH 24

struct ur_stack {
	void *address[UR_STACK_DEPTH]; /* innermost first, return addresses */
	int depth;
};

/* The known facts about one address. Strings live until the next ur_frame(). */
struct ur_stack_frame {
	char function[160];
	char file[160]; /* without folders; "" where there is no line */
	char module[96];
	int line;
};

/* Fills *stack with the calling thread's, without the frames of this library. */
void ur_stack_take(struct ur_stack *stack);

/* Some frames, for what is too frequent for a whole stack. Three: a program that
 * is not optimized has the functions of verbs.h as functions. */
struct ur_code_place {
	void *address[3]; /* NULL: none */
};

/* Fills *place with the calling thread's innermost frames, without those of this
 * library. */
void ur_place_take(struct ur_code_place *place);
/* Makes a stack of the place. */
void ur_stack_of(struct ur_stack *stack, const struct ur_code_place *place);

/* Returns the first frame outside libibverbs, librdmacm and this library, or
 * the first, or NULL where there is none. */
void *ur_stack_place(const struct ur_stack *stack);

/* Returns whether this is code of the program or of a library that it uses, and
 * not of the C library, of libibverbs and its providers, or of nobody. */
bool ur_of_program(void *address);
/* Returns whether this is code of the device that is in the program, its engine say. */
bool ur_of_device(void *address);

/* Returns whether this is code of librdmacm. */
bool ur_of_rdmacm(void *address);

/* Returns whether librdmacm made this for itself: one of its functions called. */
bool ur_stack_in_rdmacm(const struct ur_stack *stack);

/* Resolves @address into @frame. Not thread safe. */
void ur_frame_find(void *address, struct ur_stack_frame *frame);

/* Does the same for the frame of @place that is the program's. */
void ur_place_frame(const struct ur_code_place *place,
		    struct ur_stack_frame *frame);

/* "function (file:line)" or "function (module)". */
void ur_frame_print(FILE *out, const struct ur_stack_frame *frame);

/* All frames but the C library's start code, joined by " < ". */
void ur_stack_print(FILE *out, const struct ur_stack *stack);

#endif
