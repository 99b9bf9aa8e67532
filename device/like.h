/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The identity that a device shows to programs that choose cards: names, vendor and part
 * numbers, limits, the order of GIDs. It is uroce's own or that of a real card; then the
 * firmware version marks it as synthetic. libibverbs finds the provider by the modalias,
 * which is always uroce's: the card vendor's library never takes the device for its own.
 */
#ifndef UR_DEVICE_LIKE_H
#define UR_DEVICE_LIKE_H

#include <stddef.h>
#include "util/bytes.h"

/* The limits that a device reports, and that commands enforce. */
struct ur_limits {
	u32 max_qp, max_qp_wr, max_sge, max_sge_rd, max_inline;
	u32 max_cq, max_cqe, max_mr, max_mw, max_pd, max_ah;
	u32 max_srq, max_srq_wr, max_srq_sge;
	u32 max_rd_atom;      /* of a queue pair, as the responder */
	u32 max_init_rd_atom; /* as the requester */
};

struct ur_like {
	const char *word; /* from UR_LIKE_WORDS; NULL: uroce itself */
	const char *name; /* prefix of device names */
	const char *hca_type, *board_id, *hw_rev;
	const char *node_desc;	/* NULL: device and netdev names */
	const char *link_speed; /* of the PCIe slot, 16 lanes */
	u64 fw_ver;		/* major << 32 | minor << 16 | patch */
	u32 vendor_id, vendor_part_id, hw_ver; /* of verbs */
	u16 pci_vendor, pci_device, subsystem_vendor, subsystem_device;
	/* Each address has two GIDs, RoCEv1 at an even index and RoCEv2 behind it.
	 * Otherwise each has a RoCEv2 GID only. */
	bool pairs;
	/* Limits lower than uroce's; 0: as uroce's. */
	struct ur_limits limits;
};

/* Returns the identity for a word of UR_LIKE_WORDS. number: of the word, from 1; 0: uroce
 * itself. */
const struct ur_like *ur_like_at(u32 number);
/* Fills *limits with the lower of uroce's limits and the card's. */
void ur_like_limits(const struct ur_like *like, struct ur_limits *limits);
/* Formats the firmware version; for a card's identity as in "28.39.1002-uroce". */
void ur_like_fw(const struct ur_like *like, char *buf, size_t size);

#endif
