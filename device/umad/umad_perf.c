// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance management agent of the port (IBA volume 1, 16.1). Anyone can read the
 * counters, and no one can set them.
 */
#include "device/umad/umad.h"
#include "util/assert.h"

#define CLASS_VERSION 1
/* Attributes, 16.1.4. */
#define ATTR_PORT_COUNTERS     0x0012
#define ATTR_PORT_COUNTERS_EXT 0x001d
/* bits of the class's capability mask, 16.1.3.1 */
#define ALL_PORT_SELECT 0x0100
#define EXT_WIDTH	0x0200
#define ALL_PORTS	0xff
/* 4.096 us * 2^18: about a second. */
#define RESP_TIME 18
/* The offset of attributes. */
#define DATA 64

/* A counter saturates at all ones. */
static u32 saturate(u64 v, u32 max)
{
	return v > max ? max : (u32)v;
}

static void put_class_port_info(u8 *data)
{
	data[0] = UR_MAD_BASE_VERSION;
	data[1] = CLASS_VERSION;
	ur_put_be16(data + 2, ALL_PORT_SELECT | EXT_WIDTH);
	ur_put_be32(data + 4, RESP_TIME);
}

/* PortCounters, 16.1.3.5. Counters without a meaning on Ethernet are zero. */
static void put_port_counters(const u64 *cnt, u8 *data)
{
	data[7] = (u8)saturate(cnt[UR_CNT_link_downed], 0xff);
	ur_put_be16(data + 8,
		    (u16)saturate(cnt[UR_CNT_rx_icrc_encapsulated], 0xffff));
	ur_put_be16(data + 14, (u16)saturate(cnt[UR_CNT_send_err], 0xffff));
	ur_put_be32(data + 24,
		    saturate(cnt[UR_CNT_port_xmit_data], UINT32_MAX));
	ur_put_be32(data + 28, saturate(cnt[UR_CNT_port_rcv_data], UINT32_MAX));
	ur_put_be32(data + 32, saturate(cnt[UR_CNT_sent_pkts], UINT32_MAX));
	ur_put_be32(data + 36, saturate(cnt[UR_CNT_rcvd_pkts], UINT32_MAX));
}

/* PortCountersExtended, 16.1.4.11; multicast is not counted separately. */
static void put_extended(const u64 *cnt, u8 *data)
{
	ur_put_be64(data + 8, cnt[UR_CNT_port_xmit_data]);
	ur_put_be64(data + 16, cnt[UR_CNT_port_rcv_data]);
	ur_put_be64(data + 24, cnt[UR_CNT_sent_pkts]);
	ur_put_be64(data + 32, cnt[UR_CNT_rcvd_pkts]);
	ur_put_be64(data + 40, cnt[UR_CNT_sent_pkts]);
	ur_put_be64(data + 48, cnt[UR_CNT_rcvd_pkts]);
}

static u16 check(const struct ur_mad_header *h, const u8 *data)
{
	if (h->class_version != CLASS_VERSION)
		return UR_MAD_BAD_VERSION;
	if (h->method != UR_MAD_GET)
		return UR_MAD_BAD_METHOD_ATTR;
	if (h->attr == UR_MAD_ATTR_CLASS_PORT_INFO)
		return 0;
	if (h->attr != ATTR_PORT_COUNTERS && h->attr != ATTR_PORT_COUNTERS_EXT)
		return UR_MAD_BAD_METHOD_ATTR;
	return data[1] == 1 || data[1] == ALL_PORTS ? 0 : UR_MAD_BAD_FIELD;
}

void umad_perf_answer(struct ur_device *dev, const struct ur_mad_header *h,
		      const u8 *mad, u8 *answer)
{
	u16 status = check(h, mad + DATA);
	u8 *data = answer + DATA;
	u64 cnt[UR_CNT_COUNT];
	u8 port = mad[DATA + 1];

	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_mad_answer(mad, answer, status);
	if (status)
		return;
	memset(data, 0, UR_MAD_BYTES - DATA);
	if (h->attr == UR_MAD_ATTR_CLASS_PORT_INFO) {
		put_class_port_info(data);
		return;
	}
	ur_engine_counters(dev->engine, cnt, NULL);
	data[1] = port;
	if (h->attr == ATTR_PORT_COUNTERS)
		put_port_counters(cnt, data);
	else
		put_extended(cnt, data);
}
