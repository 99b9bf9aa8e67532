/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One packet as one line of text, for traces, tests and people. Needs no
 * stdio, so the transport itself may call it.
 */
#ifndef UR_TRANSPORT_DUMP_H
#define UR_TRANSPORT_DUMP_H

#include "transport/frame.h"
#include "transport/packet.h"

/* Enough for any packet with addresses. */
#define UR_DUMP_BYTES 320

/*
 * "RC WRITE_FIRST dqpn 0x11 psn 123 va 0x7f00 rkey 0x1234 dmalen 4096 len
 * 1024": a parsed packet into buf. Flags and the partition appear when not
 * usual. Cut to size (at least 1) and always terminated; returns the length
 * written.
 */
size_t ur_pkt_dump(char *buf, size_t size, const struct ur_pkt *pkt);

/*
 * The same with addresses in front: "10.0.0.1 > 10.0.0.2 sport 49169 ...".
 * Says what is wrong where the packet does not parse. error is the verdict
 * that ur_frame_parse() gave for f; only UR_FRAME_OK and UR_FRAME_ICRC have
 * more to show than the verdict.
 */
size_t ur_frame_dump(char *buf, size_t size, const struct ur_frame *f,
		     enum ur_frame_error error);

#endif
