/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A reader for classic pcap files with Ethernet frames, as small as the
 * captures in this folder need it.
 *
 *	struct pcap *p = pcap_open(path);
 *	while (pcap_next(p, &frame))
 *		...
 *	pcap_close(p);
 */
#ifndef UR_TESTS_GOLDEN_PCAP_H
#define UR_TESTS_GOLDEN_PCAP_H

#include "util/bytes.h"

struct pcap;

/* One captured frame; valid until pcap_close(). */
struct pcap_frame {
	unsigned int number; /* from 1, as Wireshark counts */
	u64 time_ns;
	const u8 *eth; /* Ethernet header */
	size_t eth_bytes;
	u16 ethertype;	  /* behind VLAN tags */
	const u8 *packet; /* behind the Ethernet header */
	size_t packet_bytes;
};

/* Read a whole file; NULL when it cannot be read or is no such pcap. */
struct pcap *pcap_open(const char *path);
bool pcap_next(struct pcap *p, struct pcap_frame *frame);
void pcap_close(struct pcap *p);

/* Could the frame be RoCE: UDP port 4791 over IPv4 or IPv6, or Ethernet type
 * 0x8915? */
bool pcap_is_roce(const struct pcap_frame *frame);

#endif
