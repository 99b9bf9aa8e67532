// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The program's memory at the door between neighbours: regions among bytes that nobody may read or write, and the
 * copies, which are made here. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "engine/ground/user.h"
#include "engine/local/udp_pair.h"
#include "kernel-abi/uroce-copies.h"
#include "tests/check.h"
#include "tests/fuzz/peer_world.h"

#define ARENA	   (1u << 20)
#define GUARD	   4096u
#define SECRET	   "not for others: "
#define SECRET_LEN 16u

static struct peer_world *const w = &peer_world;
static u8 *arena, *as_made;

static bool is_inside(const u8 *p, size_t len, const u8 *at, size_t bytes)
{
	return p >= at && len <= bytes && (size_t)(p - at) <= bytes - len;
}

/* Returns the region in which those bytes are, or -1: they are none of the program's. Between regions nothing may
 * be touched. */
static int region_of(const void *p, size_t len)
{
	for (int i = 0; i < PEER_REGIONS; i++)
		if (is_inside(p, len, w->at[i], w->bytes[i]))
			return i;
	CHECK((const u8 *)p + len <= arena || (const u8 *)p >= arena + ARENA);
	return -1;
}

/* A file that is shown may be shorter than its mapping. */
static int copy_seen(void *to, const void *from, size_t len)
{
	struct iovec here = {to, len}, there = {(void *)(uintptr_t)from, len};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
			       (ssize_t)len
		       ? 0
		       : -EFAULT;
}

/* The neighbour's bytes, as far as he has shown them. */
static bool is_seen(const void *p, size_t len)
{
	const struct ur_udp_pair *pair = w->wire->pairs[PEER_SLOT];

	for (u32 i = 0; pair && i < UR_PEER_FILES; i++)
		if (pair->seen[i].map &&
		    is_inside(p, len, pair->seen[i].at, pair->seen[i].bytes))
			return true;
	return false;
}

/* Else they have come in the ring, or were put together. */
static bool is_received(const void *p, size_t len)
{
	const struct ur_udp_pair *pair = w->wire->pairs[PEER_SLOT];

	return is_inside(p, len, w->wire->rx_buf,
			 (size_t)UR_UDP_RX_STRIDE * UR_UDP_RX_MSGS) ||
	       is_inside(p, len, w->mem->stage, UR_STAGE_BYTES) ||
	       (pair && is_inside(p, len, pair->in_file, UR_PEER_FILE_BYTES));
}

static int copy(void *to, const void *from, size_t len)
{
	int into = region_of(to, len), out_of = region_of(from, len);

	CHECK(into < 0 || into == PEER_REMOTE || into == PEER_LOCAL);
	CHECK(out_of != PEER_LOCAL && out_of != PEER_CLOSED);
	if (pthread_equal(w->thread, pthread_self()) && w->copies)
		w->copies(w->arg);
	/* Whoever has its name may cut it, too. */
	if (is_seen(from, len) ||
	    (out_of == PEER_FILE && w->at[PEER_FILE] == w->named_at))
		return copy_seen(to, from, len);
	/* The head of a datagram, and the result of an atomic, are the engine's own. */
	CHECK((into < 0 && !is_received(to, len)) || out_of >= 0 || len == 8 ||
	      len == 40 || is_received(from, len));
	memcpy(to, from, len);
	return 0;
}

static int swap(__u64 *at, __u64 *old, __u64 value)
{
	CHECK_EQ(region_of(at, 8), PEER_REMOTE);
	return !__atomic_compare_exchange_n(at, old, value, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static int start(void)
{
	return 0;
}

static int may(__u64 now)
{
	return !w->refuses;
}

static void own_thread(void)
{
}

/* As the preload library has them. */
const struct uroce_copies uroce_copies = {
	.version = UROCE_COPIES_VERSION,
	.start = start,
	.may = may,
	.own_thread = own_thread,
	.copy = copy,
	.copy_away = copy,
	.swap = swap,
};

/* ---- memory ---- */

static void fill_secret(u8 *at, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		at[i] = (u8)SECRET[i % SECRET_LEN];
}

void peer_memory_make(void)
{
	static const u32 bytes[] = {100000, 65536, 20000, 100000};
	int fd = peer_file_make(SHOWN_BYTES);
	u8 *at;

	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(arena != MAP_FAILED);
	fill_secret(arena, ARENA);
	at = arena + GUARD + 24;
	for (u32 i = PEER_REMOTE; i <= PEER_SENT; i++) {
		w->at[i] = at;
		w->bytes[i] = bytes[i];
		at += bytes[i] + GUARD;
	}
	memset(w->at[PEER_REMOTE], 0, w->bytes[PEER_REMOTE]);
	memset(w->at[PEER_SENT], 5, w->bytes[PEER_SENT]);
	as_made = malloc(ARENA);
	CHECK(as_made);
	memcpy(as_made, arena, ARENA);
	at = mmap(NULL, SHOWN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK(!fstat(fd, &w->file_of));
	w->at[PEER_FILE] = w->unnamed_at = at;
	w->bytes[PEER_FILE] = SHOWN_BYTES;
}

static void check_same(const u8 *from, const u8 *to)
{
	CHECK(!memcmp(from, as_made + (from - arena), (size_t)(to - from)));
}

static void check_guards(void)
{
	const u8 *at = arena;

	for (u32 i = PEER_REMOTE; i <= PEER_SENT; i++) {
		check_same(at, w->at[i]);
		at = w->at[i] + w->bytes[i];
	}
	check_same(at, arena + ARENA);
	for (u32 i = PEER_CLOSED; i <= PEER_SENT; i++)
		check_same(w->at[i], w->at[i] + w->bytes[i]);
}

/* The file that is shown of the program's is that of its memory, and so is the descriptor that is named. */
static void check_file(void)
{
	const struct ur_emr *mr = w->mr[PEER_FILE];
	bool named = w->at[PEER_FILE] == w->named_at;
	const struct stat *is = named ? &w->named : &w->file_of;
	struct stat st;

	if (!mr->searched || mr->file.fd < 0)
		return;
	CHECK(!fstat(mr->file.fd, &st));
	CHECK(st.st_dev == is->st_dev && st.st_ino == is->st_ino);
	CHECK(mr->file.dev == is->st_dev && mr->file.ino == is->st_ino);
	CHECK(!mr->file.offset);
	CHECK_EQ(mr->file.bytes, SHOWN_BYTES);
}

int peer_memory_check(struct ur_engine *e, void *arg)
{
	const struct ur_udp_pair *pair = w->wire->pairs[PEER_SLOT];
	u8 *at = w->from + UR_PEER_HEAD_BYTES;
	u32 stream = ((const struct ur_peer_head *)w->from)->published,
	    bulk = pair ? pair->out.reserved : UR_PEER_BULK_BYTES;

	check_guards();
	check_file();
	/* Not even half of it, at any place. */
	stream = ur_min_u32(stream + 65536, UR_PEER_STREAM_BYTES);
	CHECK(!memmem(at, stream, SECRET, SECRET_LEN));
	at += UR_PEER_STREAM_BYTES;
	CHECK(!memmem(at, ur_min_u32(bulk, UR_PEER_BULK_BYTES), SECRET,
		      SECRET_LEN));
	return 0;
}
