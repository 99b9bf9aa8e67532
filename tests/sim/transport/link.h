/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The network: every packet becomes a whole IP packet with its ICRC, and may
 * be lost, doubled, delayed, overtaken, damaged, cut short or marked.
 */
#ifndef UR_TESTS_SIM_TRANSPORT_LINK_H
#define UR_TESTS_SIM_TRANSPORT_LINK_H

#include "tests/sim/transport/world.h"

struct sim_frame {
	struct sim_frame *next;	      /* in a host's receive queue */
	struct sim_frame *up, **link; /* all frames, to free them */
	struct sim_host *src, *dst;
	bool damaged; /* a bit that the ICRC covers was changed */
	bool cut;
	u32 len;
	u8 data[]; /* room for the whole packet with its ICRC */
};

/* Put len bytes of BTH..pad on src's line, which is free at line_free; returns
 * when it is free again. */
ur_time link_send(struct sim_host *src, const struct ur_av *av, const u8 *bth,
		  u32 len, ur_time line_free);

/* Check a frame as a receiver does. false: it must be dropped. A damaged frame
 * that looks right is a violation. */
bool link_receive(struct sim_world *w, const struct sim_frame *f,
		  struct ur_frame *ret, struct ur_rx_meta *meta);

void link_free(struct sim_frame *f);
void link_free_all(struct sim_world *w);

#endif
