// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of a path.
 *
 * It begins small and doubles in each round trip until packets wait. Then it
 * grows by a packet in each, one in a millisecond at most, and by more where
 * nothing waits. Two things cut it by CUT, once for what was in flight:
 *
 * A loss in a round trip that is about as long as where packets were lost
 * before: a queue ended. A packet that was lost while packets waited less than
 * then was lost elsewhere.
 *
 * Many losses. A link that loses for no reason loses many at any window, so
 * this cut is a trial: if about as many are lost however small the window is,
 * it gets back its size, and that many count no more for long. No link loses
 * HEAVY by chance. So the window is FLOOR or more, except where so many are
 * lost while packets wait.
 *
 * Marks, which a switch makes where a queue grows, cut it by half of their share
 * of the packets, as DCTCP (RFC 8257) does, once in a round trip, and to as
 * little as it takes: nobody marks by chance. Where packets wait MARKED_NS they
 * are marked by a queue of CoDel's kind, one in a long time in place of a loss, and
 * a mark cuts as that does.
 *
 * A peer says that there are marks by one CNP in some time, which may be many round trips. Where nothing waits, as before a meter,
 * the window grows per sign, and by a part of its usual step: a step in each round trip would be more than a CNP cuts.
 * A path without marks has it all again soon, since growth doubles.
 *
 * A window of less than one packet is a rate: one packet in several round
 * trips.
 */
#include "transport/path_window.h"

#define ONE		 UR_PATH_ONE
#define FIRST		 (16 * ONE)
#define LEAST		 (ONE / 64)
#define FLOOR		 (8 * ONE)
#define MOST		 (65536 * ONE)
#define RESUME_MOST	 (512 * ONE)
#define CUT(size)	 ((size) / 10 * 7) /* as CUBIC: 0.7 */
#define MIN_MEMORY_NS	 5000000000ull /* two of these: a shortest round trip */
#define LONG_NS		 120000u  /* shorter trips: hosts let packets wait */
#define GROWTH_NS	 1000000u /* a packet more, at most, where they wait */
#define LOSS_PERIOD_PKTS 2048
#define LOSS_MANY	 32  /* in such a period, */
#define SHARE_LEAST	 16  /* and of all that was sent */
#define CLEAN_PKTS	 256 /* without a loss: those before are of the past */
#define TRIAL_LOSSES	 16  /* so long that these are expected */
#define TRIAL_PART	 4   /* of the window, where it ends */
#define HEAVY		 256
#define MARKLESS	 32 /* round trips */
#define MARKLESS_MAX	 10
#define GENTLE		 16 /* where nothing waits, as before a meter */
#define GROW_FROM	 (8 * ONE)
#define GROW_TO		 (20 * ONE)
#define GROW_LEAST	 103u /* 1/256 packets */
#define GROW_MOST	 345u
#define ALPHA_ONE	 65536u
#define ALPHA_PART	 16 /* of a round trip in the share, RFC 8257's g */
#define MARKED_NS	 4000000u /* just less than CoDel's target, 5 ms */

/* The shortest trip of a round; others may have waited in a host. */
static u32 latest(const struct ur_path_window *w)
{
	u32 last = w->round_last;

	return w->round_min && (!last || w->round_min < last) ? w->round_min
							      : last;
}

/* Returns the longest of the recent round trips, for a loss that only a timer
 * shows: one of them is that of when the packet was sent. */
static u32 longest_of_late(const struct ur_path_window *w)
{
	u32 most = latest(w);

	for (u32 i = 0; i < UR_PATH_PAST; i++)
		most = w->past[i] > most ? w->past[i] : most;
	return most;
}

static u32 root(u32 x)
{
	u32 r = 0;

	for (u32 bit = 1u << 15; bit; bit >>= 1)
		if ((u64)(r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

/*
 * Where marks show a queue, a window grows by a packet and a third in a round trip, a
 * little more than that of DCTCP, since a CNP may stand for several marks; a small one
 * by less than half a packet, so that very many together add no long queue, and a large
 * one by an eighth of its root. It grows twice as fast after each MARKLESS round trips
 * without a mark.
 */
static u32 more_by_marks(u32 size)
{
	u32 more = GROW_MOST;

	if (size <= GROW_FROM)
		more = GROW_LEAST;
	else if (size < GROW_TO)
		more = GROW_LEAST + (GROW_MOST - GROW_LEAST) *
					    (size - GROW_FROM) /
					    (GROW_TO - GROW_FROM);
	return more;
}

/* Is a round trip shorter than the time between two signs? Where packets wait the next trips are longer, and marks go by
 * what waits. */
static bool few_signs(const struct ur_path_window *w)
{
	return w->srtt < w->sign_ns && !ur_path_window_long(w, latest(w));
}

/* Returns the part of so much that a round trip is of the time between two signs. */
static u32 part_of_sign(const struct ur_path_window *w, u32 whole)
{
	return few_signs(w) ? (u32)((u64)whole * w->srtt / w->sign_ns) : whole;
}

static u64 grow_by_marks(const struct ur_path_window *w, u32 packets)
{
	u32 quiet = part_of_sign(w, w->rounds - w->cut_round) / MARKLESS;
	/* For each that is answered, 1/65536 of a packet. */
	u32 one = ONE * ONE * ONE / w->size;
	u32 part = w->size > ONE ? root((u32)((1ull << 40) / w->size))
				 : root(one) * ONE;
	u32 more =
		w->size < ONE ? part / 4 : one * more_by_marks(w->size) / ONE;

	if (more < part / 8)
		more = part / 8;
	more <<= ur_min_u32(quiet, MARKLESS_MAX);
	return (u64)packets * part_of_sign(w, more) /
	       (few_signs(w) ? GENTLE : 1);
}

/* In a round trip: the double at first; then a packet, or less of a small window
 * or a short trip; more where nothing waits. Nothing while a trial runs. */
static void grow(struct ur_path_window *w, u32 packets)
{
	u64 size = w->size, more;

	packets = ur_min_u32(packets, 256);
	if (w->blamed || w->alone.state != UR_ALONE_NOT)
		return;
	if (size < w->slow_until)
		more = (u64)packets * ONE * ONE;
	else if (size < w->alone.regain)
		more = (u64)packets * ONE * ONE / 2;
	else if (w->by_marks)
		more = grow_by_marks(w, packets);
	else if (!ur_path_window_long(w, latest(w)))
		more = (u64)packets * ONE * ONE /
		       (w->clean >= CLEAN_PKTS ? 8 : 32);
	else if (size >= 16 * ONE)
		more = (u64)packets * ONE * ONE * ONE / size *
		       ur_min_u32(w->srtt, GROWTH_NS) / GROWTH_NS;
	else
		more = (u64)packets * ONE * ONE / 16;
	if (size < ONE && more > size * ONE / (w->by_marks ? 1 : 16))
		more = size * ONE / (w->by_marks ? 1 : 16);
	more += w->grown;
	w->grown = more % ONE;
	w->size = (u32)ur_min_u64(size + more / ONE, MOST);
}

bool ur_path_window_waits(const struct ur_path_window *w)
{
	return ur_path_window_long(w, latest(w));
}

/* RFC 8257, 3.3: the share of a round trip, smoothed. */
static void end_round(struct ur_path_window *w)
{
	u32 marked = ur_min_u32(w->marked, w->heard);

	if (!w->heard)
		return;
	w->alpha -= w->alpha / ALPHA_PART;
	w->alpha += (u32)((u64)marked * ALPHA_ONE / w->heard) / ALPHA_PART;
	w->heard = w->marked = 0;
}

void ur_path_window_trip(struct ur_path_window *w, ur_time now, u32 rtt,
			 bool again)
{
	bool waits;

	/* Better than nothing, and worse than one that is certain. */
	if (again && now - w->sampled_at < 4ull * w->srtt)
		return;
	if (!again)
		w->sampled_at = now;
	if (!w->rtt_min[0] || rtt < w->rtt_min[0])
		w->rtt_min[0] = rtt;
	if (now - w->min_at >= MIN_MEMORY_NS) {
		w->rtt_min[1] = w->rtt_min[0];
		w->rtt_min[0] = rtt;
		w->min_at = now;
	}
	w->srtt = w->srtt ? w->srtt - w->srtt / 8 + rtt / 8 : rtt;
	if (!w->round_min || rtt < w->round_min)
		w->round_min = rtt;
	if (now - w->round_at < w->srtt)
		return;
	w->past[w->rounds % UR_PATH_PAST] = w->round_last;
	w->round_last = w->round_min;
	w->round_min = 0;
	w->round_at = now;
	w->rounds++;
	end_round(w);
	waits = ur_path_window_waits(w);
	ur_path_alone_round(w, now, waits);
	if (waits)
		w->slow_until = ur_min_u32(w->slow_until, w->size);
	else if (!w->cuts && !w->losses)
		/* Nothing was lost or marked yet: what waited in one round trip may
		 * have waited for a processor. */
		w->slow_until = MOST;
}

/* The share of what was lost since losses are counted. */
static u32 share(const struct ur_path_window *w)
{
	return w->losses * 1024 / (w->losses + w->answered + 1);
}

static void cut_to(struct ur_path_window *w, ur_time now, u32 size)
{
	w->size = size < LEAST ? LEAST : size;
	w->slow_until = w->size;
	w->cut_at = now;
	w->cut_round = w->rounds;
	w->cuts++;
}

static void cut(struct ur_path_window *w, ur_time now, bool heavy)
{
	u32 size = CUT(w->size);

	if (size < FLOOR && !(heavy && ur_path_window_long(w, latest(w))))
		size = ur_min_u32(w->size, FLOOR);
	cut_to(w, now, size);
}

/* So many were lost in a trial. It goes on, with a smaller window, until there
 * are fewer or the window cannot be what it is. Returns whether it goes on. */
static bool judge(struct ur_path_window *w, u32 part)
{
	if (part <= w->blamed / 2) {
		w->blamed = 0;
		return false;
	}
	if (w->size > 2 * FLOOR && w->size > w->before / TRIAL_PART)
		return true;
	w->usual = part > w->blamed ? part : w->blamed;
	w->blamed = 0;
	if (w->size < w->before)
		w->size = w->before;
	return false;
}

void ur_path_window_answered(struct ur_path_window *w, ur_time now, u32 packets,
			     bool wanted)
{
	w->answered += packets;
	w->heard += packets;
	w->clean += packets;
	w->alone.packets += packets;
	w->alone.unwanted += wanted ? 0 : packets;
	if (w->answered >=
	    (w->blamed ? TRIAL_LOSSES * 1024 / w->blamed : LOSS_PERIOD_PKTS)) {
		u32 part = share(w);

		w->answered = w->losses = 0;
		if (!w->blamed)
			w->usual = ur_min_u32(w->usual - (w->usual + 63) / 64,
					      part);
		else if (judge(w, part))
			cut_to(w, now, w->size / 2);
	}
	if (wanted)
		grow(w, packets);
}

bool ur_path_window_full(const struct ur_path_window *w, u32 trip)
{
	u32 least = ur_path_window_shortest(w);

	return w->full <= least || trip >= least + (w->full - least) / 4 * 3;
}

/* There were many losses, of that share. Returns whether it was the window. */
static bool blame(struct ur_path_window *w, u32 part, u32 trip)
{
	w->losses = w->answered = 0;
	if (w->blamed && part < HEAVY)
		return judge(w, part);
	if (part <= w->usual + w->usual / 2)
		return false;
	w->blamed = part < HEAVY ? part : 0;
	w->before = w->size;
	if (ur_path_window_long(w, trip))
		w->full = trip;
	return true;
}

/* One was lost. Returns whether a queue ended. */
static bool ended(struct ur_path_window *w, u32 trip)
{
	if (trip <= LONG_NS || !ur_path_window_long(w, trip) ||
	    !ur_path_window_full(w, trip))
		return false;
	if (trip > w->full)
		w->full = trip;
	return true;
}

bool ur_path_window_lost(struct ur_path_window *w, ur_time now, u32 packets,
			 bool late)
{
	u32 trip = late ? longest_of_late(w) : latest(w), part;
	u32 before = w->size, clean = w->clean;
	bool many;

	if (w->cut_at && now - w->cut_at < w->srtt + w->srtt / 4)
		return false;
	/* Losses of long ago would make the present ones look fewer than they
	 * are. */
	if (w->clean >= CLEAN_PKTS && !w->blamed)
		w->losses = w->answered = 0;
	w->clean = 0;
	w->losses += packets;
	part = share(w);
	many = w->losses >= LOSS_MANY && part >= SHARE_LEAST;
	if (many ? !blame(w, part, trip) : !ended(w, trip))
		return false;
	cut(w, now, many && part >= HEAVY);
	w->by_marks = false;
	/* Where losses are frequent, the last one may be of chance. */
	if (many || clean < CLEAN_PKTS / 2)
		ur_path_alone_over(w, now);
	else
		ur_path_alone_ended(w, now, before);
	return true;
}

bool ur_path_window_marked(struct ur_path_window *w, ur_time now, u32 packets)
{
	u32 size;

	w->marked += packets;
	if (w->cut_at && now - w->cut_at < w->srtt + w->srtt / 4)
		return false;
	size = w->size - (u32)((u64)w->size * w->alpha / (2 * ALPHA_ONE));
	if (latest(w) > ur_path_window_shortest(w) + MARKED_NS)
		size = ur_min_u32(size, CUT(w->size));
	cut_to(w, now, size);
	/* A trial would keep it from growing again for as many packets as a small
	 * window sends in minutes. */
	w->blamed = w->losses = w->answered = 0;
	w->by_marks = true;
	ur_path_alone_over(w, now);
	return true;
}

void ur_path_window_resume(struct ur_path_window *w, ur_time now, u32 out,
			   u32 trip)
{
	u32 size;

	if (trip > w->full)
		w->full = trip;
	size = (u32)ur_min_u64((u64)CUT(out) * ONE, RESUME_MOST);
	cut_to(w, now, size < FIRST ? FIRST : size);
	w->losses = w->answered = w->blamed = 0;
	ur_path_alone_over(w, now);
}

void ur_path_window_init(struct ur_path_window *w, ur_time now)
{
	*w = (struct ur_path_window){
		.size = FIRST,
		.slow_until = MOST,
		.alpha = ALPHA_ONE,
		.sign_ns = 1,
		.min_at = now,
	};
}
