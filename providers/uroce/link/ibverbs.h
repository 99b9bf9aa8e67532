/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of the made-up libibverbs of link/ibverbs.c, for its test. */
#ifndef UR_PROVIDERS_UROCE_LINK_IBVERBS_H
#define UR_PROVIDERS_UROCE_LINK_IBVERBS_H

#include <stddef.h>
#include <stdint.h>

struct sim_state {
	int nn;
	size_t context_off, ops_bytes, qp_tail;
	const void *driver; /* struct verbs_device_ops */
	void *vctx;
	void *ops[128];
	/* the last registration of the plugin; reg_fd -1: of ordinary memory */
	uint64_t reg_addr, reg_length, reg_iova;
	int reg_access, reg_fd;
};

/* The speed of the made-up device. */
#define SIM_SPEED 4321

struct sim_state *sim_get(void);

#endif
