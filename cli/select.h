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

/* Fills *select from the options, with the peer of the queue pair from the running device,
 * if any. Returns 0, or an exit status after a message on stderr. */
int ur_select_init(struct ur_select *select, const struct ur_options *options);

/* Returns whether the packet in an Ethernet frame is selected. v1: its EtherType is
 * RoCEv1's. */
bool ur_select_wants(const struct ur_select *select, bool v1,
		     const uint8_t *packet, size_t len);

#endif
