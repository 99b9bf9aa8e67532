// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Classic pcap in the writer's byte order, micro- or nanosecond stamps. A
 * record that was cut off at capture or at the end of the file ends the
 * reading.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/golden/pcap.h"

#define MAGIC_US	 0xa1b2c3d4u
#define MAGIC_NS	 0xa1b23c4du
#define LINK_ETHERNET	 1
#define FILE_HDR_BYTES	 24
#define RECORD_HDR_BYTES 16
#define ETH_HDR_BYTES	 14
#define ETH_VLAN	 0x8100

struct pcap {
	size_t len, pos;
	unsigned int count;
	u32 ns_per_tick;
	u8 data[];
};

static struct pcap *read_file(FILE *f)
{
	struct pcap *p;
	long len;

	if (fseek(f, 0, SEEK_END) || (len = ftell(f)) < FILE_HDR_BYTES ||
	    fseek(f, 0, SEEK_SET))
		return NULL;
	p = calloc(1, sizeof(*p) + (size_t)len);
	if (!p)
		return NULL;
	p->len = (size_t)len;
	if (fread(p->data, 1, p->len, f) != p->len) {
		free(p);
		return NULL;
	}
	return p;
}

struct pcap *pcap_open(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct pcap *p;
	u32 magic;

	if (!f)
		return NULL;
	p = read_file(f);
	fclose(f);
	if (!p)
		return NULL;
	magic = ur_get_le32(p->data);
	if ((magic != MAGIC_US && magic != MAGIC_NS) ||
	    ur_get_le32(p->data + 20) != LINK_ETHERNET) {
		free(p);
		return NULL;
	}
	p->ns_per_tick = magic == MAGIC_NS ? 1 : 1000;
	p->pos = FILE_HDR_BYTES;
	return p;
}

bool pcap_next(struct pcap *p, struct pcap_frame *frame)
{
	const u8 *record = p->data + p->pos;
	size_t len, hdr = ETH_HDR_BYTES;

	if (p->len - p->pos < RECORD_HDR_BYTES)
		return false;
	len = ur_get_le32(record + 8);
	if (len > p->len - p->pos - RECORD_HDR_BYTES || len < ETH_HDR_BYTES ||
	    ur_get_le32(record + 12) != len)
		return false;
	p->pos += RECORD_HDR_BYTES + len;
	*frame = (struct pcap_frame){
		.number = ++p->count,
		.time_ns = ur_get_le32(record) * 1000000000ull +
			   (u64)ur_get_le32(record + 4) * p->ns_per_tick,
		.eth = record + RECORD_HDR_BYTES,
		.eth_bytes = len,
	};
	frame->ethertype = ur_get_be16(frame->eth + 12);
	while (frame->ethertype == ETH_VLAN && len >= hdr + 4) {
		frame->ethertype = ur_get_be16(frame->eth + hdr + 2);
		hdr += 4;
	}
	frame->packet = frame->eth + hdr;
	frame->packet_bytes = len - hdr;
	return true;
}

void pcap_close(struct pcap *p)
{
	free(p);
}

bool pcap_is_roce(const struct pcap_frame *f)
{
	size_t udp = 0;

	if (f->ethertype == 0x8915)
		return true;
	if (f->ethertype == 0x0800 && f->packet_bytes >= 28 &&
	    f->packet[9] == 17)
		udp = (f->packet[0] & 15) * 4u;
	else if (f->ethertype == 0x86dd && f->packet_bytes >= 48 &&
		 f->packet[6] == 17)
		udp = 40;
	return udp && udp + 4 <= f->packet_bytes &&
	       ur_get_be16(f->packet + udp + 2) == 4791;
}
