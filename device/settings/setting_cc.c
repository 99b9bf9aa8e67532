// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Congestion control, under the names and in the units of mlx5: ecn/roce_np (the
 * notification point, which answers marked packets) and ecn/roce_rp (the
 * reaction point, which lowers rates) below the network interface. The values at
 * first are those of the paper (SIGCOMM 2015), and mlx5's where it has none:
 * doc/card.md compares them. tc/1/ecn is our own: which traffic is ECT(0) where its
 * program asks for no ECN.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "device/settings/setting.h"

#define MBPS 1000000ull

/* The limits of struct ur_cc_values; max as mlx5 has them. */
static const struct {
	u32 min, max, first;
} limits[UR_CC_VALUES] = {
	[UR_CC_CNP_US] = {0, 4095, 50},
	[UR_CC_TIME_RESET_US] = {1, 131071, 55},
	[UR_CC_BYTE_RESET_64] = {1, 32767 * 64, 10000000 / 64},
	[UR_CC_THRESHOLD] = {1, 31, 5},
	[UR_CC_AI_MBPS] = {1, 1000000, 40},
	[UR_CC_HAI_MBPS] = {1, 1000000, 400},
	[UR_CC_MIN_MBPS] = {1, 1000000, 1},
	[UR_CC_DCE_TCP_G] = {1, 1023, 1020},
	[UR_CC_DCE_TCP_RTT_US] = {1, 131071, 55},
	[UR_CC_INITIAL_ALPHA] = {1, 1023, 1023},
	[UR_CC_MIN_DEC_PCT] = {0, 100, 50},
	[UR_CC_GD] = {10, 11, 11},
	[UR_CC_FIRST_MBPS] = {0, 1000000, 0},
	[UR_CC_MONITOR_US] = {0, 131071, 0},
	[UR_CC_CLAMP] = {0, 1, 1},
	[UR_CC_CLAMP_TIME] = {0, 1, 1},
	[UR_CC_MAX_MBPS] = {0, 1000000, 0},
	[UR_CC_CNP_DSCP] = {0, 63, 48},
	[UR_CC_CNP_PRIO] = {0, 7, 6},
	[UR_CC_ECN] = {0, UR_ECN_ALL, UR_ECN_RELIABLE},
};

void ur_setting_cc_init(struct ur_device *dev)
{
	for (u32 i = 0; i < UR_CC_VALUES; i++)
		dev->cc.value[i] = limits[i].first;
	dev->cc.np = 0xff;
	dev->cc.rp = ur_engine_cc(dev->engine) ? 0xff : 0;
	ur_setting_cc_apply(dev);
}

/* Bits per second; 0: unknown. */
static u64 line_rate(const struct ur_device *dev)
{
	u32 mbps = dev->speed_mbps, max = dev->cc.value[UR_CC_MAX_MBPS];

	if (max && (!mbps || max < mbps))
		mbps = max;
	return mbps * MBPS;
}

void ur_setting_cc_apply(struct ur_device *dev)
{
	const u32 *v = dev->cc.value;
	struct ur_cc_config c = {
		.enable = dev->cc.rp != 0,
		.rp_off = (u8)~dev->cc.rp,
		.np_off = (u8)~dev->cc.np,
		.link_bps = line_rate(dev),
		.min_rate_bps = v[UR_CC_MIN_MBPS] * MBPS,
		.ai_bps = v[UR_CC_AI_MBPS] * MBPS,
		.hai_bps = v[UR_CC_HAI_MBPS] * MBPS,
		.g_1024 = 1024 - v[UR_CC_DCE_TCP_G],
		.alpha_period_ns = v[UR_CC_DCE_TCP_RTT_US] * 1000ull,
		.rate_timer_ns = v[UR_CC_TIME_RESET_US] * 1000ull,
		/* 0 would be the default. */
		.cnp_interval_ns =
			v[UR_CC_CNP_US] ? v[UR_CC_CNP_US] * 1000ull : 1,
		.byte_counter = v[UR_CC_BYTE_RESET_64] * 64ull,
		.fast_recovery_stages = v[UR_CC_THRESHOLD],
		.initial_alpha_1024 = v[UR_CC_INITIAL_ALPHA] + 1,
		.min_dec_pct = v[UR_CC_MIN_DEC_PCT],
		.gd = v[UR_CC_GD],
		.first_bps = v[UR_CC_FIRST_MBPS] * MBPS,
		.monitor_ns = v[UR_CC_MONITOR_US] * 1000ull,
		.keep_target = !v[UR_CC_CLAMP],
		.keep_time = !v[UR_CC_CLAMP_TIME],
		.uc = v[UR_CC_ECN] != 0,
		.cnp_class = true,
		.cnp_traffic_class = (u8)(v[UR_CC_CNP_DSCP] << 2),
		.cnp_sl = (u8)v[UR_CC_CNP_PRIO],
	};

	ur_engine_set_cc(dev->engine, &c, (u8)v[UR_CC_ECN]);
}

static void show_cc(const struct ur_device *dev, u32 arg, char *buf,
		    size_t size)
{
	snprintf(buf, size, "%u\n", dev->cc.value[arg]);
}

static int store(struct ur_device *dev, u32 arg, const char *text)
{
	int err = ur_setting_number(text, limits[arg].min, limits[arg].max,
				    &dev->cc.value[arg]);

	if (err)
		return err;
	ur_setting_cc_apply(dev);
	if (arg == UR_CC_ECN)
		ur_device_class_changed(dev);
	return 0;
}

/* arg: the priority, which is the service level; 8 + priority: of the reaction
 * point. */
static void show_enable(const struct ur_device *dev, u32 arg, char *buf,
			size_t size)
{
	u8 mask = arg & 8 ? dev->cc.rp : dev->cc.np;

	snprintf(buf, size, "%u\n", mask >> (arg & 7) & 1);
}

static int store_enable(struct ur_device *dev, u32 arg, const char *text)
{
	u8 *mask = arg & 8 ? &dev->cc.rp : &dev->cc.np;
	u32 on;
	int err = ur_setting_number(text, 0, 1, &on);

	if (err)
		return err;
	*mask = (u8)((*mask & ~(1u << (arg & 7))) | on << (arg & 7));
	ur_setting_cc_apply(dev);
	return 0;
}

#define RP(name, arg)                                                          \
	{                                                                      \
		UR_SETTING_NET, "ecn/roce_rp/" name, name, arg, show_cc, store \
	}
#define ENABLE(p)                                                        \
	{UR_SETTING_NET, "ecn/roce_np/enable/" #p, NULL, p, show_enable, \
	 store_enable},                                                  \
	{                                                                \
		UR_SETTING_NET, "ecn/roce_rp/enable/" #p, NULL, 8 + p,   \
			show_enable, store_enable                        \
	}

static const struct ur_setting list[] = {
	{UR_SETTING_IB, "tc/1/ecn", "ecn", UR_CC_ECN, show_cc, store},
	{UR_SETTING_NET, "ecn/roce_np/min_time_between_cnps",
	 "min_time_between_cnps", UR_CC_CNP_US, show_cc, store},
	{UR_SETTING_NET, "ecn/roce_np/cnp_dscp", "cnp_dscp", UR_CC_CNP_DSCP,
	 show_cc, store},
	{UR_SETTING_NET, "ecn/roce_np/cnp_802p_prio", "cnp_802p_prio",
	 UR_CC_CNP_PRIO, show_cc, store},
	RP("rpg_time_reset", UR_CC_TIME_RESET_US),
	RP("rpg_byte_reset", UR_CC_BYTE_RESET_64),
	RP("rpg_threshold", UR_CC_THRESHOLD),
	RP("rpg_ai_rate", UR_CC_AI_MBPS),
	RP("rpg_hai_rate", UR_CC_HAI_MBPS),
	RP("rpg_min_rate", UR_CC_MIN_MBPS),
	RP("rpg_min_dec_fac", UR_CC_MIN_DEC_PCT),
	RP("rpg_gd", UR_CC_GD),
	RP("dce_tcp_g", UR_CC_DCE_TCP_G),
	RP("dce_tcp_rtt", UR_CC_DCE_TCP_RTT_US),
	RP("initial_alpha_value", UR_CC_INITIAL_ALPHA),
	RP("rate_to_set_on_first_cnp", UR_CC_FIRST_MBPS),
	RP("rate_reduce_monitor_period", UR_CC_MONITOR_US),
	RP("clamp_tgt_rate", UR_CC_CLAMP),
	RP("clamp_tgt_rate_after_time_inc", UR_CC_CLAMP_TIME),
	RP("rpg_max_rate", UR_CC_MAX_MBPS),
	ENABLE(0),
	ENABLE(1),
	ENABLE(2),
	ENABLE(3),
	ENABLE(4),
	ENABLE(5),
	ENABLE(6),
	ENABLE(7),
};

const struct ur_settings ur_settings_cc = {list, UR_ARRAY_SIZE(list)};
