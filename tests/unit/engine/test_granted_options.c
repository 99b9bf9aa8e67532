// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Options of the device's engines reach those in programs. */
#include <stdio.h>
#include <string.h>
#include "engine/options.h"
#include "kernel-abi/uroce-abi.h"
#include "tests/check.h"

static struct ur_engine_options parsed(const char *text)
{
	struct ur_engine_options o;

	memset(&o, 0, sizeof(o));
	CHECK(!ur_engine_options_parse(&o, text));
	return o;
}

static struct ur_engine_options applied(u32 off, u32 tx_bytes)
{
	struct ur_engine_options o = parsed(NULL);

	ur_engine_options_apply(&o, off, tx_bytes);
	return o;
}

/* Each by itself, and no other than what is granted. */
static void test_switches(void)
{
	static const char *const names[] = {
		"gso",	"gro",	"trains", "fast",     "coalesce", "credits",
		"aimd", "path", "ooo",	  "one_port", "loop"};
	u32 all = 0;

	CHECK_EQ(ur_engine_options_off(&(struct ur_engine_options){0}),
		 UROCE_ENGINE_NO_LOOP * 2 - UROCE_ENGINE_NO_GSO);
	for (u32 i = 0; i < UR_ARRAY_SIZE(names); i++) {
		struct ur_engine_options o, got;
		char text[32];
		u32 off;

		snprintf(text, sizeof(text), "%s=0", names[i]);
		o = parsed(text);
		off = ur_engine_options_off(&o);
		CHECK(off && !(off & (off - 1)) && !(off & all));
		all |= off;
		got = applied(off, 0);
		CHECK(!memcmp(&o, &got, sizeof(o)));
	}
	CHECK_EQ(ur_engine_options_off(&(struct ur_engine_options){0}), all);
	CHECK_EQ(parsed(NULL).gso, true);
}

/* Flags that this version does not know change nothing. */
static void test_unknown(void)
{
	struct ur_engine_options own = parsed(NULL),
				 got = applied(
					 UROCE_ENGINE_ONE_PATH | ~0u << 20, 0);

	CHECK(!memcmp(&own, &got, sizeof(own)));
	CHECK_EQ(ur_engine_options_off(&own), 0);
}

static void test_tx_bytes(void)
{
	const u32 own = parsed(NULL).tx_bytes;

	CHECK_EQ(applied(0, 65536).tx_bytes, 65536);
	CHECK_EQ(applied(0, 16384).tx_bytes, 16384);
	CHECK_EQ(applied(0, 16383).tx_bytes, own);
	CHECK_EQ(applied(0, (16 << 20) + 1).tx_bytes, own);
	CHECK_EQ(applied(0, 0).tx_bytes, own);
}

int main(void)
{
	test_switches();
	test_unknown();
	test_tx_bytes();
	return 0;
}
