// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How the engine waits: holding the processor is learned and unlearned for each
 * program by itself, ends within its bound, and an idle engine sleeps.
 */
#include "engine/core/idle.h"
#include "tests/check.h"

#define US	1000ull
#define MS	1000000ull
#define SPIN_NS (100 * US)
/* Longer than any hold where processors are free, and where they are contended. */
#define LONG_HOLD      (3 * US)
#define CONTENDED_HOLD (8 * US)

/* In its place: it points into itself. */
static void fresh(struct ur_idle *idle, bool hold)
{
	ur_idle_init(idle, hold, SPIN_NS, 50 * MS);
}

/* One wait after work for predictor, with the next work after_ns later, in turns of
 * 100 ns; how long the processor was held. */
static u64 one_wait(struct ur_idle *idle, struct ur_spin_predictor *predictor,
		    u64 *now, u64 after_ns)
{
	u64 end = *now + after_ns, held = 0;

	ur_idle_serve(idle, predictor);
	ur_idle_work(idle, *now);
	for (; *now < end; *now += 100) {
		if (ur_idle_wait(idle, *now) != UR_IDLE_HOLD)
			*now = end;
		else
			held += 100;
	}
	return held;
}

static void learns(void)
{
	struct ur_idle idle;
	struct ur_spin_predictor quick = {0}, slow = {0};
	u64 now = 60 * MS;
	u32 held = 0;

	fresh(&idle, true);
	for (int n = 0; n < 20; n++) {
		one_wait(&idle, &quick, &now, 500);
		CHECK(one_wait(&idle, &slow, &now, 20 * US) <= LONG_HOLD);
	}
	/* each by itself: the one always, the other now and then */
	for (int n = 0; n < 320; n++) {
		CHECK(one_wait(&idle, &quick, &now, 500) == 500);
		held += one_wait(&idle, &slow, &now, 20 * US) != 0;
	}
	CHECK(held == 320 / UR_SPIN_RETRY);
	/* tries that go well bring it back */
	for (int n = 0; n < 4 * UR_SPIN_RETRY; n++)
		one_wait(&idle, &slow, &now, 500);
	CHECK(one_wait(&idle, &slow, &now, 500) == 500);
}

static void one_miss_is_forgiven(void)
{
	struct ur_spin_predictor g = {0};

	for (int n = 0; n < 100; n++) {
		ur_spin_learn(&g, false);
		CHECK(ur_spin_predict(&g));
		for (int k = 0; k < 4; k++)
			ur_spin_learn(&g, true);
	}
}

static void goes_to_sleep(bool hold)
{
	struct ur_idle idle;
	u64 now = 60 * MS;
	bool yielded = false;

	fresh(&idle, hold);
	ur_idle_work(&idle, now);
	for (;; now += 100) {
		enum ur_idle_mode way = ur_idle_wait(&idle, now);

		CHECK(now - 60 * MS <= SPIN_NS + 100);
		if (way == UR_IDLE_SLEEP)
			break;
		if (way == UR_IDLE_HOLD) {
			CHECK(hold);
			continue;
		}
		yielded = true;
		ur_idle_yielded(&idle, now, now + 300);
		now += 300;
		/* alone: the next one need not come at once */
		way = ur_idle_wait(&idle, now);
		CHECK(way == (hold && now - 60 * MS < SPIN_NS ? UR_IDLE_HOLD
			      : now - 60 * MS < SPIN_NS	      ? UR_IDLE_YIELD
							      : UR_IDLE_SLEEP));
	}
	CHECK(yielded);
	/* and stays there */
	CHECK(ur_idle_wait(&idle, now + 1) == UR_IDLE_SLEEP);
	CHECK(ur_idle_wait(&idle, now + 3600000 * MS) == UR_IDLE_SLEEP);
}

static void company_is_let_run(void)
{
	struct ur_idle idle;
	struct ur_spin_predictor predictor = {.missed = 255};
	u64 now = 60 * MS;

	fresh(&idle, true);
	ur_idle_serve(&idle, &predictor);
	ur_idle_work(&idle, now);
	for (int n = 0; n < 10; n++) {
		CHECK(ur_idle_wait(&idle, now) == UR_IDLE_YIELD);
		ur_idle_yielded(&idle, now, now + 2 * US);
		now += 2 * US;
	}
}

static void contended(bool hold)
{
	struct ur_idle idle;
	u64 now = 60 * MS, held = 0;

	fresh(&idle, hold);
	/* one long yield is an accident */
	ur_idle_work(&idle, now);
	ur_idle_yielded(&idle, now, now + 3 * MS);
	now += 3 * MS;
	ur_idle_work(&idle, now);
	while (ur_idle_wait(&idle, now) == UR_IDLE_HOLD)
		now += 100;
	CHECK(ur_idle_wait(&idle, now) == UR_IDLE_YIELD);
	/* five in a row are a program that spins */
	for (int n = 0; n < 4; n++) {
		ur_idle_yielded(&idle, now, now + 3 * MS);
		now += 3 * MS;
	}
	ur_idle_work(&idle, now);
	for (; ur_idle_wait(&idle, now) == UR_IDLE_HOLD; now += 100)
		held += 100;
	CHECK(held && held <= CONTENDED_HOLD);
	CHECK(ur_idle_wait(&idle, now) == UR_IDLE_SLEEP);
	/* which ends at some time */
	now += 1000 * MS;
	ur_idle_work(&idle, now);
	while (ur_idle_wait(&idle, now) == UR_IDLE_HOLD)
		now += 100;
	CHECK(ur_idle_wait(&idle, now) == UR_IDLE_YIELD);
}

static void forgets(void)
{
	struct ur_idle idle;
	struct ur_spin_predictor gone = {0};
	u64 now = 60 * MS;

	fresh(&idle, true);
	ur_idle_serve(&idle, &gone);
	ur_idle_work(&idle, now);
	CHECK(ur_idle_wait(&idle, now) == UR_IDLE_HOLD);
	ur_idle_forget(&idle, &gone);
	memset(&gone, 0xee, sizeof(gone));
	ur_idle_work(&idle, now);
	ur_idle_wait(&idle, now);
	ur_idle_work(&idle, now);
	CHECK(gone.missed == 0xee && gone.refusals == 0xee);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(learns());
	CASE(one_miss_is_forgiven());
	CASE(goes_to_sleep(true));
	CASE(goes_to_sleep(false));
	CASE(company_is_let_run());
	CASE(contended(true));
	CASE(contended(false));
	CASE(forgets());
	return cases_status();
}
