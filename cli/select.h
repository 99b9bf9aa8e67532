/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Selects the packets that `uroce trace` and `uroce dump` show: --peer and
 * --qpn. */
#ifndef UR_CLI_SELECT_H
#define UR_CLI_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "transport/frame.h"

struct ur_select {
	bool by_peer, by_qpn, by_far;
	uint8_t peer[16]; /* a GID */
	uint32_t qpn;
	/* the other end, if the queue pair is ours and connected */
	uint32_t far_qpn;
	uint8_t far_gid[16];
};

/* Fills @select from the options; asks the running device, if any, about the
 * queue pair. Returns 0, or an exit status after saying what is wrong. */
int ur_select_init(struct ur_select *select, const struct ur_options *options);

/* Returns whether the packet of an Ethernet frame is wanted. @v1: its type is
 * that of RoCEv1. */
bool ur_select_wants(const struct ur_select *select, bool v1,
		     const uint8_t *packet, size_t len);

#endif
