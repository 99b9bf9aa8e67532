// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counts the probes of a series and makes the replies. No field of a datagram is trusted. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "cli/path/tally.h"

void ur_path_tally_begin(struct ur_path_tally *tally, uint64_t token,
			 uint64_t ns)
{
	*tally = (struct ur_path_tally){
		.token = token, .begun_ns = ns, .last_ns = ns};
}

bool ur_path_tally_over(const struct ur_path_tally *tally, uint64_t ns)
{
	return tally->taken >= UR_PATH_SESSION_DATAGRAMS ||
	       ns - tally->begun_ns >= UR_PATH_SESSION_NS ||
	       ns - tally->last_ns >= UR_PATH_SESSION_IDLE_NS;
}

/* A later series replaces the current one. Returns whether series is the current one. */
static bool enter(struct ur_path_tally *tally, uint16_t series)
{
	if (series > tally->series) {
		tally->series = series;
		tally->first_ns = tally->latest_ns = 0;
		tally->arrived[0] = tally->arrived[1] = tally->marked = 0;
		memset(tally->seen, 0, sizeof(tally->seen));
	}
	return series == tally->series;
}

static void count(struct ur_path_tally *tally, uint16_t index,
		  const struct ur_path_arrival *a)
{
	uint8_t bit = (uint8_t)(1 << index % 8);
	uint8_t sent = a->message.tclass & UR_ECN_BITS;

	if (tally->seen[index / 8] & bit)
		return;
	tally->seen[index / 8] |= bit;
	if (!tally->first_ns)
		tally->first_ns = a->ns;
	tally->latest_ns = a->ns;
	tally->arrived[sent != 0]++;
	tally->marked += sent != UR_ECN_IS_CE &&
			 (a->tclass & UR_ECN_BITS) == UR_ECN_IS_CE;
}

static void report(const struct ur_path_tally *tally,
		   struct ur_path_message *ret)
{
	ret->kind = UR_PATH_REPORT;
	ret->spread_ns = htobe64(tally->latest_ns - tally->first_ns);
	ret->arrived[0] = htonl(tally->arrived[0]);
	ret->arrived[1] = htonl(tally->arrived[1]);
	ret->marked = htonl(tally->marked);
}

enum ur_path_reply ur_path_tally_take(struct ur_path_tally *tally,
				      const struct ur_path_arrival *a,
				      struct ur_path_message *ret)
{
	const struct ur_path_message *m = &a->message;
	uint16_t series = ntohs(m->series), index = ntohs(m->index);

	if (be64toh(m->token) != tally->token ||
	    m->version != UR_PATH_VERSION || ntohs(m->bytes) != a->bytes ||
	    !series || index >= UR_PATH_SERIES_MAX)
		return UR_PATH_REFUSE;
	tally->last_ns = a->ns;
	tally->taken++;
	if (m->kind == UR_PATH_BYE)
		return UR_PATH_FINISH;
	if (m->kind != UR_PATH_PROBE && m->kind != UR_PATH_PING &&
	    m->kind != UR_PATH_ASK)
		return UR_PATH_REFUSE;
	if (!enter(tally, series))
		return UR_PATH_REFUSE;
	if (m->kind != UR_PATH_ASK)
		count(tally, index, a);
	if (m->kind == UR_PATH_PROBE)
		return UR_PATH_COUNT;
	memset(ret, 0, sizeof(*ret));
	ret->token = m->token;
	ret->version = UR_PATH_VERSION;
	ret->kind = UR_PATH_ECHO;
	ret->tclass = m->tclass;
	ret->seen_class = a->tclass;
	ret->seen_hops = a->hops;
	ret->series = m->series;
	ret->index = m->index;
	ret->bytes = m->bytes;
	ret->sent_ns = m->sent_ns;
	if (m->kind == UR_PATH_ASK)
		report(tally, ret);
	return UR_PATH_ANSWER;
}
