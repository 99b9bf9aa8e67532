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
#define UR_DUMP_BYTES 384

/*
 * Writes a parsed packet to buf: "RC WRITE_FIRST dqpn 0x11 psn 123 va 0x7f00
 * rkey 0x1234 dmalen 4096 len 1024". A datagram of the connection manager ends
 * with the name of its message, "ConnectRequest". Flags and the partition appear
 * where they are not the usual ones. The text is cut to size (at least 1) and always
 * terminated. Returns its length.
 */
size_t ur_pkt_dump(char *buf, size_t size, const struct ur_pkt *pkt);

/*
 * Does the same with addresses in front: "10.0.0.1 > 10.0.0.2 sport 49169 dscp
 * 26 ect0 ttl 64 ...". A GRH has no DSCP: "10.0.0.1 > 10.0.0.2 v1 tclass 0 ttl
 * 64". If the packet does not parse, the text says why. error: what
 * ur_frame_parse() returned for f; only UR_FRAME_OK and UR_FRAME_ICRC have more
 * to show than the verdict.
 */
size_t ur_frame_dump(char *buf, size_t size, const struct ur_frame *f,
		     enum ur_frame_error error);

#endif
