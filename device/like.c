// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The cards that a device may imitate, one row each. doc/discovery.md has the sources of
 * the numbers. */
#include <stdio.h>
#include <string.h>
#include "device/like.h"
#include "engine/engine.h"
#include "engine/ground/limits.h"
#include "kernel-abi/uroce-abi.h"
#include "util/assert.h"
#include "util/like_words.h"

#define FW(major, minor, patch) \
	((u64)(major) << 32 | (u64)(minor) << 16 | (patch))

/* In the order of UR_LIKE_WORDS, behind uroce itself. */
static const struct ur_like table[] = {
	{
		.name = "uroce",
		.hca_type = "uroce",
		.board_id = "uroce",
		.hw_rev = "0x1",
		.link_speed = "16.0 GT/s PCIe",
		.fw_ver = UR_FW_VER,
		.vendor_id = UROCE_VENDOR_ID,
		.vendor_part_id = UROCE_VENDOR_PART_ID,
		.hw_ver = UR_HW_VER,
		.pci_vendor = UROCE_VENDOR_ID & 0xffff,
		.pci_device = UROCE_VENDOR_PART_ID,
		.subsystem_vendor = UROCE_VENDOR_ID & 0xffff,
		.subsystem_device = UROCE_VENDOR_PART_ID,
	},
	{
		.word = "cx7",
		.name = "mlx5_",
		.hca_type = "MT4129",
		.board_id = "MT_0000000838",
		.hw_rev = "0",
		.node_desc = "MT4129 ConnectX7   Mellanox Technologies",
		.link_speed = "32.0 GT/s PCIe",
		.fw_ver = FW(28, 39, 1002),
		.vendor_id = 0x02c9,
		.vendor_part_id = 4129,
		.pci_vendor = 0x15b3,
		.pci_device = 0x1021,
		.subsystem_vendor = 0x15b3,
		.subsystem_device = 0x0041,
		.pairs = true,
		.limits = {.max_qp = 131072,
			   .max_qp_wr = 32768,
			   .max_sge = 30,
			   .max_sge_rd = 30,
			   .max_srq_wr = 32767,
			   .max_srq_sge = 31,
			   .max_rd_atom = 16,
			   .max_init_rd_atom = 16},
	},
	{
		.word = "bnxt",
		.name = "bnxt_re",
		.hca_type = "Broadcom NetXtreme-C/E RoCE Driver HCA",
		.board_id = "uroce",
		.hw_rev = "0x14e4",
		.node_desc = "Broadcom NetXtreme-C/E RoCE Driver HCA",
		.link_speed = "32.0 GT/s PCIe",
		.fw_ver = FW(238, 1, 138),
		.vendor_id = 0x14e4,
		.vendor_part_id = 0x1760,
		.hw_ver = 0x9110,
		.pci_vendor = 0x14e4,
		.pci_device = 0x1760,
		.subsystem_vendor = 0x14e4,
		.subsystem_device = 0x9110,
		.pairs = true,
		.limits = {.max_qp = 131073,
			   .max_qp_wr = 4351,
			   .max_sge = 13,
			   .max_sge_rd = 13,
			   .max_cq = 65536,
			   .max_pd = 65536,
			   .max_rd_atom = 126,
			   .max_init_rd_atom = 126},
	},
	{
		.word = "irdma",
		.name = "irdma",
		.hca_type = "uroce",
		.board_id = "uroce",
		.hw_rev = "0x2",
		.link_speed = "16.0 GT/s PCIe",
		.fw_ver = FW(1, 54, 0),
		.vendor_id = 0x8086,
		.vendor_part_id = 0x1592,
		.hw_ver = 2,
		.pci_vendor = 0x8086,
		.pci_device = 0x1592,
		.subsystem_vendor = 0x8086,
		.subsystem_device = 0x0002,
		.limits = {.max_qp = 65533,
			   .max_qp_wr = 4063,
			   .max_sge = 13,
			   .max_sge_rd = 13,
			   .max_inline = 101,
			   .max_cq = 131069,
			   .max_cqe = 1048574,
			   .max_mr = 2097150,
			   .max_mw = 2097150,
			   .max_pd = 262141,
			   .max_ah = 131072,
			   .max_rd_atom = 127,
			   .max_init_rd_atom = 255},
	},
};

static const struct ur_limits own = {
	.max_qp = UR_MAX_QP,
	.max_qp_wr = UR_MAX_QP_WR,
	.max_sge = UR_MAX_SGE_COUNT,
	.max_sge_rd = UR_MAX_SGE_COUNT,
	.max_inline = UR_MAX_INLINE,
	.max_cq = UR_MAX_CQ,
	.max_cqe = UR_MAX_CQE,
	.max_mr = UR_MAX_MR,
	.max_mw = UR_MAX_MW,
	.max_pd = UR_MAX_PD,
	.max_ah = UR_MAX_AH,
	.max_srq = UR_MAX_SRQ,
	.max_srq_wr = UR_MAX_SRQ_WR,
	.max_srq_sge = UR_MAX_SGE_COUNT,
	.max_rd_atom = UR_MAX_RD_ATOMIC,
	.max_init_rd_atom = UR_MAX_RD_ATOMIC,
};

_Static_assert(sizeof(own) % sizeof(u32) == 0, "nothing but numbers");

const struct ur_like *ur_like_at(u32 number)
{
	const struct ur_like *like;

	ur_assert(number < UR_ARRAY_SIZE(table));
	like = &table[number];
	ur_assert(!like->word || strstr(UR_LIKE_WORDS, like->word));
	return like;
}

void ur_like_limits(const struct ur_like *like, struct ur_limits *limits)
{
	u32 of_uroce[sizeof(own) / sizeof(u32)];
	u32 of_card[sizeof(own) / sizeof(u32)];

	memcpy(of_uroce, &own, sizeof(own));
	memcpy(of_card, &like->limits, sizeof(like->limits));
	for (u32 i = 0; i < UR_ARRAY_SIZE(of_card); i++)
		if (of_card[i])
			of_uroce[i] = ur_min_u32(of_uroce[i], of_card[i]);
	memcpy(limits, of_uroce, sizeof(*limits));
}

void ur_like_fw(const struct ur_like *like, char *buf, size_t size)
{
	u64 fw = like->fw_ver;

	snprintf(buf, size, "%u.%u.%u%s", (u32)(fw >> 32) & 0xffff,
		 (u32)(fw >> 16) & 0xffff, (u32)fw & 0xffff,
		 like->word ? "-uroce" : "");
}
