// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* memory.h */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/memory.h"
#include "tests/gpu/standin.h"

const struct far_memory *far_memory;
struct buffer own[PLACES];
static uint8_t copy[BYTES];

static struct standin_thread before;

void thread_lends(void)
{
	if (!standin_thread)
		return;
	standin_is_mine(false);
	before = standin_thread();
}

void thread_is_as_before(void)
{
	struct standin_thread now;

	if (!standin_thread)
		return;
	now = standin_thread();
	must(!memcmp(&now, &before, sizeof(now)), "contexts and capture mode");
	standin_is_mine(true);
}

struct ibv_mr *reg(struct ibv_pd *pd, uint64_t addr, enum place p)
{
	struct ibv_mr *mr;
	int err;

	thread_lends();
	mr = p == FAR ? far_memory->reg(pd, addr)
		      : ibv_reg_mr(pd, (void *)(uintptr_t)addr, BYTES, ACCESS);
	err = errno;
	thread_is_as_before();
	errno = err;
	return mr;
}

int dereg(struct ibv_mr *mr)
{
	int err;

	thread_lends();
	err = ibv_dereg_mr(mr);
	thread_is_as_before();
	return err;
}

uint64_t allocate(enum place p)
{
	return p == FAR ? far_memory->allocate()
			: (uintptr_t)aligned_alloc(4096, BYTES);
}

void set_bytes(uint64_t addr, const void *from, size_t n, enum place p)
{
	if (p == HOST)
		memcpy((void *)(uintptr_t)addr, from, n);
	else
		far_memory->set(addr, from, n);
}

void get_bytes(void *to, uint64_t addr, size_t n, enum place p)
{
	if (p == HOST)
		memcpy(to, (void *)(uintptr_t)addr, n);
	else
		far_memory->get(to, addr, n);
}

uint8_t byte_at(uint32_t s, uint32_t i)
{
	return (uint8_t)((s * 0x9e3779b1u + i) * 0x85ebca6bu >> 24);
}

void fill(enum place p, uint32_t s)
{
	for (uint32_t i = 0; i < BYTES; i++)
		copy[i] = byte_at(s, i);
	set_bytes(own[p].addr, copy, BYTES, p);
}

void check(enum place p, uint32_t at, uint32_t end, uint32_t s, uint32_t from,
	   uint32_t other)
{
	get_bytes(copy, own[p].addr, BYTES, p);
	for (uint32_t i = 0; i < BYTES; i++) {
		bool in = i >= at && i < end;
		uint8_t want =
			in ? byte_at(s, from + i - at) : byte_at(other, i);

		if (copy[i] == want)
			continue;
		printf("byte %u of %u to %u: %02x for %02x\n", i, at, end,
		       copy[i], want);
		must(false, "the bytes");
	}
}
