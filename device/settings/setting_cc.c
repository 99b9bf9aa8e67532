// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Congestion control, with mlx5's names and units: ecn/roce_np (notification point, which
 * responds to marked packets) and ecn/roce_rp (reaction point, which lowers rates) below
 * the network interface. tc/1/ecn is our own: which traffic is ECT(0) if its program does
 * not request ECN.
 */
#include <errno.h>
#include <stdio.h>
#include "device/cc.h"
#include "device/settings/setting.h"

/* mlx5's limits of struct ur_cc_values. */
static const struct {
	u32 min, max;
} limits[UR_CC_VALUES] = {
	[UR_CC_CNP_US] = {0, 4095},
	[UR_CC_TIME_RESET_US] = {1, 131071},
	[UR_CC_BYTE_RESET_64] = {1, 32767 * 64},
	[UR_CC_THRESHOLD] = {1, 31},
	[UR_CC_AI_MBPS] = {1, 1000000},
	[UR_CC_HAI_MBPS] = {1, 1000000},
	[UR_CC_MIN_MBPS] = {1, 1000000},
	[UR_CC_DCE_TCP_G] = {1, 1023},
	[UR_CC_DCE_TCP_RTT_US] = {1, 131071},
	[UR_CC_INITIAL_ALPHA] = {1, 1023},
	[UR_CC_MIN_DEC_PCT] = {0, 100},
	[UR_CC_GD] = {10, 11},
	[UR_CC_FIRST_MBPS] = {0, 1000000},
	[UR_CC_MONITOR_US] = {0, 131071},
	[UR_CC_CLAMP] = {0, 1},
	[UR_CC_CLAMP_TIME] = {0, 1},
	[UR_CC_MAX_MBPS] = {0, 1000000},
	[UR_CC_CNP_DSCP] = {0, 63},
	[UR_CC_CNP_PRIO] = {0, 7},
	[UR_CC_ECN] = {0, UR_ECN_ALL},
};

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
	ur_device_cc_apply(dev);
	if (arg == UR_CC_ECN)
		ur_device_class_changed(dev);
	return 0;
}

/* arg: the priority (service level), plus 8 for the reaction point. */
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
	ur_device_cc_apply(dev);
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
