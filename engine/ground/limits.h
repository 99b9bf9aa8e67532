/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The limits that the device reports. */
#ifndef UR_ENGINE_GROUND_LIMITS_H
#define UR_ENGINE_GROUND_LIMITS_H

#include "kernel-abi/uroce-ring.h"

/* Major << 32 | minor << 16 | patch, as the provider prints it. */
#define UR_FW_VER                                                              \
	(((uint64_t)UROCE_VERSION_MAJOR << 32) | (UROCE_VERSION_MINOR << 16) | \
	 UROCE_VERSION_PATCH)
#define UR_HW_VER 1

#define UR_MAX_DEVICES	   32
#define UR_MAX_QP	   1048560    /* 2^20 - 16 */
#define UR_MAX_QP_WR	   (1u << 16) /* rings of 128 MiB */
#define UR_MAX_CQ	   (1u << 20)
#define UR_MAX_CQE	   (1u << 20)
#define UR_MAX_SRQ	   (1u << 20)
#define UR_MAX_SRQ_WR	   (1u << 16)
#define UR_MAX_SGE_COUNT   UROCE_MAX_SGE
#define UR_MAX_INLINE	   UROCE_MAX_INLINE
#define UR_MAX_RES_RD_ATOM 0x3f000
#define UR_MAX_MR	   (1u << 20)
#define UR_MAX_MW	   (1u << 20)
#define UR_MAX_PD	   (1u << 20)
#define UR_MAX_XRCD	   (1u << 16)
#define UR_MAX_AH	   (1u << 20)
#define UR_MAX_DM_BYTES	   (16u << 20)
#define UR_MAX_FLOW	   (1u << 16)
#define UR_MAX_COUNTERS	   (1u << 16)
#define UR_MAX_WQ	   (1u << 16)
#define UR_MAX_RWQ_TABLE   (1u << 16)
/* Kilobits per second: more than any port has. */
#define UR_MAX_RATE_KBPS 800000000u
#define UR_CA_ACK_DELAY	 15
/* Most handles of one file, so that it cannot exhaust the memory for others. */
#define UR_MAX_HANDLES (1u << 22)

#endif
