/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counts that a listener keeps for its asker. No I/O. */
#ifndef UR_CLI_PATH_TALLY_H
#define UR_CLI_PATH_TALLY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/path/message.h"

/* Limits of a session: a run has about 3500 datagrams and takes at most ten seconds. */
#define UR_PATH_SESSION_DATAGRAMS 8192
#define UR_PATH_SESSION_NS	  15000000000ull
#define UR_PATH_SESSION_IDLE_NS	  3000000000ull

struct ur_path_tally {
	uint64_t token;
	uint64_t begun_ns,
		last_ns; /* start of the session; last datagram of the asker */
	uint32_t taken;
	/* Counts of the current series. */
	uint16_t series;
	uint64_t first_ns, latest_ns;
	uint32_t arrived[2], marked;
	uint8_t seen[UR_PATH_SERIES_MAX / 8];
};

/* A received datagram. */
struct ur_path_arrival {
	struct ur_path_message message; /* a copy, not checked */
	size_t bytes; /* of the datagram; at least the message's */
	uint8_t tclass, hops;
	uint64_t ns;
};

/* Begins a session at @ns. */
void ur_path_tally_begin(struct ur_path_tally *tally, uint64_t token,
			 uint64_t ns);

/* Returns whether the session has ended by time at @ns, or by number. */
bool ur_path_tally_over(const struct ur_path_tally *tally, uint64_t ns);

enum ur_path_reply {
	UR_PATH_REFUSE, /* not from the asker, or invalid: no answer */
	UR_PATH_COUNT,	/* no answer */
	UR_PATH_ANSWER, /* with *ret, of the same size */
	UR_PATH_FINISH, /* the session ends */
};

/* Counts a datagram. Fills *ret if it is to be answered. */
enum ur_path_reply ur_path_tally_take(struct ur_path_tally *tally,
				      const struct ur_path_arrival *arrival,
				      struct ur_path_message *ret);

#endif
