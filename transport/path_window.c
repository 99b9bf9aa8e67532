// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of a path.
 *
 * It begins small and doubles in each round trip until packets wait. Then it grows by a packet in
 * each, at most one in a millisecond, and by more where nothing waits. Two things cut it by CUT,
 * once for what was in flight:
 *
 * A loss in a round trip about as long as where packets were lost before: a queue overflowed. A
 * packet that was lost while packets waited less was lost elsewhere.
 *
 * Many losses. A link with random losses has many at any window, so this cut is a trial: if about
 * as many are lost however small the window is, the window gets its size back, and that share is
 * ignored for long. No link loses HEAVY by chance. So the window is at least FLOOR, except where so
 * many are lost while packets wait.
 *
 * Marks, which a switch makes where a queue grows, cut it by half of their share of the packets, as
 * DCTCP (RFC 8257) does, once in a round trip, and without that lower limit: no link marks by
 * chance. Where packets wait MARKED_NS, a queue of CoDel's kind marks one in a long time in place
 * of a loss, and a mark cuts as a loss does.
 *
 * A peer reports marks by one CNP in some time, which may be many round trips. Where nothing waits,
 * as before a meter, the window grows per CNP, and by a part of its usual step: a step in each
 * round trip would exceed what a CNP cuts. A path without marks soon regains its window, since
 * growth doubles.
 *
 * A window below one packet is a rate: one packet in several round trips.
 */
#include "transport/path_window.h"

#define ONE	    UR_PATH_ONE
#define FIRST	    (16 * ONE)
#define LEAST	    (ONE / 64)
#define FLOOR	    (8 * ONE)
#define MOST	    (65536 * ONE)
#define RESUME_MOST (512 * ONE)
#define CUT(size)   ((size) / 10 * 7) /* 0.7, as CUBIC */
/* length of a period of rtt_min */
#define MIN_MEMORY_NS 5000000000ull
#define LONG_NS	      120000u /* hosts alone may cause shorter trips */
/* time for one packet more while packets wait */
#define GROWTH_NS	 1000000u
#define LOSS_PERIOD_PKTS 2048
#define LOSS_MANY	 32  /* many losses in such a period */
#define SHARE_LEAST	 16  /* and their least share of all packets, 1/1024 */
#define CLEAN_PKTS	 256 /* without a loss: earlier losses are ignored */
/* a trial lasts until so many losses are expected */
#define TRIAL_LOSSES 16
#define TRIAL_PART   4 /* a trial ends at this part of the window */
#define HEAVY	     256
/* round trips without a mark until growth doubles */
#define MARKLESS     32
#define MARKLESS_MAX 10
#define GENTLE	     16 /* divisor of growth where nothing waits */
#define GROW_FROM    (8 * ONE)
#define GROW_TO	     (20 * ONE)
#define GROW_LEAST   103u /* 1/256 packets per round trip */
#define GROW_MOST    345u
#define ALPHA_ONE    65536u
/* weight of a round trip in the share, RFC 8257's g */
#define ALPHA_PART 16
#define MARKED_NS  4000000u /* just less than CoDel's target, 5 ms */

/* Returns the shortest trip of a round; others may have waited in a host. */
static u32 latest(const struct ur_path_window *w)
{
	u32 last = w->round_last;

	return w->round_min && (!last || w->round_min < last) ? w->round_min
							      : last;
}

/* Returns the longest of the recent round trips, one of which belongs to a loss
 * that only a timer shows. */
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
 * Returns the growth in a round trip where marks show a queue: a packet and a
 * third, a little more than DCTCP's, since a CNP may stand for several marks; a
 * small window less than half a packet, so that very many together add no long
 * queue; a large one an eighth of its root. Growth doubles after each MARKLESS
 * round trips without a mark.
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

/* Returns whether a round trip is shorter than the time between two CNPs. Where packets wait the
 * next trips are longer, and that decides. */
static bool few_signs(const struct ur_path_window *w)
{
	return w->srtt < w->sign_ns && !ur_path_window_long(w, latest(w));
}

/* Returns the share of whole for one round trip of the time between two
 * CNPs. */
static u32 part_of_sign(const struct ur_path_window *w, u32 whole)
{
	return few_signs(w) ? (u32)((u64)whole * w->srtt / w->sign_ns) : whole;
}

static u64 grow_by_marks(const struct ur_path_window *w, u32 packets)
{
	u32 quiet = part_of_sign(w, w->rounds - w->cut_round) / MARKLESS;
	/* Growth per answered packet, 1/65536 packets. */
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

/* Grows in a round trip: doubles at first; then by a packet, or less for a
 * small window or a short trip; by more where nothing waits; not during a
 * trial. */
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

/* RFC 8257, 3.3: the smoothed share of marked packets. */
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

	/* An uncertain trip is used only without a certain one. */
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
		/* Nothing was lost or marked yet: the wait in one round trip
		 * may have been for a processor. */
		w->slow_until = MOST;
}

/* Returns the share of packets lost since losses are counted. */
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

/* Evaluates the losses of a trial, and returns whether it goes on, with a
 * smaller window: until fewer are lost, or the window cannot be the cause. */
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

/* Handles many losses, of that share. Returns whether the window may be the
 * cause. */
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

/* Handles one loss. Returns whether a queue overflowed. */
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
	/* Old losses would make the present ones look fewer. */
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
	/* With frequent losses, the last one may be random. */
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
	/* A trial would stop growth for as many packets as a small window sends
	 * in minutes. */
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
