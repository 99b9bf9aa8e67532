// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fault rules: their text, and when they strike. */
#include <errno.h>
#include "engine/engine.h"
#include "engine/fault_rule.h"
#include "tests/check.h"
#include "util/rng.h"

static struct ur_fault_rule good(const char *text)
{
	const char *why = NULL, *word = NULL;
	struct ur_fault_rule r;
	int err = ur_fault_parse(text, &r, &why, &word);

	if (err)
		fprintf(stderr, "'%s': '%s' %s\n", text, word, why);
	CHECK_EQ(err, 0);
	return r;
}

static void bad(const char *text, const char *where, const char *reason)
{
	const char *why = NULL, *word = NULL;
	struct ur_fault_rule r;

	CHECK_EQ(ur_fault_parse(text, &r, &why, &word), -EINVAL);
	CHECK(word >= text && word <= text + strlen(text));
	if (strncmp(word, where, strlen(where)) || strcmp(why, reason))
		fprintf(stderr, "'%s': '%s' %s\n", text, word, why);
	CHECK(!strncmp(word, where, strlen(where)));
	CHECK(!strcmp(why, reason));
}

static void understood(void)
{
	struct ur_fault_rule r = good("drop");

	CHECK_EQ(r.action, UR_FAULT_DROP);
	CHECK(!r.in && !r.by_qp && !r.by_peer && !r.ops);
	CHECK_EQ(r.prob, 1ull << 32);
	r = good("  delay=250  op=write,read qp=0x11 prob=0.25 seed=9 after=3 "
		 "nth=2 count=5 peer=10.0.0.1 ");
	CHECK_EQ(r.action, UR_FAULT_DELAY);
	CHECK_EQ(r.value, 250);
	CHECK_EQ(r.ops, UR_FAULT_OP_WRITE | UR_FAULT_OP_READ);
	CHECK(r.by_qp && r.qpn == 17);
	CHECK_EQ(r.prob, 1ull << 30);
	CHECK_EQ(r.seed, 9);
	CHECK_EQ(r.after, 3);
	CHECK_EQ(r.nth, 2);
	CHECK_EQ(r.count, 5);
	CHECK(r.by_peer && ur_gid_is_v4(r.peer) && r.peer[15] == 1);
	CHECK(good("drop dir=in peer=fe80::1").in);
	CHECK(good("delay=5 dir=in").in && good("reorder dir=in").in);
	CHECK(good("stall=5 dir=in").in && good("slow=5 dir=in").in);
	CHECK_EQ(good("cm-drop dir=in nth=2").ops, UR_FAULT_OP_CM);
	CHECK_EQ(good("cm-reject").value, 0);
	CHECK_EQ(good("cm-reject=28 count=1").value, 28);
	CHECK_EQ(good("nak=rem_access op=write").value, UR_REFUSE_ACCESS);
	CHECK_EQ(good("wc=retry_exc_err").value, UR_WC_RETRY_EXC_ERR);
	CHECK_EQ(good("link-down").value, 0);
	CHECK_EQ(good("link-down=10").value, 10);
}

static void refused(void)
{
	static const char others[] = "does not limit this action";

	bad("", "", "an action comes first");
	bad("   ", "", "an action comes first");
	bad("frob", "frob", "is no action");
	bad("drop=1", "drop=1", "has no value");
	bad("delay", "delay", "needs a value");
	bad("delay=0", "delay=0", "has no such value");
	bad("delay=-1", "delay=-1", "has no such value");
	bad("delay=10000001", "delay", "has no such value");
	bad("delay=99999999999999999999999", "delay", "has no such value");
	bad("wc=success", "wc=success", "has no such value");
	bad("nak", "nak", "needs a value");
	bad("drop prob=1.5", "prob=1.5", "is not from 0 to 1");
	bad("drop prob=nan", "prob=nan", "is not from 0 to 1");
	bad("drop prob=1e-3", "prob=1e-3", "is not from 0 to 1");
	bad("drop prob=", "prob=", "is not from 0 to 1");
	bad("drop qp=0x1000000", "qp", "is no queue pair number");
	bad("drop peer=host", "peer", "is no address");
	bad("drop op=writ", "op", "is none of the operations of this action");
	bad("wc=fatal_err op=ack", "op",
	    "is none of the operations of this action");
	bad("drop dir=up", "dir", "is in or out");
	bad("rnr op=send", "op", others);
	bad("cm-drop op=send", "op", others);
	bad("cm-reject peer=1.2.3.4", "peer", others);
	bad("cm-reject=65536", "cm-reject", "has no such value");
	bad("port-error count=1", "count", others);
	bad("rnr dir=in", "dir", others);
	bad("reg-enomem qp=3", "qp", others);
	bad("slow=5 prob=0.5", "prob", others);
	bad("gid-change count=1", "count", others);
	bad("drop count=x", "count", "is no number");
	bad("drop colour=red", "colour", "is not known");
	bad("drop now", "now", "needs a value");
	bad("drop "
	    "peer=0000000000000000000000000000000000000000000000000000000000000",
	    "peer=", "is too long");
}

/* Whatever somebody sends. */
static void any_bytes(void)
{
	static const char parts[][12] = {"drop",   "delay",  "=",     " ",
					 "op=",	   "write,", "prob=", "0.5",
					 "peer=",  "::",     "wc",    "\xff",
					 "count=", "-1",     "qp=",   "nak"};
	struct ur_rng rng = {1};
	u32 taken = 0;

	for (int i = 0; i < 200000; i++) {
		const char *why = NULL, *word = NULL;
		struct ur_fault_rule r;
		char text[128] = "";
		u32 n = ur_rng_below(&rng, 10);

		while (n--)
			strcat(text, parts[ur_rng_below(&rng, 16)]);
		if (!ur_fault_parse(text, &r, &why, &word)) {
			taken++;
			CHECK(r.action < UR_FAULT_ACTIONS);
			CHECK(r.prob <= 1ull << 32);
		} else {
			CHECK(why && word >= text && word <= strchr(text, 0));
		}
	}
	CHECK(taken > 100);
}

static u32 strikes(const char *text, u32 times, const char *pattern)
{
	struct ur_fault_rule r = good(text);
	struct ur_fault_state s;
	u32 n = 0;

	ur_fault_begin(&s, &r);
	for (u32 i = 0; i < times; i++) {
		bool now = ur_fault_strikes(&s, &r);

		n += now;
		if (pattern)
			CHECK_EQ(now, pattern[i] == 'x');
	}
	CHECK_EQ(s.matched, times);
	CHECK_EQ(s.done, n);
	return n;
}

static void struck(void)
{
	CHECK_EQ(strikes("drop", 6, "xxxxxx"), 6);
	strikes("drop after=2", 5, "..xxx");
	strikes("drop nth=3", 7, "..x..x.");
	strikes("drop after=1 nth=2 count=2", 9, "..x.x....");
	strikes("drop count=1", 4, "x...");
	CHECK_EQ(strikes("drop prob=0", 1000, NULL), 0);
	CHECK_EQ(strikes("drop prob=1", 1000, NULL), 1000);
	/* 10,000 draws of 1 %: six deviations around 100. */
	CHECK(strikes("drop prob=0.01 seed=4", 10000, NULL) > 40);
	CHECK(strikes("drop prob=0.01 seed=4", 10000, NULL) < 160);
	CHECK_EQ(strikes("drop prob=0.1 seed=7", 1000, NULL),
		 strikes("drop prob=0.1 seed=7", 1000, NULL));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(understood());
	CASE(refused());
	CASE(any_bytes());
	CASE(struck());
	return cases_status();
}
