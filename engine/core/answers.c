// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Acknowledgements go before requests. In the buffer they are behind them: requests of several
 * queue pairs are back to back, and so are they. */
#include "engine/core/answers.h"

#include <string.h>
#include "transport/wire_format.h"

/* For an answer: so many bytes are moved much sooner than a datagram is sent. */
#define MOVED_BYTES  4096u
#define MOST_ANSWERS 64u
/* Few packets that are longer, on the average, are one datagram anyway. */
#define SHORT_BYTES  256u
#define ANSWER_BYTES (UR_BTH_BYTES + UR_AETH_BYTES)

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

/* Returns how many answers there are to be moved, 0 where all are first. Among others than these
 * and requests the order is the port's: an answer of the same queue pair may be one. */
static u32 count_movable(const struct ur_tx *tx)
{
	u32 n = 0;
	bool first = true;

	if (tx->used > tx->n_desc * SHORT_BYTES)
		return 0;
	for (u32 i = 0; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		bool answer = is_answer(tx, i);

		if (d->apart || (answer && d->len != ANSWER_BYTES) ||
		    (!answer && opcode_of(tx, i) > UR_OP_RC_READ_REQ))
			return 0;
		first &= !answer || n == i;
		n += answer;
	}
	return !first && n <= MOST_ANSWERS && tx->used <= n * MOVED_BYTES ? n
									  : 0;
}

/* Its bytes are moved to at. Returns what is behind them. */
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
	/* From the end, since requests move up. */
	for (u32 from = tx->n_desc, to = from; from--;)
		if (tx->desc[from].len)
			tx->desc[--to] = tx->desc[from];
	for (u32 i = 0; i < n; i++) {
		tx->desc[i] = answers[i].desc;
		at = move(tx, &tx->desc[i], at, answers[i].bytes);
	}
}
