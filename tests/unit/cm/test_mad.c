// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The codec: the place of every field by number, every single bit of every
 * message there and back, and refusals.
 */
#include <errno.h>

#include "cm/mad.h"
#include "tests/check.h"

static u8 buf[UR_CM_MAD_BYTES];
static const u8 *body = buf + UR_CM_HEADER_BYTES;

static void build(struct ur_cm_mad *mad, u16 attr)
{
	mad->attr = attr;
	CHECK_EQ(ur_cm_mad_build(mad, buf), 0);
}

static void test_header(void)
{
	struct ur_cm_mad mad = {.tid = 0x1122334455667788ull,
				.status = 0x0102,
				.class_specific = 0x0304,
				.attr_mod = 0x05060708};
	static const u8 want[UR_CM_HEADER_BYTES] = {
		1,    7,    2,	  3,	1, 2,	 3, 4, 0x11, 0x22, 0x33, 0x44,
		0x55, 0x66, 0x77, 0x88, 0, 0x14, 0, 0, 5,    6,	   7,	 8};

	build(&mad, UR_CM_RTU);
	CHECK(!memcmp(buf, want, sizeof(want)));
}

static void test_req_places(void)
{
	struct ur_cm_mad mad = {0};
	struct ur_cm_req *r = &mad.u.req;

	r->local_comm_id = 0x01020304;
	r->vendor_id = 0x050607;
	r->service_id = 0x1061234;
	r->local_ca_guid = 0x1111111122222222ull;
	r->local_qkey = 0x33333333;
	r->local_qpn = 0x444444;
	r->responder_resources = 0x55;
	r->local_eecn = 0x666666;
	r->initiator_depth = 0x77;
	r->remote_eecn = 0x888888;
	r->remote_response_timeout = 20;
	r->transport_type = UR_CM_TRANSPORT_EXTENDED;
	r->flow_control = 1;
	r->starting_psn = 0x999999;
	r->local_response_timeout = 21;
	r->retry_count = 7;
	r->pkey = 0xffff;
	r->path_mtu = 3;
	r->rdc_exists = 1;
	r->rnr_retry_count = 6;
	r->max_cm_retries = 15;
	r->srq = 1;
	r->ext_transport_type = 1;
	r->primary.flow_label = 0x16e99;
	r->primary.rate = 3;
	r->primary.hop_limit = 64;
	r->primary.traffic_class = 0x20;
	r->primary.sl = 5;
	r->primary.subnet_local = 1;
	r->primary.ack_timeout = 0x13;
	r->primary.local_lid = 0xfffe;
	r->primary.remote_lid = 0xfffd;
	memset(r->primary.local_gid, 0xa1, 16);
	memset(r->primary.remote_gid, 0xa2, 16);
	r->alternate.local_lid = 0xb0b1;
	memset(r->alternate.local_gid, 0xb1, 16);
	memset(r->alternate.remote_gid, 0xb2, 16);
	r->alternate.ack_timeout = 0x1f;
	r->private_data[0] = 0xc0;
	r->private_data[91] = 0xc1;
	build(&mad, UR_CM_REQ);
	CHECK_EQ(ur_get_be32(body), 0x01020304);
	CHECK_EQ(ur_get_be24(body + 5), 0x050607);
	CHECK_EQ(ur_get_be64(body + 8), 0x1061234);
	CHECK_EQ(ur_get_be64(body + 16), 0x1111111122222222ull);
	CHECK_EQ(ur_get_be32(body + 28), 0x33333333);
	CHECK_EQ(ur_get_be32(body + 32), 0x44444455);
	CHECK_EQ(ur_get_be32(body + 36), 0x66666677);
	CHECK_EQ(ur_get_be32(body + 40), 0x88888800 | 20 << 3 | 3 << 1 | 1);
	CHECK_EQ(ur_get_be32(body + 44), 0x99999900u | 21 << 3 | 7);
	CHECK_EQ(ur_get_be16(body + 48), 0xffff);
	CHECK_EQ(body[50], 3 << 4 | 1 << 3 | 6);
	CHECK_EQ(body[51], 15 << 4 | 1 << 3 | 1);
	CHECK_EQ(ur_get_be32(body + 52), 0xfffefffd);
	CHECK_EQ(body[56], 0xa1);
	CHECK_EQ(body[87], 0xa2);
	CHECK_EQ(ur_get_be32(body + 88), 0x16e99003);
	CHECK_EQ(ur_get_be32(body + 92),
		 0x20400000 | 5 << 12 | 1 << 11 | 0x13 << 3);
	CHECK_EQ(ur_get_be16(body + 96), 0xb0b1);
	CHECK_EQ(body[100], 0xb1);
	CHECK_EQ(body[116], 0xb2);
	CHECK_EQ(body[139], 0x1f << 3);
	CHECK_EQ(body[140], 0xc0);
	CHECK_EQ(body[231], 0xc1);
}

static void test_other_places(void)
{
	struct ur_cm_mad mad = {0};

	mad.u.rep = (struct ur_cm_rep){.local_comm_id = 1,
				       .remote_comm_id = 2,
				       .local_qkey = 3,
				       .local_qpn = 0x040506,
				       .vendor_id = 0xabcdef,
				       .local_eecn = 0x070809,
				       .starting_psn = 0x0a0b0c,
				       .responder_resources = 13,
				       .initiator_depth = 14,
				       .target_ack_delay = 15,
				       .failover_accepted = 2,
				       .flow_control = 1,
				       .rnr_retry_count = 7,
				       .srq = 1,
				       .local_ca_guid = 0x16};
	mad.u.rep.private_data[195] = 0x17;
	build(&mad, UR_CM_REP);
	CHECK_EQ(ur_get_be32(body + 4), 2);
	CHECK_EQ(ur_get_be32(body + 8), 3);
	CHECK_EQ(ur_get_be32(body + 12), 0x040506ab);
	CHECK_EQ(ur_get_be32(body + 16), 0x070809cd);
	CHECK_EQ(ur_get_be32(body + 20), 0x0a0b0cef);
	CHECK_EQ(body[24], 13);
	CHECK_EQ(body[25], 14);
	CHECK_EQ(body[26], 15 << 3 | 2 << 1 | 1);
	CHECK_EQ(body[27], 7 << 5 | 1 << 4);
	CHECK_EQ(ur_get_be64(body + 28), 0x16);
	CHECK_EQ(body[231], 0x17);

	memset(&mad, 0, sizeof(mad));
	mad.u.rej = (struct ur_cm_rej){.answers = 2,
				       .ari_bytes = 8,
				       .reason = 28,
				       .ari = {9},
				       .private_data = {10}};
	build(&mad, UR_CM_REJ);
	CHECK_EQ(body[8], 2 << 6);
	CHECK_EQ(body[9], 8 << 1);
	CHECK_EQ(ur_get_be16(body + 10), 28);
	CHECK_EQ(body[12], 9);
	CHECK_EQ(body[84], 10);

	memset(&mad, 0, sizeof(mad));
	mad.u.mra = (struct ur_cm_mra){
		.answers = 1, .service_timeout = 24, .private_data = {11}};
	build(&mad, UR_CM_MRA);
	CHECK_EQ(body[8], 1 << 6);
	CHECK_EQ(body[9], 24 << 3);
	CHECK_EQ(body[10], 11);

	memset(&mad, 0, sizeof(mad));
	mad.u.dreq = (struct ur_cm_dreq){.remote_qpn = 0x123456,
					 .private_data = {7}};
	build(&mad, UR_CM_DREQ);
	CHECK_EQ(ur_get_be32(body + 8), 0x12345600);
	CHECK_EQ(body[12], 7);

	memset(&mad, 0, sizeof(mad));
	mad.u.sidr_rep = (struct ur_cm_sidr_rep){.request_id = 1,
						 .status = 2,
						 .ari_bytes = 3,
						 .vendor_id = 0xabcdef,
						 .qpn = 0x040506,
						 .service_id = 7,
						 .qkey = 0x01234567,
						 .ari = {8},
						 .private_data = {9}};
	build(&mad, UR_CM_SIDR_REP);
	CHECK_EQ(ur_get_be32(body + 4), 0x0203abcd);
	CHECK_EQ(ur_get_be32(body + 8), 0x040506ef);
	CHECK_EQ(ur_get_be64(body + 12), 7);
	CHECK_EQ(ur_get_be32(body + 20), 0x01234567);
	CHECK_EQ(body[24], 8);
	CHECK_EQ(body[96], 9);

	memset(&mad, 0, sizeof(mad));
	mad.u.sidr_req = (struct ur_cm_sidr_req){.request_id = 1,
						 .pkey = 0xffff,
						 .service_id = 2,
						 .private_data = {3}};
	build(&mad, UR_CM_SIDR_REQ);
	CHECK_EQ(ur_get_be16(body + 4), 0xffff);
	CHECK_EQ(ur_get_be64(body + 8), 2);
	CHECK_EQ(body[16], 3);
}

/* Bits of the body that mean something, by message (IBA 12.6 to 12.11): all
 * less the reserved ones. */
static u32 defined_bits(u16 attr)
{
	switch (attr) {
	case UR_CM_REQ:
		/* bytes 4, 24-27; 88.20-25 and 94.5-7, 95.5-7 of each path */
		return 232 * 8 - 8 - 32 - 2 * (6 + 3 + 3);
	case UR_CM_MRA:
		return 232 * 8 - 6 - 3;
	case UR_CM_REJ:
		return 232 * 8 - 6 - 1;
	case UR_CM_REP:
		return 232 * 8 - 4;
	case UR_CM_DREQ:
		return 232 * 8 - 8;
	case UR_CM_LAP:
		/* bytes 8-11, 15.5-7, 16-19, 58.4-7, 61.0-1, 62.5-7, 63.5-7 */
		return 232 * 8 - 32 - 3 - 32 - 4 - 2 - 3 - 3;
	case UR_CM_APR:
		return 232 * 8 - 16;
	case UR_CM_SIDR_REQ:
		return 232 * 8 - 16;
	default: /* RTU, DREP, SIDR_REP use every bit */
		return 232 * 8;
	}
}

/* A bit is either carried there and back alone, or reserved and dropped. */
static void test_every_bit(u16 attr)
{
	struct ur_cm_mad mad = {.attr = attr};
	u8 in[UR_CM_MAD_BYTES], out[UR_CM_MAD_BYTES];
	u32 carried = 0;

	for (u32 bit = UR_CM_HEADER_BYTES * 8; bit < UR_CM_MAD_BYTES * 8;
	     bit++) {
		memset(&mad, 0, sizeof(mad));
		mad.attr = attr;
		CHECK_EQ(ur_cm_mad_build(&mad, in), 0);
		in[bit / 8] |= (u8)(0x80 >> (bit % 8));
		CHECK_EQ(ur_cm_mad_parse(in, sizeof(in), &mad), 0);
		CHECK_EQ(ur_cm_mad_build(&mad, out), 0);
		if (!memcmp(in, out, sizeof(in))) {
			carried++;
			continue;
		}
		in[bit / 8] = 0;
		CHECK(!memcmp(in, out, sizeof(in)));
	}
	CHECK_EQ(carried, defined_bits(attr));
}

static void test_refusals(void)
{
	struct ur_cm_mad mad = {.attr = UR_CM_DREP};
	u8 bad[UR_CM_MAD_BYTES];

	CHECK_EQ(ur_cm_mad_build(&mad, buf), 0);
	for (size_t len = 0; len < UR_CM_MAD_BYTES; len++)
		CHECK_EQ(ur_cm_mad_parse(buf, len, &mad), (u64)-EINVAL);
	for (u32 i = 0; i < 4; i++) {
		memcpy(bad, buf, sizeof(bad));
		bad[i] ^= 0x80;
		CHECK_EQ(ur_cm_mad_parse(bad, sizeof(bad), &mad), (u64)-EINVAL);
	}
	for (u32 attr = 0; attr < 0x10000; attr++) {
		bool known = attr >= UR_CM_REQ && attr <= UR_CM_APR;

		memcpy(bad, buf, sizeof(bad));
		ur_put_be16(bad + 16, (u16)attr);
		CHECK_EQ(ur_cm_mad_parse(bad, sizeof(bad), &mad),
			 known ? 0 : (u64)-EOPNOTSUPP);
	}
	mad.attr = 0x0f;
	CHECK_EQ(ur_cm_mad_build(&mad, buf), (u64)-EOPNOTSUPP);
}

static void test_private(void)
{
	static const u32 want[] = {92,	222, 148, 196, 224, 220,
				   224, 216, 136, 168, 148};
	struct ur_cm_mad mad = {0};
	u32 bytes;

	for (u16 attr = UR_CM_REQ; attr <= UR_CM_APR; attr++) {
		mad.attr = attr;
		CHECK(ur_cm_mad_private(&mad, &bytes));
		CHECK_EQ(bytes, want[attr - UR_CM_REQ]);
		CHECK(ur_cm_attr_name(attr)[0] != '?');
	}
	mad.attr = 1;
	CHECK(!ur_cm_mad_private(&mad, &bytes));
	CHECK(ur_cm_attr_name(1)[0] == '?');
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_header());
	CASE(test_req_places());
	CASE(test_other_places());
	for (u16 attr = UR_CM_REQ; attr <= UR_CM_APR; attr++)
		CASE(test_every_bit(attr));
	CASE(test_refusals());
	CASE(test_private());
	return cases_status();
}
