// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Section header, interface and enhanced packet blocks; nothing else. */
#include "cli/pcapng.h"

#define SECTION	  0x0a0d0d0au
#define INTERFACE 1
#define PACKET	  6

#define LINKTYPE_ETHERNET 1
#define OPT_TSRESOL	  9

static void put32(FILE *f, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put16(FILE *f, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

/* Numbers are in our byte order, which the section's magic number tells. */
void ur_pcapng_begin(FILE *f)
{
	put32(f, SECTION);
	put32(f, 28);
	put32(f, 0x1a2b3c4d);
	put16(f, 1); /* version 1.0 */
	put16(f, 0);
	put32(f, UINT32_MAX); /* section length: not known */
	put32(f, UINT32_MAX);
	put32(f, 28);

	put32(f, INTERFACE);
	put32(f, 32);
	put16(f, LINKTYPE_ETHERNET);
	put16(f, 0);
	put32(f, 0); /* no limit to a packet's length */
	put16(f, OPT_TSRESOL);
	put16(f, 1);
	put32(f, 9); /* 10^-9, padded */
	put32(f, 0); /* end of options */
	put32(f, 32);
}

void ur_pcapng_packet(FILE *f, uint64_t ns, const uint8_t *packet, size_t len)
{
	static const uint8_t zero[4];
	uint32_t pad = (uint32_t)(-len & 3);
	uint32_t total = (uint32_t)len + pad + 32;

	put32(f, PACKET);
	put32(f, total);
	put32(f, 0); /* interface */
	put32(f, (uint32_t)(ns >> 32));
	put32(f, (uint32_t)ns);
	put32(f, (uint32_t)len);
	put32(f, (uint32_t)len);
	fwrite(packet, len, 1, f);
	fwrite(zero, pad, 1, f);
	put32(f, total);
}
