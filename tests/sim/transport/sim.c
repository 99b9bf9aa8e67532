// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Deterministic simulation of the transport.
 *
 *	sim --seed N [--trace]	one run; --trace prints a line per event
 *	sim --seeds A..B	many; stops at nothing, exits 1 on a violation
 *	sim --list FILE		the seeds of a file (a number, then why)
 *	sim --twice A..B	each seed twice: the same trace, or a failure
 *	sim --drill N		recovery quality over N seeds for each loss rate
 *	sim --read N | --write N | --send N [--drop PPM] [--trace]
 *				one run of a drill
 *	--hosts N --faults 0 --ooo 0|1 --loop 0|1 --credits 0|1 --coalesce 0|1
 *	--cc 0|1 --fast 0|1 --trains 0|1 --aimd 0|1 --path 0|1
 *				force what else is drawn from the seed
 *	--aside 1		fills leave after later ones
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/sim/transport/drill.h"
#include "tests/sim/transport/world.h"

static void on_signal(int sig)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "seed %" PRIu64 ": signal %d%s\n",
			 sim_current_seed, sig,
			 sig == SIGPROF ? " (hangs)" : "");

	if (write(1, line, (size_t)n) < 0)
		_exit(3);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int run_range(struct sim_options *o, u64 first, u64 last)
{
	struct sim_result r;
	u64 all = 0;
	int failed = 0;

	for (u64 seed = first; seed <= last; seed++) {
		o->seed = seed;
		if (sim_run(o, &r, false))
			failed++;
		else
			all = all * 31 + r.hash;
	}
	printf("seeds %" PRIu64 "..%" PRIu64 ": %d violations, hash %016" PRIx64
	       "\n",
	       first, last, failed, all);
	return failed ? 1 : 0;
}

static int run_list(struct sim_options *o, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int failed = 0;
	struct sim_result r;

	if (!file) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), file)) {
		if (line[0] < '0' || line[0] > '9')
			continue;
		o->seed = strtoull(line, NULL, 0);
		failed |= sim_run(o, &r, false);
	}
	fclose(file);
	printf("%s: %s\n", path, failed ? "violations" : "no violation");
	return failed;
}

static int run_twice(struct sim_options *o, u64 first, u64 last)
{
	struct sim_result one = {0}, two = {0};

	for (o->seed = first; o->seed <= last; o->seed++) {
		if (sim_run(o, &one, false) || sim_run(o, &two, false))
			return 1;
		if (one.hash == two.hash)
			continue;
		printf("seed %" PRIu64 ": hash %016" PRIx64 ", then %016" PRIx64
		       "\n",
		       o->seed, one.hash, two.hash);
		return 1;
	}
	printf("seeds %" PRIu64 "..%" PRIu64 ": the same trace twice\n", first,
	       last);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sim --seed N [--trace] | --seeds A..B | "
		"--list FILE | --twice A..B | --drill N |\n\t--read N | --write N | --send N [--drop PPM]\n\t[--hosts N] [--faults 0] "
		"[--ooo|--loop|--credits|--coalesce|--cc|--fast|--trains|--aimd|--path 0|1] [--aside 1]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct sim_options o = {.ooo = -1,
				.loop = -1,
				.credits = -1,
				.coalesce = -1,
				.cc = -1,
				.fast = -1,
				.trains = -1,
				.aimd = -1,
				.path = -1,
				.faults = 1};
	int drop = 10000;
	const struct {
		const char *name;
		int *value;
	} flags[] = {
		{"--ooo", &o.ooo},	   {"--loop", &o.loop},
		{"--credits", &o.credits}, {"--coalesce", &o.coalesce},
		{"--cc", &o.cc},	   {"--hosts", &o.hosts},
		{"--faults", &o.faults},   {"--drop", &drop},
		{"--fast", &o.fast},	   {"--trains", &o.trains},
		{"--aimd", &o.aimd},	   {"--path", &o.path},
		{"--aside", &o.aside},
	};
	const char *mode = NULL, *what = NULL, *dots;
	u64 last;
	struct sim_result r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		u32 k;

		if (!strcmp(argv[i], "--trace")) {
			o.trace = true;
			continue;
		}
		if (i + 1 == argc)
			return usage();
		for (k = 0; k < UR_ARRAY_SIZE(flags); k++)
			if (!strcmp(argv[i], flags[k].name))
				break;
		if (k < UR_ARRAY_SIZE(flags)) {
			*flags[k].value = atoi(argv[++i]);
		} else {
			mode = argv[i];
			what = argv[++i];
		}
	}
	if (!mode || o.hosts > SIM_MAX_HOSTS)
		return usage();
	printf("sim %s %s hosts %d faults %d ooo %d loop %d credits %d "
	       "coalesce %d cc %d fast %d trains %d aimd %d path %d\n",
	       mode, what, o.hosts, o.faults, o.ooo, o.loop, o.credits,
	       o.coalesce, o.cc, o.fast, o.trains, o.aimd, o.path);
	signal(SIGPROF, on_signal);
	signal(SIGABRT, on_signal);
	signal(SIGSEGV, on_signal);
	o.seed = strtoull(what, NULL, 0);
	if (!strcmp(mode, "--read"))
		return drill_one(&o, "READ", (u32)drop);
	if (!strcmp(mode, "--write"))
		return drill_one(&o, "WRITE", (u32)drop);
	if (!strcmp(mode, "--send"))
		return drill_one(&o, "SEND", (u32)drop);
	if (!strcmp(mode, "--drill"))
		return drill_run(&o, (u32)o.seed);
	if (!strcmp(mode, "--seed"))
		return sim_run(&o, &r, true);
	if (!strcmp(mode, "--list"))
		return run_list(&o, what);
	dots = strstr(what, "..");
	last = dots ? strtoull(dots + 2, NULL, 0) : o.seed;
	if (!strcmp(mode, "--seeds"))
		return run_range(&o, o.seed, last);
	if (!strcmp(mode, "--twice"))
		return run_twice(&o, o.seed, last);
	return usage();
}
