// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log's line about refused packets, made from the differences of the port's
 * counters.
 */
#include "engine/record/refused.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/core/engine_impl.h"
#include "engine/ground/log.h"
#include "engine/ground/loop.h"

#define LINE_NS	   1000000000ull
#define LINE_BYTES 320

static const struct {
	enum ur_counter id;
	const char *name;
	bool routine;
} kinds[] = {
#define K(name, routine)                      \
	{                                     \
		UR_CNT_##name, #name, routine \
	}
	K(rx_icrc_encapsulated, false),
	K(bad_opcode, false),
	K(bad_length, false),
	K(bad_pkey, false),
	K(bad_qkey, false),
	K(bad_gid, false),
	K(resp_remote_access_errors, false),
	K(resp_local_length_error, false),
	K(bad_qpn, true),
	K(bad_state, true),
#undef K
};

_Static_assert(UR_ARRAY_SIZE(kinds) == UR_REFUSED_KINDS, "kinds");

struct line {
	bool routine;
	char text[LINE_BYTES];
};

static void say(void *arg)
{
	struct line *l = arg;

	if (l->routine)
		ur_debug("%s", l->text);
	else
		ur_log("%s", l->text);
	free(l);
}

static void compose(struct ur_engine *e, const u64 *cnt)
{
	struct line *l = calloc(1, sizeof(*l));
	int n;

	if (!l)
		return;
	l->routine = true;
	n = snprintf(l->text, LINE_BYTES, "%s: packets refused:", e->netdev);
	for (u32 i = 0; i < UR_REFUSED_KINDS; i++) {
		u64 by = cnt[kinds[i].id] - e->refused.seen[i];

		e->refused.seen[i] = cnt[kinds[i].id];
		if (!by || n >= LINE_BYTES)
			continue;
		l->routine &= kinds[i].routine;
		n += snprintf(l->text + n, (size_t)(LINE_BYTES - n), " %s %llu",
			      kinds[i].name, (unsigned long long)by);
	}
	if (e->config.inproc || ur_loop_post(e->config.loop, say, l))
		free(l);
}

void ur_refused_log(struct ur_engine *e)
{
	const u64 *cnt = e->counters;
	u64 sum = 0;

	for (u32 i = 0; i < UR_REFUSED_KINDS; i++)
		sum += cnt[kinds[i].id];
	if (sum == e->refused.said || e->now < e->refused.next)
		return;
	e->refused.said = sum;
	e->refused.next = e->now + LINE_NS;
	compose(e, cnt);
}
