// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Acknowledgements go behind requests. The packets stay back to back. */
#include "engine/answers.h"

#include <string.h>
#include "transport/wire_format.h"

/* For an answer: so many bytes are moved much sooner than a datagram is sent. */
#define MOVED_BYTES  4096u
#define MOST_ANSWERS 64u
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

/* Returns how many answers there are to be moved. Among others than these and requests the order
 * is the port's: an answer of the same queue pair may be one. */
static u32 count_movable(const struct ur_tx *tx)
{
	u32 n = 0;

	for (u32 i = 0; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		bool answer = is_answer(tx, i);

		if (d->apart || (answer && d->len != ANSWER_BYTES) ||
		    (!answer && opcode_of(tx, i) > UR_OP_RC_READ_REQ))
			return 0;
		n += answer;
	}
	return n < tx->n_desc && n <= MOST_ANSWERS &&
			       tx->used <= n * MOVED_BYTES
		       ? n
		       : 0;
}

static u32 place(struct ur_tx *tx, u32 i, struct ur_tx_desc d, u32 at,
		 const u8 *bytes)
{
	memmove(tx->buf + at, bytes, d.len);
	d.off = at;
	tx->desc[i] = d;
	return at + d.len + UR_ICRC_BYTES;
}

void ur_answers_last(struct ur_tx *tx)
{
	struct aside answers[MOST_ANSWERS];
	u32 n = count_movable(tx), taken = 0, put = 0, at;

	if (!n)
		return;
	at = tx->desc[0].off;
	for (u32 i = 0; i < tx->n_desc; i++) {
		struct ur_tx_desc d = tx->desc[i];

		if (is_answer(tx, i)) {
			answers[taken].desc = d;
			memcpy(answers[taken++].bytes, tx->buf + d.off, d.len);
		} else {
			at = place(tx, put++, d, at, tx->buf + d.off);
		}
	}
	for (u32 i = 0; i < n; i++)
		at = place(tx, put++, answers[i].desc, at, answers[i].bytes);
}
