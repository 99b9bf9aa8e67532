/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A table with one place for each hash: what does not fit is asked. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/foretold.h"

/* Some questions for each of hundreds of connections that come up at once. */
#define ENTRIES	     1024
#define ANSWER_BYTES 304
#define ANSWER_AT    8 /* of the question: where the answer is to go */

struct entry {
	struct uroce_tun_foretold told;
	uint32_t bytes; /* of the answer; 0: empty */
	uint32_t rsv;
	uint8_t answer[ANSWER_BYTES];
};

struct ur_foretold {
	_Atomic uint32_t *page;
	struct entry entries[ENTRIES];
};

struct ur_foretold *ur_foretold_begin(int page)
{
	struct ur_foretold *f;
	struct stat st;

	if (syscall(SYS_fstat, page, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < UROCE_TUN_PAGE_BYTES)
		return NULL;
	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f == MAP_FAILED)
		return NULL;
	f->page = mmap(NULL, UROCE_TUN_PAGE_BYTES, PROT_READ, MAP_SHARED, page,
		       0);
	if (f->page != MAP_FAILED)
		return f;
	munmap(f, sizeof(*f));
	return NULL;
}

void ur_foretold_end(struct ur_foretold *f)
{
	if (!f)
		return;
	munmap(f->page, UROCE_TUN_PAGE_BYTES);
	munmap(f, sizeof(*f));
}

/* 2^64 divided by the golden ratio spreads what differs by little. */
static uint32_t place_of(const uint8_t *question)
{
	uint64_t what;
	uint32_t cmd;

	memcpy(&what, question + 16, sizeof(what));
	memcpy(&cmd, question, sizeof(cmd));
	return (uint32_t)(((what + cmd) * 0x9e3779b97f4a7c15ull) >> 32) %
	       ENTRIES;
}

void ur_foretold_keep(struct ur_foretold *f, const void *told, size_t len)
{
	struct uroce_tun_foretold t;
	struct entry *e;

	if (!f || len <= sizeof(t) || len - sizeof(t) > ANSWER_BYTES)
		return;
	memcpy(&t, told, sizeof(t));
	if (t.slot >= UROCE_TUN_PAGE_SLOTS)
		return;
	e = &f->entries[place_of(t.question)];
	e->told = t;
	e->bytes = (uint32_t)(len - sizeof(t));
	memcpy(e->answer, (const uint8_t *)told + sizeof(t), e->bytes);
}

bool ur_foretold_answer(const struct ur_foretold *f, const void *question,
			uint64_t from, uint64_t to)
{
	uint8_t q[UR_FORETOLD_QUESTION];
	const struct entry *e;
	uint64_t where;

	memcpy(q, question, sizeof(q));
	memcpy(&where, q + ANSWER_AT, sizeof(where));
	memset(q + ANSWER_AT, 0, sizeof(where));
	e = &f->entries[place_of(q)];
	if (!e->bytes || memcmp(e->told.question, q, sizeof(q)) ||
	    atomic_load_explicit(&f->page[e->told.slot],
				 memory_order_acquire) != e->told.change)
		return false;
	if (where < from || where > to || e->bytes > to - where)
		return false;
	memcpy((void *)(uintptr_t)where, e->answer, e->bytes);
	return true;
}
