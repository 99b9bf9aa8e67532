// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Section header, interface and enhanced packet blocks; nothing else. */
#include <string.h>

#include "cli/pcapng.h"

#define SECTION	  0x0a0d0d0au
#define INTERFACE 1
#define PACKET	  6

#define LINKTYPE_ETHERNET 1
#define OPT_COMMENT	  1
#define OPT_IF_NAME	  2
#define OPT_TSRESOL	  9

static void put32(FILE *f, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put16(FILE *f, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static uint32_t padded(size_t len)
{
	return (uint32_t)(len + (-len & 3));
}

/* Writes bytes, padded to a multiple of four. */
static void put_bytes(FILE *f, const void *bytes, size_t len)
{
	static const uint8_t zero[4];

	fwrite(bytes, 1, len, f);
	fwrite(zero, 1, -len & 3, f);
}

static void put_option(FILE *f, uint16_t code, const void *value, size_t len)
{
	put16(f, code);
	put16(f, (uint16_t)len);
	put_bytes(f, value, len);
}

/* Numbers are in host byte order, which the section's magic number shows. */
void ur_pcapng_section(FILE *f)
{
	put32(f, SECTION);
	put32(f, 28);
	put32(f, 0x1a2b3c4d);
	put16(f, 1); /* version 1.0 */
	put16(f, 0);
	put32(f, UINT32_MAX); /* section length: not known */
	put32(f, UINT32_MAX);
	put32(f, 28);
}

void ur_pcapng_interface(FILE *f, const char *name)
{
	static const uint8_t nanoseconds = 9; /* 10^-9 */
	size_t len = strlen(name);
	uint32_t total = 32 + (len ? 4 + padded(len) : 0);

	put32(f, INTERFACE);
	put32(f, total);
	put16(f, LINKTYPE_ETHERNET);
	put16(f, 0);
	put32(f, 0); /* no limit to a packet's length */
	if (len)
		put_option(f, OPT_IF_NAME, name, len);
	put_option(f, OPT_TSRESOL, &nanoseconds, 1);
	put32(f, 0); /* end of options */
	put32(f, total);
}

void ur_pcapng_begin(FILE *f)
{
	ur_pcapng_section(f);
	ur_pcapng_interface(f, "");
}

void ur_pcapng_part(FILE *f, uint32_t interface, uint64_t ns,
		    const uint8_t *packet, size_t len, const char *comment)
{
	size_t words = strlen(comment);
	uint32_t total = 32 + padded(len) + (words ? 8 + padded(words) : 0);

	put32(f, PACKET);
	put32(f, total);
	put32(f, interface);
	put32(f, (uint32_t)(ns >> 32));
	put32(f, (uint32_t)ns);
	put32(f, (uint32_t)len);
	put32(f, (uint32_t)len);
	put_bytes(f, packet, len);
	if (words) {
		put_option(f, OPT_COMMENT, comment, words);
		put32(f, 0); /* end of options */
	}
	put32(f, total);
}

void ur_pcapng_packet(FILE *f, uint64_t ns, const uint8_t *packet, size_t len)
{
	ur_pcapng_part(f, 0, ns, packet, len, "");
}
