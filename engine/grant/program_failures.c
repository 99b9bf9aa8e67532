// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Failures of queue pairs in programs, in shared memory: both sides. */
#include "engine/core/engine_impl.h"
#include "engine/grant/program_failures.h"
#include "engine/grant/program_page.h"
#include "transport/psn.h"
#include "util/os/clock.h"

/* Most tries to read a failure that its program keeps rewriting. */
#define TRIES 4

#define F_BY_NAK   (1u << 0)
#define F_ANSWERED (1u << 1)
#define F_STRAY	   (1u << 2)

static u64 two(u32 low, u32 high)
{
	return low | (u64)high << 32;
}

static u64 eight(const u8 b[8])
{
	u64 v = 0;

	for (u32 i = 0; i < 8; i++)
		v |= (u64)b[i] << (8 * i);
	return v;
}

static u8 byte_of(u64 v, u32 i)
{
	return (u8)(v >> (8 * i));
}

static void write_words(u64 *w, const struct ur_failure *f)
{
	const struct ur_denied *d = &f->denied;
	const u8 first[8] = {f->status,
			     f->opcode,
			     f->reason,
			     (u8)((f->by_nak ? F_BY_NAK : 0) |
				  (f->answered ? F_ANSWERED : 0) |
				  (f->stray ? F_STRAY : 0)),
			     f->stray_syndrome,
			     d->why,
			     d->meant};
	const u8 second[8] = {f->retries, f->rnr_retries, f->probes,
			      f->timeout, f->retry_cnt,	  f->rnr_retry};

	w[0] = f->at;
	w[1] = eight(first);
	w[2] = eight(second);
	w[3] = two(f->psn, f->rkey);
	w[4] = f->wr_id;
	w[5] = f->addr;
	w[6] = f->length;
	w[7] = two(f->room, f->got);
	w[8] = two(d->key, f->stray_psn);
	w[9] = two(d->need, d->have);
	w[10] = d->addr;
	w[11] = d->length;
	w[12] = d->first;
	w[13] = d->size;
	w[14] = f->waited_ns;
	w[15] = (u32)f->send_error;
}

/* Accepts any words: they are only numbers. Limits them to their fields' ranges. */
static void read_words(const u64 *w, struct ur_failure *f)
{
	u8 flags = byte_of(w[1], 3);

	*f = (struct ur_failure){
		.at = ur_min_u64(w[0], ur_clock_ns(CLOCK_MONOTONIC)),
		.status = byte_of(w[1], 0),
		.opcode = byte_of(w[1], 1),
		.reason = byte_of(w[1], 2),
		.psn = (u32)w[3] & UR_PSN_MASK,
		.wr_id = w[4],
		.rkey = (u32)(w[3] >> 32),
		.addr = w[5],
		.length = w[6],
		.room = (u32)w[7],
		.got = (u32)(w[7] >> 32),
		.denied = {.why = byte_of(w[1], 5),
			   .meant = byte_of(w[1], 6),
			   .key = (u32)w[8],
			   .need = (u32)w[9],
			   .have = (u32)(w[9] >> 32),
			   .addr = w[10],
			   .length = w[11],
			   .first = w[12],
			   .size = w[13]},
		.retries = byte_of(w[2], 0),
		.rnr_retries = byte_of(w[2], 1),
		.probes = byte_of(w[2], 2),
		.timeout = byte_of(w[2], 3) & 31,
		.retry_cnt = byte_of(w[2], 4) & 7,
		.rnr_retry = byte_of(w[2], 5) & 7,
		.by_nak = flags & F_BY_NAK,
		.answered = flags & F_ANSWERED,
		.stray = flags & F_STRAY,
		.stray_syndrome = byte_of(w[1], 4),
		.stray_psn = (u32)(w[8] >> 32) & UR_PSN_MASK,
		.waited_ns = w[14],
		.send_error =
			(int)(w[15] & 0xfff), /* errno: MAX_ERRNO of Linux */
	};
}

/* ---- the device ---- */

static bool read_shown(const struct ur_shown_failure *shown, u32 qpn,
		       u64 *words)
{
	for (u32 i = 0; i < TRIES; i++) {
		u64 generation =
			__atomic_load_n(&shown->generation, __ATOMIC_ACQUIRE);

		if (generation & 1 || ur_shown_value(&shown->qpn) != qpn)
			return false;
		for (u32 w = 0; w < UR_SHOWN_FAILURE; w++)
			words[w] = ur_shown_value(&shown->word[w]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (ur_shown_value(&shown->generation) == generation)
			return true;
	}
	return false;
}

bool ur_engine_shown_failure(const struct ur_engine *engine, u32 qpn,
			     bool peers, struct ur_failure *failure)
{
	const struct ur_counter_page *page =
		ur_counters_page(engine, ur_slot_of(qpn));
	u64 words[UR_SHOWN_FAILURE];

	for (u32 i = 0; page && i < UR_SHOWN_PLACES; i++) {
		if (!read_shown(&page->failure[ur_shown_place(qpn, i)][peers],
				qpn, words))
			continue;
		read_words(words, failure);
		failure->peers = peers;
		return failure->at != 0;
	}
	return false;
}

/* ---- the program ---- */

static void store_shown(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* If the program is killed in between, the generation stays odd and nothing is shown. */
static void put_shown(struct ur_shown_failure *shown, u32 qpn, const u64 *words)
{
	u64 generation = shown->generation | 1;

	store_shown(&shown->generation, generation);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	store_shown(&shown->qpn, qpn);
	for (u32 w = 0; w < UR_SHOWN_FAILURE; w++)
		store_shown(&shown->word[w], words[w]);
	__atomic_store_n(&shown->generation, generation + 1, __ATOMIC_RELEASE);
}

void ur_failures_show(struct ur_counter_page *page, u32 qpn,
		      const struct ur_failure *failure)
{
	u64 words[UR_SHOWN_FAILURE];

	write_words(words, failure);
	for (u32 i = 0; i < UR_SHOWN_PLACES; i++) {
		u32 at = ur_shown_place(qpn, i);

		if (page->qp[at].qpn != qpn)
			continue;
		put_shown(&page->failure[at][failure->peers], qpn, words);
		return;
	}
}

void ur_failures_forget(struct ur_counter_page *page, u32 qpn)
{
	static const u64 none[UR_SHOWN_FAILURE];

	for (u32 i = 0; i < UR_SHOWN_PLACES; i++)
		for (u32 peers = 0; peers < 2; peers++) {
			struct ur_shown_failure *shown =
				&page->failure[ur_shown_place(qpn, i)][peers];

			if (shown->qpn == qpn)
				put_shown(shown, 0, none);
		}
}
