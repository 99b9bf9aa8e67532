/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the made-up libibverbs of link/ibverbs.c shows to its test. */
#ifndef UR_PROVIDER_LINK_IBVERBS_H
#define UR_PROVIDER_LINK_IBVERBS_H

#include <stddef.h>
#include <stdint.h>

struct sim_state {
	int nn;
	size_t context_off, ops_bytes, qp_tail;
	const void *driver; /* struct verbs_device_ops */
	void *vctx;
	void *ops[128];
	/* What the plugin registered last, and how: descriptor -1, or where. */
	uint64_t reg_addr, reg_length, reg_iova;
	int reg_access, reg_fd;
};

/* What the made-up device says its speed is. */
#define SIM_SPEED 4321

struct sim_state *sim_get(void);

#endif
