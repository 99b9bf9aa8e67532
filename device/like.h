/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The look of a device to programs that choose cards: names, numbers of vendors
 * and parts, limits, the order of GIDs. It is uroce's own, or that of a card, which
 * the version of the firmware then marks as synthetic. libibverbs finds the provider
 * by the modalias, which is uroce's whatever the device looks like: no library of the
 * card's vendor takes it for its own.
 */
#ifndef UR_DEVICE_LIKE_H
#define UR_DEVICE_LIKE_H

#include <stddef.h>
#include "util/bytes.h"

/* The limits that attributes of a device tell, and that commands are held to. */
struct ur_limits {
	u32 max_qp, max_qp_wr, max_sge, max_sge_rd, max_inline;
	u32 max_cq, max_cqe, max_mr, max_mw, max_pd, max_ah;
	u32 max_srq, max_srq_wr, max_srq_sge;
	u32 max_rd_atom;      /* of a queue pair, as the responder */
	u32 max_init_rd_atom; /* as the requester */
};

struct ur_like {
	const char *word; /* of UR_LIKE_WORDS; NULL: uroce itself */
	const char *name; /* of devices, before their numbers */
	const char *hca_type, *board_id, *hw_rev;
	const char *node_desc;	/* NULL: it names the device and its netdev */
	const char *link_speed; /* of its slot, 16 lanes */
	u64 fw_ver;		/* major << 32 | minor << 16 | patch */
	u32 vendor_id, vendor_part_id, hw_ver; /* of verbs */
	u16 pci_vendor, pci_device, subsystem_vendor, subsystem_device;
	/* Each address has two GIDs, RoCEv1 at an even index and RoCEv2 behind it; else
	 * RoCEv2 alone. */
	bool pairs;
	/* Those that are lower than uroce's; 0: uroce's. */
	struct ur_limits limits;
};

/* Returns what the word at that place of UR_LIKE_WORDS stands for, from 1; of place 0
 * uroce itself. */
const struct ur_like *ur_like_at(u32 place);
/* Fills *limits with what a device that looks like @like keeps: the lower of uroce's
 * and the card's. */
void ur_like_limits(const struct ur_like *like, struct ur_limits *limits);
/* Prints the version of the firmware, "28.39.1002-uroce" of a card's. */
void ur_like_fw(const struct ur_like *like, char *buf, size_t size);

#endif
