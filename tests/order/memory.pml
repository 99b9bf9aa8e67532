/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory as C11 allows it to weakly ordered machines, for models of a few
 * threads. What a model may see here, a compiler and a machine may do; only
 * that a load gets what is stored later in its own thread's order (load
 * buffering) is left out, which the detection of races makes up for.
 *
 * An atomic word keeps every value stored to it. A thread's view says for each
 * word which value it must at least see; a load takes any from there on. A
 * release store takes the thread's view along, an acquire load joins it. A full
 * barrier joins the view with a common one, both ways. A sequentially
 * consistent access is acquire and release, and such a load sees at least the
 * last such store to its word: what "stlr; ldar" gives, and no more.
 *
 * Plain data has no values: each access must have happened after the
 * conflicting ones (vector clocks, behind the words in the same vector), else
 * it is a race and an error.
 *
 * New values come behind all others: each word has one writer, or is only
 * changed by read-modify-write.
 *
 * A model defines WORDS, VALUES (kept for each word), THREADS, DATA.
 */
#define RLX 0
#define ACQ 1
#define REL 2
#define ACQ_REL 3
#define SC 7

#define SIZE (WORDS + THREADS)
#define CLOCK(t) (WORDS + (t))

typedef view { byte at[SIZE] }

byte count[WORDS];		 /* values stored to a word, the first one too */
byte value[WORDS * VALUES];
view taken[WORDS * VALUES];	 /* what comes with the value */
view now[THREADS];		 /* what a thread has seen */
view loaded[THREADS];		 /* and will with a barrier */
view fenced[THREADS];		 /* what goes along with a relaxed store */
view common;			 /* of full barriers; clocks unused */
byte writer[DATA], written[DATA]; /* thread and its clock */
byte reads[DATA * THREADS];
hidden byte j_;

#define JOIN(a, b, size) \
	for (j_ : 0 .. (size) - 1) { \
		if \
		:: a.at[j_] < b.at[j_] -> a.at[j_] = b.at[j_] \
		:: else \
		fi \
	}
#define COPY(a, b, size) \
	for (j_ : 0 .. (size) - 1) { a.at[j_] = b.at[j_] }

inline memory_init()
{
	d_step {
		for (k_ : 0 .. WORDS - 1) { count[k_] = 1 }
		for (k_ : 0 .. THREADS - 1) { now[k_].at[CLOCK(k_)] = 1 }
	}
}

inline tick(me) { now[me].at[CLOCK(me)]++ }

/* Any value from what the thread has seen on goes to out. */
inline load(me, word, order, out)
{
	atomic {
		out = count[word] - 1;
		do
		:: out > now[me].at[word] &&
		   (order != SC || out > common.at[word]) -> out--
		:: break
		od;
		d_step {
			now[me].at[word] = out;
			JOIN(loaded[me], taken[(word) * VALUES + out], SIZE);
			if
			:: order & ACQ ->
				JOIN(now[me], taken[(word) * VALUES + out], SIZE)
			:: else
			fi;
			out = value[(word) * VALUES + out];
			j_ = 0
		}
	}
}

inline put_(me, word, order, what)
{
	assert(count[word] < VALUES);
	now[me].at[word] = count[word];
	if
	:: order & REL -> COPY(taken[(word) * VALUES + count[word]], now[me], SIZE)
	:: else -> COPY(taken[(word) * VALUES + count[word]], fenced[me], SIZE)
	fi;
	taken[(word) * VALUES + count[word]].at[word] = count[word];
	value[(word) * VALUES + count[word]] = what;
	if
	:: order == SC -> common.at[word] = count[word]
	:: else
	fi;
	if
	:: order & REL -> tick(me)
	:: else
	fi
}

inline store(me, word, order, what)
{
	d_step { put_(me, word, order, what); count[word]++; j_ = 0 }
}

/* The value before goes to old; what may use it. */
inline exchange(me, word, order, old, what)
{
	d_step {
		JOIN(loaded[me], taken[(word) * VALUES + count[word] - 1], SIZE);
		if
		:: order & ACQ ->
			JOIN(now[me], taken[(word) * VALUES + count[word] - 1], SIZE)
		:: else
		fi;
		old = value[(word) * VALUES + count[word] - 1];
		put_(me, word, order, what);
		/* What a release took along goes on through other changes. */
		JOIN(taken[(word) * VALUES + count[word]],
		     taken[(word) * VALUES + count[word] - 1], SIZE);
		count[word]++;
		j_ = 0
	}
}

inline barrier(me, order)
{
	d_step {
		if
		:: order == SC ->
			JOIN(now[me], loaded[me], SIZE);
			JOIN(now[me], common, WORDS);
			COPY(common, now[me], WORDS);
			COPY(fenced[me], now[me], SIZE);
			tick(me)
		:: else
		fi;
		j_ = 0
	}
}

inline after_(me, thread, clock) { assert(clock <= now[me].at[CLOCK(thread)]) }

inline read_data(me, cell)
{
	d_step {
		after_(me, writer[cell], written[cell]);
		reads[(cell) * THREADS + me] = now[me].at[CLOCK(me)]
	}
}

inline write_data(me, cell)
{
	d_step {
		after_(me, writer[cell], written[cell]);
		for (j_ : 0 .. THREADS - 1) {
			after_(me, j_, reads[(cell) * THREADS + j_])
		}
		writer[cell] = (me);
		written[cell] = now[me].at[CLOCK(me)];
		j_ = 0
	}
}
