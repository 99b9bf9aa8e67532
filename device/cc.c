// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sets the default values of congestion control, and passes values to the engine. */
#include "device/cc.h"

#define MBPS 1000000ull

/* Defaults from the DCQCN paper (SIGCOMM 2015), or mlx5's where the paper has none;
 * doc/card.md compares them. */
static const u32 first[UR_CC_VALUES] = {
	[UR_CC_CNP_US] = 50,
	[UR_CC_TIME_RESET_US] = 55,
	[UR_CC_BYTE_RESET_64] = 10000000 / 64,
	[UR_CC_THRESHOLD] = 5,
	[UR_CC_AI_MBPS] = 40,
	[UR_CC_HAI_MBPS] = 400,
	[UR_CC_MIN_MBPS] = 1,
	[UR_CC_DCE_TCP_G] = 1020,
	[UR_CC_DCE_TCP_RTT_US] = 55,
	[UR_CC_INITIAL_ALPHA] = 1023,
	[UR_CC_MIN_DEC_PCT] = 50,
	[UR_CC_GD] = 11,
	[UR_CC_FIRST_MBPS] = 0,
	[UR_CC_MONITOR_US] = 0,
	[UR_CC_CLAMP] = 1,
	[UR_CC_CLAMP_TIME] = 1,
	[UR_CC_MAX_MBPS] = 0,
	[UR_CC_CNP_DSCP] = 48,
	[UR_CC_CNP_PRIO] = 6,
	[UR_CC_ECN] = UR_ECN_RELIABLE,
};

void ur_device_cc_init(struct ur_device *dev)
{
	for (u32 i = 0; i < UR_CC_VALUES; i++)
		dev->cc.value[i] = first[i];
	dev->cc.np = 0xff;
	dev->cc.rp = ur_engine_cc(dev->engine) ? 0xff : 0;
	ur_device_cc_apply(dev);
}

/* Bits per second; 0: unknown. */
static u64 line_rate(const struct ur_device *dev)
{
	u32 mbps = dev->speed_mbps, max = dev->cc.value[UR_CC_MAX_MBPS];

	if (max && (!mbps || max < mbps))
		mbps = max;
	return mbps * MBPS;
}

void ur_device_cc_apply(struct ur_device *dev)
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
		/* 0 would select the default. */
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
		.windowless = v[UR_CC_ECN] != 0,
		.cnp_class = true,
		.cnp_traffic_class = (u8)(v[UR_CC_CNP_DSCP] << 2),
		.cnp_sl = (u8)v[UR_CC_CNP_PRIO],
	};

	ur_engine_set_cc(dev->engine, &c, (u8)v[UR_CC_ECN]);
}
