/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slots that are granted to engines in programs, over the ends of uroced: uroced dies at any step,
 * DEATHS times, and the keeper (device/keeper.h) has what the next one takes over. A program opens an
 * engine, gives commands, in which it waits for the next uroced and asks for its slot, or asks for one
 * that is not its own, and ends at any time.
 *
 * A slot is one program's at a time; who has one sees no end of its life's socket; when a program has
 * ended, its slot is freed, once; and nothing waits for ever, which would be an invalid end state.
 *
 * The code has each of these steps, which is YES: [KEEP] [INHERIT] [IDENTITY] [TAKE] [DROP] [LOOK] [WATCH].
 */
#define YES 1
#define NO 0

#define SLOTS 2
#define PROGRAMS 2 /* processes: from 1 on */
#define DEATHS 3
#define COMMANDS 2 /* of a program */
#define NOBODY 0

#define EACH(i, n) i : 0 .. (n) - 1

mtype = { PUT, DELETE, OPEN, RESUME, COMMAND, OK, EIO, EBUSY, ENOENT };

/* ---- copies of a life's socket, by its program ---- */

bool has_end[PROGRAMS + 1];	/* the program itself */
bool in_uroced[PROGRAMS + 1];
bool in_keeper[PROGRAMS + 1];
byte slot_of[PROGRAMS + 1];	/* of a program that has its end */

bool on_way[PROGRAMS + 1];	/* to the keeper: a message has one too */

#define HUNG_UP(p) (has_end[p] && !in_uroced[p] && !on_way[p] && !in_keeper[p])

/* ---- the keeper, and its link to uroced ---- */

bool keeper_is, link_is, connecting, shown;
byte kept[SLOTS];		/* whose life it has */
chan link = [2] of { mtype, byte, byte }; /* what a uroced has sent stays when it dies */

inline release_kept(s)
{
	in_keeper[kept[s]] = false;
	kept[s] = NOBODY
}

/* ---- uroced, of which the next one knows nothing ---- */

bool serves;
byte deaths;
byte granted[SLOTS];		/* to whom; NOBODY: it is free */
byte file[SLOTS];		/* whose open file has the slot */
byte record[SLOTS];		/* whose life it has from the one before */

/* A command, and what has come back. */
bool asked[PROGRAMS + 1], answered[PROGRAMS + 1];
mtype request[PROGRAMS + 1], result[PROGRAMS + 1];
byte argument[PROGRAMS + 1];

#define MAY_DIE \
	if \
	:: deaths < DEATHS -> goto dies \
	:: true \
	fi

/* Spin's inline has no goto out of it in a macro's place: these are macros. */
#define SAY(what, s, p) \
	atomic { link ! what, s, p; on_way[p] = (what == PUT) }

#define ANSWER_TO(p, what) \
	d_step { result[p] = what; asked[p] = false; answered[p] = true }

/* The program had it until it ended, and nobody else has. */
#define FREE_SLOT(s, p) \
	assert(granted[s] == p && !has_end[p]); \
	granted[s] = NOBODY; \
	MAY_DIE; \
	if \
	:: DROP == YES -> SAY(DELETE, s, p) \
	:: else \
	fi; \
	in_uroced[p] = false

active proctype uroced()
{
	byte s, p, q;

starts:
	MAY_DIE;
	/* The keeper that is there, or a new one. */
	connecting = true;
	do
	:: shown -> break
	:: !keeper_is ->
		d_step {
			keeper_is = true;
			link_is = true;
			connecting = false;
			shown = false
		};
		break
	od;
	MAY_DIE;
	if
	:: shown ->
		shown = false;
		s = 0;
		do
		:: s < SLOTS && kept[s] != NOBODY && INHERIT == YES ->
			d_step {
				granted[s] = kept[s];
				record[s] = kept[s];
				in_uroced[kept[s]] = true
			};
			s++
		:: s < SLOTS && kept[s] != NOBODY && INHERIT == NO ->
			SAY(DELETE, s, kept[s]);
			s++
		:: s < SLOTS && kept[s] == NOBODY -> s++
		:: s == SLOTS -> break
		od
	:: else
	fi;
	MAY_DIE;
	serves = true;

serves_on:
	skip;
	d_step { s = 0; p = 0; q = 0 };
end_serves:
	do
	:: deaths < DEATHS -> goto dies
	:: atomic { asked[1] -> p = 1 }; goto command
	:: atomic { asked[2] -> p = 2 }; goto command
	/* The end of a file, and of a life that no file has. */
	:: atomic { file[0] != NOBODY && !has_end[file[0]] -> s = 0 }; goto file_ends
	:: atomic { file[1] != NOBODY && !has_end[file[1]] -> s = 1 }; goto file_ends
	:: atomic { WATCH == YES && record[0] != NOBODY && !has_end[record[0]] -> s = 0 }; goto life_ends
	:: atomic { WATCH == YES && record[1] != NOBODY && !has_end[record[1]] -> s = 1 }; goto life_ends
	od;

file_ends:
	p = file[s];
	file[s] = NOBODY;
	FREE_SLOT(s, p);
	goto serves_on;

life_ends:
	p = record[s];
	record[s] = NOBODY;
	FREE_SLOT(s, p);
	goto serves_on;

command:
	if
	:: request[p] == OPEN ->
		if
		:: granted[0] == NOBODY -> s = 0
		:: granted[0] != NOBODY && granted[1] == NOBODY -> s = 1
		:: granted[0] != NOBODY && granted[1] != NOBODY -> ANSWER_TO(p, EBUSY); goto serves_on
		fi;
		d_step { granted[s] = p; in_uroced[p] = true };
		MAY_DIE;
		if
		:: KEEP == YES -> SAY(PUT, s, p)
		:: else
		fi;
		MAY_DIE;
		/* It is the program's from here on, who may end meanwhile. */
		d_step {
			assert(!(has_end[1] && slot_of[1] == s) && !(has_end[2] && slot_of[2] == s));
			has_end[p] = true;
			slot_of[p] = s;
			file[s] = p
		};
		MAY_DIE;
		if
		:: KEEP == NO -> SAY(PUT, s, p)
		:: else
		fi;
		ANSWER_TO(p, OK)
	:: request[p] == RESUME ->
		s = argument[p];
		q = record[s];
		if
		:: q != NOBODY && (q == p || IDENTITY == NO) ->
			if
			:: TAKE == YES -> record[s] = NOBODY
			:: else
			fi;
			file[s] = p;
			/* Nobody has another's. */
			assert(slot_of[p] == s && granted[s] == p);
			ANSWER_TO(p, OK)
		:: else -> ANSWER_TO(p, ENOENT)
		fi
	/* By a file of an earlier uroced it is EIO. */
	:: request[p] == COMMAND && file[slot_of[p]] == p -> ANSWER_TO(p, OK)
	:: request[p] == COMMAND && file[slot_of[p]] != p -> ANSWER_TO(p, EIO)
	fi;
	goto serves_on;

dies:
	skip;
	d_step {
		deaths++;
		serves = false;
		connecting = false;
		shown = false;
		link_is = false;
		for (EACH(s, SLOTS)) {
			granted[s] = NOBODY;
			file[s] = NOBODY;
			record[s] = NOBODY
		}
		for (p : 1 .. PROGRAMS) {
			in_uroced[p] = false;
			if
			:: asked[p] ->
				asked[p] = false;
				result[p] = EIO;
				answered[p] = true
			:: else
			fi
		}
		s = 0;
		p = 0;
		q = 0
	};
	goto starts
}

/* One message, or one of what it does without a uroced, at a time. */
active proctype keeper()
{
	mtype what;
	byte s, p;

end_waits:
	do
	/* It serves a link to its end, also when who has sent it is dead. */
	:: atomic {
		keeper_is && link ? [what, s, p] ->
		link ? what, s, p;
		on_way[p] = false;
		if
		:: kept[s] != NOBODY -> release_kept(s)
		:: else
		fi;
		if
		:: what == PUT -> kept[s] = p; in_keeper[p] = true
		:: else
		fi;
		what = 0; s = 0; p = 0
	   }
	:: atomic {
		keeper_is && !link_is && empty(link) ->
		/* Without a uroced it has what programs have. */
		s = 0;
		do
		:: s < SLOTS && LOOK == YES && kept[s] != NOBODY && !has_end[kept[s]] -> release_kept(s); s++
		:: s < SLOTS && LOOK == NO && kept[s] != NOBODY -> release_kept(s); s++
		:: s < SLOTS && (kept[s] == NOBODY || (LOOK == YES && has_end[kept[s]])) -> s++
		:: s == SLOTS -> break
		od;
		s = 0;
		if
		:: kept[0] == NOBODY && kept[1] == NOBODY -> keeper_is = false
		:: (kept[0] != NOBODY || kept[1] != NOBODY) && connecting ->
			connecting = false;
			link_is = true;
			shown = true
		/* Until the next uroced, or an end of a program. */
		:: (kept[0] != NOBODY || kept[1] != NOBODY) && !connecting
		fi
	   }
	od
}

/* Returns what uroced has answered, or EIO: there is none. */
#define ASK(what, arg) \
	atomic { \
		if \
		:: serves -> \
			request[me] = what; \
			argument[me] = arg; \
			answered[me] = false; \
			asked[me] = true \
		:: else -> result[me] = EIO; answered[me] = true \
		fi \
	}; \
	atomic { answered[me] -> answered[me] = false }

proctype program(byte me)
{
	byte commands, tries;

	/* An engine; it is content with the device's. */
	ASK(OPEN, 0);
	if
	:: result[me] != OK -> goto ends
	:: else
	fi;
	do
	/* It may be killed, or end. */
	:: goto ends
	:: commands < COMMANDS ->
		commands++;
		ASK(COMMAND, 0);
		tries = 0;
		do
		:: result[me] != EIO -> break
		:: result[me] == EIO && tries < 2 ->
			tries++;
			ASK(RESUME, slot_of[me]);
			assert(result[me] == OK || result[me] == EIO)
		:: result[me] == EIO && tries == 2 -> break /* an error */
		od;
		tries = 0
	/* Here it asks for what may be another's. */
	:: commands < COMMANDS ->
		commands++;
		ASK(RESUME, 1 - slot_of[me])
	/* Its connections would end. */
	:: HUNG_UP(me) -> assert(false)
	od;
ends:
	has_end[me] = false
}

/* When nothing happens any more, each slot is free whose program has ended. */
active proctype at_rest()
{
	timeout;
	assert((granted[0] == NOBODY || has_end[granted[0]]) && (granted[1] == NOBODY || has_end[granted[1]]));
	assert((kept[0] == NOBODY || has_end[kept[0]]) && (kept[1] == NOBODY || has_end[kept[1]]))
}

init
{
	atomic {
		run program(1);
		run program(2)
	}
}
