// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The IP CM header: bytes of both versions, service ids, refusals. */
#include <errno.h>

#include "cm/ip_cm.h"
#include "tests/check.h"

static void test_v4(void)
{
	struct ur_ip_cm ip = {.ip_version = 4, .src_port = 0x8f0d}, back;
	static const u8 want[UR_IP_CM_BYTES] = {
		0x00, 0x40, 0x8f, 0x0d, 0,  0,	0, 0, 0,  0,  0, 0,
		0,    0,    0,	  0,	10, 77, 0, 3, 0,  0,  0, 0,
		0,    0,    0,	  0,	0,  0,	0, 0, 10, 77, 0, 2};
	u8 buf[UR_IP_CM_BYTES];

	memcpy(ip.src, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x4d\x00\x03", 16);
	memcpy(ip.dst, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x4d\x00\x02", 16);
	ur_ip_cm_build(&ip, buf);
	CHECK(!memcmp(buf, want, sizeof(want)));
	CHECK_EQ(ur_ip_cm_parse(buf, sizeof(buf), &back), 0);
	CHECK_EQ(back.ip_version, 4);
	CHECK_EQ(back.src_port, 0x8f0d);
	CHECK(!memcmp(back.src, ip.src, 16) && !memcmp(back.dst, ip.dst, 16));
}

static void test_v6(void)
{
	struct ur_ip_cm ip = {.ip_version = 6, .src_port = 1}, back;
	u8 buf[UR_IP_CM_BYTES];

	for (u32 i = 0; i < 16; i++) {
		ip.src[i] = (u8)(i + 1);
		ip.dst[i] = (u8)(i + 65);
	}
	ur_ip_cm_build(&ip, buf);
	CHECK_EQ(buf[1], 0x60);
	CHECK(!memcmp(buf + 4, ip.src, 16) && !memcmp(buf + 20, ip.dst, 16));
	CHECK_EQ(ur_ip_cm_parse(buf, sizeof(buf), &back), 0);
	CHECK(!memcmp(back.src, ip.src, 16) && !memcmp(back.dst, ip.dst, 16));
	/* The low nibbles are minor version and reserved. */
	buf[0] |= 0x0f;
	buf[1] |= 0x0f;
	CHECK_EQ(ur_ip_cm_parse(buf, sizeof(buf), &back), 0);
}

static void test_refusals(void)
{
	u8 buf[UR_IP_CM_BYTES] = {0, 0x40};
	struct ur_ip_cm ip;

	CHECK_EQ(ur_ip_cm_parse(buf, UR_IP_CM_BYTES - 1, &ip), (u64)-EINVAL);
	buf[0] = 0x10;
	CHECK_EQ(ur_ip_cm_parse(buf, sizeof(buf), &ip), (u64)-EINVAL);
	buf[0] = 0;
	for (u32 v = 0; v < 16; v++) {
		buf[1] = (u8)(v << 4);
		CHECK_EQ(ur_ip_cm_parse(buf, sizeof(buf), &ip),
			 v == 4 || v == 6 ? 0 : (u64)-EINVAL);
	}
}

static void test_service_ids(void)
{
	CHECK_EQ(ur_ip_cm_service_id(UR_IP_CM_PS_TCP, 7174), 0x1061c06);
	CHECK(ur_ip_cm_is_service(0x1061c06));
	CHECK(ur_ip_cm_is_service(0x1110001));
	CHECK(ur_ip_cm_is_service(0x13f0001));
	CHECK(!ur_ip_cm_is_service(0x1000001061c06ull));
	CHECK(!ur_ip_cm_is_service(0x1234));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_v4());
	CASE(test_v6());
	CASE(test_refusals());
	CASE(test_service_ids());
	return cases_status();
}
