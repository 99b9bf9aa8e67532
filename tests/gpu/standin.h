/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A stand-in for CUDA's driver library: its memory lies at addresses that the processor cannot touch, its streams lag, and its
 * calls block, fail, lie and call back on request. It has two GPUs, or none with STANDIN_GPUS=0 in the environment. And one
 * for dma-bufs of a driver (standin/dmabuf.c). Weak, since the same programs run with the real library, which has none of
 * these.
 */
#ifndef UR_TESTS_GPU_STANDIN_H
#define UR_TESTS_GPU_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the calling thread is the program's: a call of it that copies, or that may wait, aborts then. */
__attribute__((weak)) void standin_is_mine(bool on);
/* Returns how often the calling thread has called what users call. */
__attribute__((weak)) unsigned int standin_calls(void);
/* What the library knows of the calling thread. */
struct standin_thread {
	int depth, mode;
	const void *contexts[16];
};
__attribute__((weak)) struct standin_thread standin_thread(void);
/* Called at the begin of each call that is not the program's own, but for those that it makes itself. */
__attribute__((weak)) void standin_each(void (*fn)(void));
/* The n-th call from now that is not the program's own returns an error that nobody knows. Returns whether one was still to
 * come. */
__attribute__((weak)) bool standin_break(int n);
/* That attribute of all memory is answered by value; 0: none. */
__attribute__((weak)) void standin_lie(int what, unsigned long long value);
/* Returns how many calls wait for the end of standin_block(). */
__attribute__((weak)) int standin_waiting(void);
/* What may wait, waits. */
__attribute__((weak)) void standin_waits(void);
/* Makes a dma-buf. Its mappings can be touched only between the calls that say so. Returns a descriptor or -1. */
__attribute__((weak)) int standin_dmabuf(size_t bytes, bool mappable);
/* No copy ends until this is false again. Begins to count anew. */
__attribute__((weak)) void standin_hold(bool on);
/* Returns how many copies were under way at a time, at most. */
__attribute__((weak)) int standin_most(void);
/* Counts of calls since the last standin_hold(): copies; copies begun while another was under way; events recorded;
 * events asked; questions about pointers. */
struct standin_copies {
	unsigned int all, beside, marks, queries, questions;
};
__attribute__((weak)) struct standin_copies standin_copies(void);
/* Called once, by the thread that next finds a copy that has not ended. */
__attribute__((weak)) void standin_then(void (*then)(void));
/* Calls that copy wait until this is false again. */
__attribute__((weak)) void standin_block(bool on);
/* The n-th call from now that copies fails (invalid value), with n -1 each; with late, its copy fails when its turn comes, and all calls after
 * that, until the next context. */
__attribute__((weak)) void standin_fail(int n, bool late);
/* Microseconds that each copy takes at most, drawn anew for each; -1: the call copies by itself; -2: nothing is copied, as if
 * that took no time of this processor's. */
__attribute__((weak)) void standin_lag(int us);
/* The program captures: calls that a thread may not make then are errors, which standin_captured() counts. */
__attribute__((weak)) void standin_capture(bool on);
__attribute__((weak)) int standin_captured(void);
/* Returns where the processor finds the byte at that address of a live allocation. */
__attribute__((weak)) uint8_t *standin_inside(uint64_t addr);

#endif
