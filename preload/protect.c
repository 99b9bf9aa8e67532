// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pages that the program itself has protected by mprotect(), for an engine in it
 * (engine/ground/pinned.h). One bit for each page, by its number; pages 4 GiB apart share a bit.
 * Signal handlers protect and unprotect memory, so there is no lock.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "kernel-abi/uroce-copies.h"
#include "preload/real.h"

#define PAGE_SHIFT 12
#define PAGES	   (1u << 20)
#define WORD	   64u

/* an engine exists */
static _Atomic int looks;

static _Atomic uint64_t taken[PAGES / WORD];

/* Sets n bits from first on, all in one word. */
static void set_bits(uint32_t first, uint32_t n, bool take)
{
	_Atomic uint64_t *word = &taken[first / WORD];
	uint64_t bits =
		n == WORD ? UINT64_MAX : ((1ull << n) - 1) << first % WORD;

	if (take)
		atomic_fetch_or(word, bits);
	else if (atomic_load_explicit(word, memory_order_relaxed) & bits)
		atomic_fetch_and(word, ~bits);
}

static void note(const void *at, size_t len, bool take)
{
	uintptr_t page = (uintptr_t)at >> PAGE_SHIFT;
	size_t left = (len + ((uintptr_t)at & 4095u) + 4095u) >> PAGE_SHIFT;

	if (left > PAGES)
		left = PAGES;
	while (left) {
		uint32_t first = (uint32_t)page % PAGES;
		uint32_t n = WORD - first % WORD;

		if (n > left)
			n = (uint32_t)left;
		set_bits(first, n, take);
		page += n;
		left -= n;
	}
}

static bool takes(int prot)
{
	return (prot & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE);
}

UR_EXPORT int mprotect(void *addr, size_t len, int prot)
{
	bool engine = atomic_load_explicit(&looks, memory_order_relaxed);
	int ret;

	/* Noted before the first fault. */
	if (engine && takes(prot))
		note(addr, len, true);
	ret = ur_real(mprotect)(addr, len, prot);
	if (engine && !ret && !takes(prot))
		note(addr, len, false);
	return ret;
}

static void start_looking(void)
{
	atomic_store(&looks, 1);
}

static void forget_pages(const void *at, size_t len)
{
	note(at, len, false);
}

static int took(const void *at)
{
	uint32_t page = (uint32_t)((uintptr_t)at >> PAGE_SHIFT) % PAGES;

	return atomic_load_explicit(&taken[page / WORD],
				    memory_order_relaxed) >>
		       page % WORD &
	       1;
}

UR_EXPORT const struct uroce_protections uroce_protections = {
	.version = UROCE_PROTECTIONS_VERSION,
	.start = start_looking,
	.forget = forget_pages,
	.took = took,
};
