/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The program's calling stack: addresses, and names for them on request. */
#ifndef UR_CHECK_STACK_H
#define UR_CHECK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Enough to reach the program's own frames behind those of libraries and a
 * language's runtime. */
#define UR_STACK_DEPTH 24

struct ur_stack {
	void *address[UR_STACK_DEPTH]; /* innermost first, return addresses */
	int depth;
};

/* The known facts about an address. Strings live until the next
 * ur_frame_find(). */
struct ur_stack_frame {
	char function[160];
	char file[160]; /* without folders; "" where there is no line */
	char module[96];
	int line;
};

/* Fills *stack with the calling thread's stack, without frames of this
 * library. */
void ur_stack_take(struct ur_stack *stack);

/* A few frames, where a whole stack would cost too much. Three, since
 * unoptimized programs have the inline functions of verbs.h as frames. */
struct ur_code_place {
	void *address[3]; /* NULL: none */
};

/* Fills *place with the calling thread's innermost frames outside this
 * library. */
void ur_place_take(struct ur_code_place *place);
/* Makes a stack of the place's frames. */
void ur_stack_of(struct ur_stack *stack, const struct ur_code_place *place);

/* Returns the first frame outside libibverbs, librdmacm and this library, or
 * the first, or NULL where there is none. */
void *ur_stack_place(const struct ur_stack *stack);

/* Returns whether this is code of the program or of its libraries; false for
 * the C library, libibverbs and providers, and unknown code. */
bool ur_of_program(void *address);
/* Returns whether this is code of our device in the program, such as its
 * engine. */
bool ur_of_device(void *address);

/* Returns whether this is code of librdmacm. */
bool ur_of_rdmacm(void *address);

/* Returns whether librdmacm made the call for itself. */
bool ur_stack_in_rdmacm(const struct ur_stack *stack);

/* Resolves @address into @frame. Not thread safe. */
void ur_frame_find(void *address, struct ur_stack_frame *frame);

/* Does the same for the frame of @place that is the program's. */
void ur_place_frame(const struct ur_code_place *place,
		    struct ur_stack_frame *frame);

/* Prints "function (file:line)" or "function (module)". */
void ur_frame_print(FILE *out, const struct ur_stack_frame *frame);

/* Prints all frames but the C library's start code, joined by " < ". */
void ur_stack_print(FILE *out, const struct ur_stack *stack);

#endif
