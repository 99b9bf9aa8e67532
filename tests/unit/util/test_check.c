// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * check.h itself: one case that fails or crashes does not keep the others from
 * running, and the program says which, where, and ends with 1. With "inner" as
 * its argument the program is one that has such cases.
 */
#include "tests/check.h"

static char said[4096];

static void good(void)
{
	puts("good ran");
}

static void wrong(int n)
{
	CHECK_EQ(n, 4);
}

static void crashing(void)
{
	abort();
}

static void skipped(void)
{
	SKIP("not here");
}

static void from_psn(void)
{
	ck_psn(0xfffffe);
	ck_at("caller.c", 77);
	CHECK(!"never");
}

static int inner(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(good());
	if (argc > 2 && !strcmp(argv[2], "skips"))
		CASE(skipped());
	if (argc > 2 && !strcmp(argv[2], "fails")) {
		CASE(wrong(5));
		CASE(crashing());
		CASE(from_psn());
	}
	if (argc > 2 && !strcmp(argv[2], "steps")) {
		STEP(wrong(6));
		puts("not reached");
	}
	CASE(good());
	return cases_status();
}

/* Returns the exit status of "inner" with these words; keeps its output. */
static int run(const char *program, const char *words)
{
	char command[512];
	size_t n;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "%s inner %s 2>&1", program, words);
	f = popen(command, "r");
	CHECK(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = 0;
	status = pclose(f);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int times(const char *what)
{
	int n = 0;

	for (const char *p = said; (p = strstr(p, what)); p++)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "inner"))
		return inner(argc, argv);
	CHECK_EQ(run(argv[0], ""), 0);
	CHECK_EQ(times("good ran\n"), 2);
	CHECK_EQ(run(argv[0], "skips"), 77);
	CHECK_EQ(times("good ran\n"), 2);
	CHECK_EQ(times("skipped: not here\n"), 1);

	CHECK_EQ(run(argv[0], "fails"), 1);
	CHECK_EQ(times("good ran\n"), 2);
	CHECK_EQ(times("n is 5 (0x5), not 4 (0x4) = 4; case wrong(5)\n"), 1);
	CHECK_EQ(times("case crashing(): signal 6"), 1);
	CHECK_EQ(times("caller.c:77: in "), 1);
	CHECK_EQ(times("case from_psn(), first PSN 0xfffffe\n"), 1);
	CHECK_EQ(times("3 of 5 cases failed\n"), 1);

	CHECK_EQ(run(argv[0], "fails --list"), 0);
	CHECK(!strcmp(said, "good()\nwrong(5)\ncrashing()\nfrom_psn()\n"
			    "good()\n"));
	CHECK_EQ(run(argv[0], "fails --case wrong"), 1);
	CHECK_EQ(times("case wrong(5)\n"), 1);
	CHECK_EQ(times("good ran"), 0);
	CHECK_EQ(run(argv[0], "fails --case good"), 0);
	CHECK_EQ(times("good ran\n"), 2);
	CHECK_EQ(run(argv[0], "fails --case nosuch"), 2);

	CHECK_EQ(run(argv[0], "steps"), 1);
	CHECK_EQ(times("good ran\n"), 1);
	CHECK_EQ(times("not reached"), 0);
	return 0;
}
