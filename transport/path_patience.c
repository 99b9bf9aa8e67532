// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides how long a queue pair of a path waits before it probes.
 *
 * Where a network has a queue for each flow, as FQ-CoDel and cake have, each queue pair has round
 * trips of its own: one packet leaves at once, and the next waits for a packet of each other flow.
 * A sender that takes this for a loss repeats what is in the queue, waits longer for it, and
 * measures no trip any more (Karn). So nobody probes before the longest trip of all members is
 * over; duplicates show that packets are under way; and where everything stands still, one queue
 * pair probes for all.
 *
 * This holds only while the peer has requested no repetition for CALM_PKTS: random losses make many
 * trips long, by waiting for repetitions, and longer waits for probes would only be slower.
 */
#include "transport/path_impl.h"
#include "util/assert.h"

#define CALM_PKTS     512
#define LONGEST_PART  256 /* the part forgotten with each sample */
#define LONGEST_SPARE 4	  /* a quarter more */

bool ur_path_is_calm(const struct ur_path *p)
{
	return p->sent - p->asked_at >= CALM_PKTS * UR_PATH_PACKET;
}

bool ur_path_calm(const struct ur_qp *qp)
{
	ur_assert_hot(qp->share.held && qp->share.path);
	return ur_path_is_calm(qp->share.path);
}

void ur_path_certain(struct ur_path *p, u32 trip)
{
	if (p->members_count == 1)
		return;
	p->longest -= p->longest / LONGEST_PART;
	if (ur_path_is_calm(p) && trip > p->longest)
		p->longest = trip;
}

/* Uses the shortest trip of the last rounds: some trips of repeated packets
 * contain a wait for a timer, which must not depend on them. */
u32 ur_path_patience(const struct ur_path *p)
{
	u32 trip = p->window.round_last, least;

	for (u32 i = 0; i < UR_PATH_PAST; i++)
		trip = ur_min_u32(trip, p->window.past[i]);
	least = p->longest + p->longest / LONGEST_SPARE;
	if (least < 2 * trip)
		least = 2 * trip;
	return least > UR_PROBE_MIN_NS ? least : UR_PROBE_MIN_NS;
}

bool ur_path_is_probed(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	ur_time now = p->port->now;

	ur_assert_hot(qp->share.held && p->probed_at <= now);
	if (ur_path_is_calm(p) && p->heard_at < p->probed_at &&
	    now - p->probed_at < ur_path_patience(p))
		return true;
	p->probed_at = now;
	return false;
}
