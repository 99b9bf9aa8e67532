// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Rules for traffic classes: text in, text out, and which of them holds. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device/settings/traffic_class.h"
#include "tests/check.h"

static struct ur_tclass t;
static char text[UR_TCLASS_TEXT];

static const char *shown(void)
{
	ur_tclass_show(&t, text, sizeof(text));
	return text;
}

static void gid(u8 *g, const char *address)
{
	static const u8 mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(g, mapped, 12);
	if (inet_pton(AF_INET, address, g + 12) != 1)
		CHECK_EQ(inet_pton(AF_INET6, address, g), 1);
}

/* The traffic class of such a path whose program asks for 3. */
static int of(const char *src, const char *dst)
{
	u8 s[16], d[16], tclass = 3, hops = 9;

	gid(s, src);
	gid(d, dst);
	ur_tclass_apply(&t, s, d, &tclass, &hops);
	CHECK_EQ(hops, t.ttl ? t.ttl : 9);
	return tclass;
}

static void test_text(void)
{
	static const char *const wrong[] = {
		"",
		"x",
		"256",
		"-2",
		"1x",
		"tclass=",
		"src_ip=1.1.1.1",
		"tclass=1,src_ip=1.1.1",
		"tclass=1,dst_ip=1.1.1.1/33",
		"tclass=1,dst_ip=1.1.1.1/0",
		"tclass=1,src_ip=1.1.1.1/8",
		"tclass=1,src_ip=1.1.1.1,dst_ip6=::1",
		"tclass=1,src_ip7=::1",
		"tclass=1,other=2"};

	ur_tclass_init(&t);
	CHECK(!strcmp(shown(), ""));
	for (u32 i = 0; i < UR_ARRAY_SIZE(wrong); i++)
		CHECK_EQ(ur_tclass_store(&t, wrong[i]), -EINVAL);
	CHECK(!strcmp(shown(), ""));
	CHECK_EQ(ur_tclass_store(&t, "0x6a"), 0);
	CHECK(!strcmp(shown(), "Global tclass=106\n"));
	CHECK_EQ(ur_tclass_store(&t, "tclass=-1"), 0);
	CHECK(!strcmp(shown(), ""));
	CHECK_EQ(ur_tclass_store(&t,
				 "tclass=16, src_ip=1.1.1.2,dst_ip=1.1.1.0/24"),
		 0);
	CHECK_EQ(ur_tclass_store(&t, "tclass=17,dst_ip6=::5"), 0);
	CHECK_EQ(ur_tclass_store(&t, "tclass=18,dst_ip=1.1.1.2"), 0);
	/* Longer prefixes first. */
	CHECK(!strcmp(shown(),
		      "dst_ip6=0000:0000:0000:0000:0000:0000:0000:0005,"
		      "tclass=17\n"
		      "dst_ip=1.1.1.2/32,tclass=18\n"
		      "src_ip=1.1.1.2,dst_ip=1.1.1.0/24,tclass=16\n"));
	/* The text that is shown can be written again, and to take it away. */
	CHECK_EQ(ur_tclass_store(&t, "dst_ip=1.1.1.2/32,tclass=-1"), 0);
	CHECK_EQ(ur_tclass_store(&t, "dst_ip=9.9.9.9,tclass=-1"), 0);
	CHECK(!strstr(shown(), "tclass=18"));
}

static void test_which(void)
{
	ur_tclass_init(&t);
	ur_tclass_store(&t, "tclass=10,src_ip=1.1.1.2");
	ur_tclass_store(&t, "tclass=20,dst_ip=1.1.0.0/20");
	ur_tclass_store(&t, "tclass=21,dst_ip=1.1.8.0/21");
	ur_tclass_store(&t, "tclass=30,src_ip=1.1.1.2,dst_ip=1.1.2.0/23");
	ur_tclass_store(&t, "tclass=40,src_ip6=fd00::1,dst_ip6=fd00::2");
	CHECK_EQ(of("1.1.1.3", "9.9.9.9"), 3);
	CHECK_EQ(of("1.1.1.2", "9.9.9.9"), 10);
	CHECK_EQ(of("1.1.1.2", "1.1.15.255"), 21);
	CHECK_EQ(of("1.1.1.3", "1.1.7.255"), 20);
	CHECK_EQ(of("1.1.1.3", "1.1.16.0"), 3);
	CHECK_EQ(of("1.1.1.2", "1.1.3.1"), 30);
	CHECK_EQ(of("1.1.1.2", "1.1.4.1"), 20);
	CHECK_EQ(of("fd00::1", "fd00::2"), 40);
	CHECK_EQ(of("fd00::1", "fd00::3"), 3);
	t.ttl = 5;
	CHECK_EQ(ur_tclass_store(&t, "tclass=50"), 0);
	CHECK_EQ(of("1.1.1.2", "1.1.3.1"), 50);
}

static void test_full(void)
{
	char rule[64];

	ur_tclass_init(&t);
	for (int i = 0; i < UR_TCLASS_RULES; i++) {
		snprintf(rule, sizeof(rule), "tclass=%d,src_ip=1.1.1.%d", i, i);
		CHECK_EQ(ur_tclass_store(&t, rule), 0);
	}
	CHECK_EQ(ur_tclass_store(&t, "tclass=1,src_ip=1.1.2.1"), -ENOMEM);
	CHECK_EQ(ur_tclass_store(&t, "tclass=99,src_ip=1.1.1.7"), 0);
	CHECK_EQ(of("1.1.1.7", "2.2.2.2"), 99);
	CHECK_EQ(of("1.1.1.39", "2.2.2.2"), 39);
	CHECK_EQ(ur_tclass_store(&t, "tclass=-1,src_ip=1.1.1.7"), 0);
	CHECK_EQ(ur_tclass_store(&t, "tclass=1,src_ip=1.1.2.1"), 0);
}

int main(void)
{
	test_text();
	test_which();
	test_full();
	return 0;
}
