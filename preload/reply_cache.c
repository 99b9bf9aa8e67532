// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Replies that were sent ahead, in a table by a hash of the request. A request
 * whose reply had no place is sent in the ordinary way. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/reply_cache.h"

/* Enough for some requests of each of hundreds of connections that come up at
 * once. */
#define ENTRIES	     4096
#define ANSWER_BYTES 304
#define EVENT_BYTES  512
#define ANSWER_AT    8 /* in the request: where the reply is to be stored */

struct entry {
	struct uroce_tun_cached_reply cached;
	uint32_t bytes; /* of the reply; 0: empty */
	uint32_t rsv;
	uint8_t answer[ANSWER_BYTES];
};

struct ur_reply_cache {
	_Atomic uint32_t *page;
	/* an event for the next GET_EVENT, good while the word slot of page is
	 * change */
	uint8_t get_event[UR_REPLY_CACHE_EVENT], event[EVENT_BYTES];
	uint32_t slot, change;
	uint32_t event_bytes; /* 0: none */
	bool taken;	      /* since the last command */
	/* an id for the next CREATE_ID with this header and this end */
	uint8_t create[8], create_end[8];
	uint32_t spare;
	bool has_spare;
	/* the CREATE_ID that it has answered since the last command */
	struct uroce_tun_created created;
	bool has_created;
	struct entry entries[ENTRIES];
};

struct ur_reply_cache *ur_reply_cache_open(int page)
{
	struct ur_reply_cache *f;
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

void ur_reply_cache_close(struct ur_reply_cache *f)
{
	if (!f)
		return;
	munmap(f->page, UROCE_TUN_PAGE_BYTES);
	munmap(f, sizeof(*f));
}

/* 2^64 divided by the golden ratio spreads similar values. */
static uint32_t place_of(const uint8_t *question)
{
	uint64_t what;
	uint32_t cmd;

	memcpy(&what, question + 16, sizeof(what));
	memcpy(&cmd, question, sizeof(cmd));
	return (uint32_t)(((what + cmd) * 0x9e3779b97f4a7c15ull) >> 32) %
	       ENTRIES;
}

static void put_event(struct ur_reply_cache *f,
		      const struct uroce_tun_cached_reply *t, const void *event,
		      size_t len)
{
	uint32_t slot;

	memcpy(&slot, t->question + UROCE_TUN_AHEAD_SLOT, sizeof(slot));
	if (len > EVENT_BYTES || slot >= UROCE_TUN_PAGE_SLOTS)
		return;
	f->slot = slot;
	f->change = t->change;
	memcpy(f->get_event, t->question, sizeof(f->get_event));
	memcpy(f->event, event, len);
	f->event_bytes = (uint32_t)len;
}

static void put_spare(struct ur_reply_cache *f,
		      const struct uroce_tun_cached_reply *t)
{
	memcpy(f->create, t->question, sizeof(f->create));
	memcpy(f->create_end, t->question + sizeof(f->create),
	       sizeof(f->create_end));
	f->spare = t->change;
	f->has_spare = true;
}

void ur_reply_cache_put(struct ur_reply_cache *f, const void *cached,
			size_t len)
{
	struct uroce_tun_cached_reply t;
	struct entry *e;

	if (!f || len <= sizeof(t))
		return;
	memcpy(&t, cached, sizeof(t));
	if (t.slot == UROCE_TUN_AHEAD)
		put_event(f, &t, (const uint8_t *)cached + sizeof(t),
			  len - sizeof(t));
	if (t.slot == UROCE_TUN_SPARE)
		put_spare(f, &t);
	if (t.slot >= UROCE_TUN_PAGE_SLOTS || len - sizeof(t) > ANSWER_BYTES)
		return;
	e = &f->entries[place_of(t.question)];
	e->cached = t;
	e->bytes = (uint32_t)(len - sizeof(t));
	memcpy(e->answer, (const uint8_t *)cached + sizeof(t), e->bytes);
}

static bool is_good(const struct ur_reply_cache *f, uint32_t slot,
		    uint32_t change)
{
	return atomic_load_explicit(&f->page[slot], memory_order_acquire) ==
	       change;
}

bool ur_reply_cache_get(const struct ur_reply_cache *f, const void *question,
			uint64_t from, uint64_t to)
{
	uint8_t q[UR_REPLY_CACHE_QUESTION];
	const struct entry *e;
	uint64_t where;

	memcpy(q, question, sizeof(q));
	memcpy(&where, q + ANSWER_AT, sizeof(where));
	memset(q + ANSWER_AT, 0, sizeof(where));
	e = &f->entries[place_of(q)];
	if (!e->bytes || memcmp(e->cached.question, q, sizeof(q)) ||
	    !is_good(f, e->cached.slot, e->cached.change))
		return false;
	if (where < from || where > to || e->bytes > to - where)
		return false;
	memcpy((void *)(uintptr_t)where, e->answer, e->bytes);
	return true;
}

bool ur_reply_cache_take(struct ur_reply_cache *f, const void *question,
			 uint64_t from, uint64_t to)
{
	uint8_t q[UR_REPLY_CACHE_EVENT];
	uint64_t where;

	if (!f || !f->event_bytes || !is_good(f, f->slot, f->change))
		return false;
	memcpy(q, question, sizeof(q));
	memcpy(&where, q + ANSWER_AT, sizeof(where));
	memset(q + ANSWER_AT, 0, sizeof(where));
	if (memcmp(f->get_event, q, sizeof(q)) || where < from || where > to ||
	    f->event_bytes > to - where)
		return false;
	memcpy((void *)(uintptr_t)where, f->event, f->event_bytes);
	f->event_bytes = 0;
	f->taken = true;
	return true;
}

bool ur_reply_cache_has_event(const struct ur_reply_cache *f)
{
	return f && f->event_bytes;
}

bool ur_reply_cache_create(struct ur_reply_cache *f, const void *question,
			   uint64_t from, uint64_t to)
{
	struct {
		uint8_t hdr[8];
		uint64_t uid, where;
		uint8_t end[8];
	} q;

	_Static_assert(sizeof(q) == UR_REPLY_CACHE_CREATE, "a CREATE_ID");
	memcpy(&q, question, sizeof(q));
	/* The next command tells of one id. */
	if (!f || !f->has_spare || f->has_created ||
	    memcmp(q.hdr, f->create, sizeof(q.hdr)) ||
	    memcmp(q.end, f->create_end, sizeof(q.end)) || q.where < from ||
	    q.where > to || sizeof(f->spare) > to - q.where)
		return false;
	memcpy((void *)(uintptr_t)q.where, &f->spare, sizeof(f->spare));
	f->has_spare = false;
	f->created = (struct uroce_tun_created){.uid = q.uid, .id = f->spare};
	f->has_created = true;
	return true;
}

uint64_t ur_reply_cache_take_report(struct ur_reply_cache *f,
				    struct uroce_tun_created *created)
{
	uint64_t told = f && f->taken ? UROCE_TUN_TAKEN : 0;

	if (!f)
		return 0;
	if (f->has_created) {
		*created = f->created;
		told |= UROCE_TUN_CREATED;
	}
	f->has_created = false;
	f->taken = false;
	f->event_bytes = 0;
	return told;
}

bool ur_reply_cache_owes(const struct ur_reply_cache *f)
{
	return f && (f->taken || f->event_bytes || f->has_created);
}
