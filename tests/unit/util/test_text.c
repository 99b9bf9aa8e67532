// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Text of strangers, before it goes to a terminal. */
#include <string.h>

#include "tests/check.h"
#include "util/text.h"

static void check(const char *from, bool lines, const char *expect)
{
	char text[64];

	strcpy(text, from);
	ur_text_clean(text, lines);
	if (strcmp(text, expect)) {
		printf("\"%s\", not \"%s\"\n", text, expect);
		CHECK(false);
	}
}

static void test_controls(void)
{
	check("ibv_rc_pingpong", false, "ibv_rc_pingpong");
	check("", false, "");
	check("\x1b[2J\x1b]0;own\x07", false, "?[2J?]0;own?");
	check("a\x7f\r\n\tb", false, "a????b");
	check("a\n\tb\r", true, "a\n\tb?");
	/* C1, as bytes and as characters: CSI is one. */
	check("\x9b"
	      "2J",
	      true, "?2J");
	check("\xc2\x9b"
	      "2J",
	      true, "??2J");
}

static void test_utf8(void)
{
	check("m\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80", false,
	      "m\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80");
	check("\xc3", false, "?"); /* cut off */
	check("\xe2\x82", false, "??");
	check("\xc0\x9b", false, "??"); /* longer than need be */
	check("\xe0\x82\x9b", false, "???");
	check("\xed\xa0\x80", false, "???"); /* a surrogate */
	check("\xf4\x90\x80\x80", false, "????");
	check("\xff\xfe", false, "??");
}

static void check_trim(const char *from, const char *expect)
{
	char text[64];

	strcpy(text, from);
	CHECK(!strcmp(ur_text_trim(text), expect));
}

static void test_trim(void)
{
	check_trim("", "");
	check_trim(" \t\r\n", "");
	check_trim("netdev = eth0\n", "netdev = eth0");
	check_trim(" \t a b \xa0\t\n", "a b \xa0");
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_controls());
	CASE(test_utf8());
	CASE(test_trim());
	return cases_status();
}
