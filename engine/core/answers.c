// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Puts the descriptors of acknowledgements before those of requests, or that of one behind them. In the buffer
 * their bytes are behind the requests, so that both are back to back. */
#include "engine/core/answers.h"

#include <string.h>
#include "transport/wire_format.h"

/* Most bytes to move for each acknowledgement: that takes far less time than sending a datagram. */
#define MOVED_BYTES  4096u
#define MOST_ANSWERS 64u
/* Average packet size above which few packets share a datagram anyway. */
#define SHORT_BYTES  256u
#define ANSWER_BYTES (UR_BTH_BYTES + UR_AETH_BYTES)
/* The most bytes of requests that leave before an acknowledgement. */
#define LAST_BYTES 16384u

struct aside {
	struct ur_tx_desc desc;
	u8 bytes[ANSWER_BYTES];
};

static u8 opcode_of(const struct ur_tx *tx, u32 i)
{
	return tx->buf[tx->desc[i].off];
}

static bool is_answer(const struct ur_tx *tx, u32 i)
{
	return opcode_of(tx, i) == UR_OP_RC_ACK;
}

/* Returns the number of acknowledgements to move; 0 if all are first already. If tx has other packets
 * than plain acknowledgements and requests, it keeps the port's order: they may be responses of the
 * same queue pair. */
static u32 count_movable(const struct ur_tx *tx)
{
	u32 n = 0;
	bool first = true;

	if (tx->used > tx->n_desc * SHORT_BYTES)
		return 0;
	for (u32 i = 0; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		bool answer = is_answer(tx, i);

		if (d->split || (answer && d->len != ANSWER_BYTES) ||
		    (!answer && opcode_of(tx, i) > UR_OP_RC_READ_REQ))
			return 0;
		first &= !answer || n == i;
		n += answer;
	}
	return !first && n <= MOST_ANSWERS && tx->used <= n * MOVED_BYTES ? n
									  : 0;
}

/* Moves the packet's bytes to offset at. Returns the offset behind them. */
static u32 move(struct ur_tx *tx, struct ur_tx_desc *d, u32 at, const u8 *bytes)
{
	memmove(tx->buf + at, bytes, d->len);
	d->off = at;
	return at + d->len + UR_ICRC_BYTES;
}

void ur_answers_first(struct ur_tx *tx)
{
	struct aside answers[MOST_ANSWERS];
	u32 n = count_movable(tx), taken = 0, at;

	if (!n)
		return;
	at = tx->desc[0].off;
	for (u32 i = 0; i < tx->n_desc; i++) {
		struct ur_tx_desc *d = &tx->desc[i];

		if (!is_answer(tx, i)) {
			at = move(tx, d, at, tx->buf + d->off);
			continue;
		}
		answers[taken].desc = *d;
		memcpy(answers[taken++].bytes, tx->buf + d->off, d->len);
		d->len = 0;
	}
	/* Backwards, since requests move to higher indices. */
	for (u32 from = tx->n_desc, to = from; from--;)
		if (tx->desc[from].len)
			tx->desc[--to] = tx->desc[from];
	for (u32 i = 0; i < n; i++) {
		tx->desc[i] = answers[i].desc;
		at = move(tx, &tx->desc[i], at, answers[i].bytes);
	}
}

static bool is_answered(const struct ur_tx *tx)
{
	if (tx->n_desc < 2 || tx->used > LAST_BYTES || !is_answer(tx, 0))
		return false;
	for (u32 i = 1; i < tx->n_desc; i++)
		if (opcode_of(tx, i) > UR_OP_RC_READ_REQ || tx->desc[i].split ||
		    tx->desc[i].av != tx->desc[0].av)
			return false;
	return true;
}

/* Returns whether a shorter packet would be in the datagram of the last request: segments have the length
 * of the first one, and a shorter one is the last. */
static bool has_room(const struct ur_tx *tx, u32 shorter)
{
	const struct ur_tx_desc *first = NULL;

	for (u32 i = 1; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];

		if (first && d->len < first->len)
			first = NULL;
		else if (!first || d->len > first->len)
			first = d;
	}
	return first && first->len >= shorter;
}

bool ur_answers_last(struct ur_tx *tx)
{
	struct ur_tx_desc *d = tx->desc, answer;
	u32 n = tx->n_desc - 1, bytes;

	if (!is_answered(tx) || !has_room(tx, d[0].len))
		return false;
	answer = d[0];
	bytes = answer.len + UR_ICRC_BYTES;
	if (tx->cap - tx->used < bytes)
		return false;
	memcpy(tx->buf + tx->used, tx->buf + answer.off, answer.len);
	answer.off = tx->used;
	tx->used += bytes;
	memmove(d, d + 1, n * sizeof(*d));
	d[n] = answer;
	return true;
}
