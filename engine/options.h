/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's options: engine_options.c. */
#ifndef UR_ENGINE_OPTIONS_H
#define UR_ENGINE_OPTIONS_H

#include "util/bytes.h"

struct ur_engine_options {
	u32 spin_us;  /* poll this long after the last work before sleeping */
	u32 slice_us; /* scheduler slices; 0: a little below the system's */
	u32 tx_bytes; /* burst buffer */
	bool hold;    /* hold the processor while waiting where that pays */
	bool gso, gro;
	bool loop; /* transport's in-device path */
	bool coalesce, credits, ooo;
	bool aimd;     /* send less into a congested path */
	bool path;     /* the same, by a window for each peer address */
	bool fast;     /* transport's short way for middle packets */
	bool trains;   /* send whole UDP_SEGMENT messages where that can be */
	bool one_port; /* one source port to a peer, where there is one path */
	bool guests; /* the device's programs may have their engines in themselves */
	bool cc; /* DCQCN reaction point: paces by CNPs */
};

/* Fills *o with the defaults, then with what text ("name=value,...", or NULL)
 * says. Returns 0, or -EINVAL with a line on stderr. */
int ur_engine_options_parse(struct ur_engine_options *o, const char *text);

/* Returns the switches that are off, as bits for an engine in a program or an engine
 * process (UROCE_ENGINE_NO_*). Options without a bit are the device's alone. */
u32 ur_engine_options_off(const struct ur_engine_options *o);
/* In such an engine: takes these bits, and the bytes of the burst buffer; a size that is
 * out of range leaves the default. */
void ur_engine_options_apply(struct ur_engine_options *o, u32 off,
			     u32 tx_bytes);

#endif
