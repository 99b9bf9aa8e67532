// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The attributes of a device's port, from its netdev and its engine.
 */
#include "device/port.h"

u32 ur_mtu_enum(u32 bytes)
{
	for (u32 e = 1; e <= 5; e++)
		if (128u << e == bytes)
			return e;
	return 0;
}

/* The speed of a netdev that reports none, in Mbit/s: that of a veth (Linux,
 * veth_get_link_ksettings()). Programs choose cards by it. */
#define UNKNOWN_MBPS 10000

/* Width and speed codes of Ethernet rates, as the kernel maps them. */
static void link_rate(u32 mbps, u8 *width, u8 *speed)
{
	static const struct {
		u32 mbps;
		u8 width, speed;
	} rate[] = {
		{1000, 1, 1},	  /* 1X SDR */
		{10000, 1, 8},	  /* 1X FDR10 */
		{20000, 2, 2},	  /* 4X DDR */
		{25000, 1, 32},	  /* 1X EDR */
		{40000, 2, 8},	  /* 4X FDR10 */
		{50000, 16, 32},  /* 2X EDR */
		{100000, 2, 32},  /* 4X EDR */
		{200000, 2, 64},  /* 4X HDR */
		{400000, 2, 128}, /* 4X NDR */
	};
	u32 i = 0;

	if (!mbps)
		mbps = UNKNOWN_MBPS;
	while (i + 1 < UR_ARRAY_SIZE(rate) && mbps > rate[i].mbps)
		i++;
	*width = rate[i].width;
	*speed = rate[i].speed;
}

u32 ur_port_rate10(const struct ib_uverbs_query_port_resp *r)
{
	u32 lanes = r->active_width == 2 ? 4 : r->active_width == 16 ? 2 : 1;
	u32 lane10 = 25;

	switch (r->active_speed) {
	case 2:
		lane10 = 50;
		break;
	case 4:
	case 8:
		lane10 = 100;
		break;
	case 16:
		lane10 = 140;
		break;
	case 32:
		lane10 = 250;
		break;
	case 64:
		lane10 = 500;
		break;
	case 128:
		lane10 = 1000;
		break;
	}
	return lanes * lane10;
}

/* Returns the configured speed, or the netdev's, in Mbit/s; 0: unknown. */
static u32 speed_of(const struct ur_device *dev)
{
	return dev->daemon->speed_mbps ? dev->daemon->speed_mbps
				       : dev->speed_mbps;
}

u32 ur_port_speed100(struct ur_device *dev)
{
	struct ib_uverbs_query_port_resp r = {0};

	if (speed_of(dev))
		return (speed_of(dev) + 99) / 100;
	link_rate(0, &r.active_width, &r.active_speed);
	return ur_port_rate10(&r);
}

void ur_fill_port(struct ur_device *dev, struct ib_uverbs_query_port_resp *r)
{
	u64 cnt[UR_CNT_COUNT];
	bool active = ur_device_port_active(dev);

	ur_engine_counters(dev->engine, cnt, NULL);
	r->port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS;
	r->max_msg_sz = UR_MAX_MSG_BYTES;
	r->bad_pkey_cntr = (u32)cnt[UR_CNT_bad_pkey];
	r->qkey_viol_cntr = (u32)cnt[UR_CNT_bad_qkey];
	r->gid_tbl_len = UR_GID_MAX;
	r->pkey_tbl_len = 1;
	r->state = active ? 4 : 1;	/* ACTIVE, DOWN */
	r->phys_state = active ? 5 : 3; /* LINK_UP, DISABLED */
	r->max_mtu = 5;
	r->active_mtu = (u8)ur_mtu_enum(dev->mtu_bytes);
	r->max_vl_num = 1;
	r->subnet_timeout = 0;
	link_rate(speed_of(dev), &r->active_width, &r->active_speed);
	r->link_layer = 2; /* Ethernet */
	r->flags = IB_UVERBS_QPF_GRH_REQUIRED;
}
