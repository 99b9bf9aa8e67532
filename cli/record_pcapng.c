// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes packets of records for Wireshark: the original headers, and a comment with the
 * owner. Payload is not recorded. It is written as zeros, with a matching ICRC, since
 * Wireshark's dissector takes a truncated packet for a bad one.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/pcapng.h"
#include "cli/record.h"
#include "transport/frame.h"

#define ETH_BYTES 14

static void put_ethernet(uint8_t *frame, enum ur_frame_kind kind)
{
	uint16_t type = kind == UR_FRAME_V1   ? UR_ROCE_V1_ETHERTYPE
			: kind == UR_FRAME_V4 ? 0x0800
					      : 0x86dd;

	/* The MAC addresses are unknown. */
	memset(frame, 0, ETH_BYTES);
	ur_put_be16(frame + 12, type);
}

static size_t comment(const struct ur_record *record,
		      const struct ur_record_event *e, char *buf, size_t size)
{
	const struct ur_record_qp *qp = &record->qps[e->qp];
	size_t n = 0;

	if (e->send != UR_RECORD_NONE)
		n += (size_t)snprintf(
			buf + n, size - n, "wr_id=%" PRIu64 " ",
			(uint64_t)record->events[e->send].r.wr_id);
	n += (size_t)snprintf(
		buf + n, size - n, "pid=%u %s%s%sqp=0x%06x %s%s", qp->pid,
		*qp->comm ? "comm=" : "", qp->comm, *qp->comm ? " " : "",
		qp->qpn, e->r.kind == UROCE_RECORD_PACKET_OUT ? "out" : "in",
		e->resent     ? " resent"
		: e->vanished ? " lost"
			      : "");
	if (e->resent && e->vanished)
		n += (size_t)snprintf(buf + n, size - n, " lost");
	return n;
}

static void put_packet(const struct ur_record *record,
		       const struct ur_record_event *e, FILE *f)
{
	const struct uroce_record_packet *p = e->packet;
	bool v1 = p->flags & UROCE_RECORD_F_V1;
	struct ur_frame_addr addr = {
		.kind = v1 ? UR_FRAME_V1
			: ur_gid_is_v4(p->saddr) && ur_gid_is_v4(p->daddr)
				? UR_FRAME_V4
				: UR_FRAME_V6,
		.tos = p->tos,
		.ttl = p->ttl,
		.sport = p->sport,
		.dport = UR_ROCE_V2_UDP_PORT,
		.flow_label = p->flow_label & 0xfffff,
	};
	static uint8_t frame[ETH_BYTES + UR_IPV6_BYTES + UR_UDP_BYTES +
			     UR_RECORD_PACKET + UR_ICRC_BYTES];
	uint8_t *ip = frame + ETH_BYTES, *bth;
	char text[200];
	size_t len;

	memcpy(addr.sgid, p->saddr, 16);
	memcpy(addr.dgid, p->daddr, 16);
	put_ethernet(frame, addr.kind);
	bth = ip + ur_frame_header_bytes(addr.kind);
	memcpy(bth, p->headers, p->status);
	memset(bth + p->status, 0, p->length - p->status);
	len = ETH_BYTES + ur_frame_build(ip, &addr, p->length);
	comment(record, e, text, sizeof(text));
	ur_pcapng_part(f, record->qps[e->qp].device, e->ns, frame, len, text);
}

int ur_record_pcapng(const struct ur_record *record, FILE *f)
{
	ur_pcapng_section(f);
	for (uint32_t i = 0; i < record->n_devices; i++)
		ur_pcapng_interface(f, record->devices[i].name);
	for (uint32_t i = 0; i < record->n_events; i++)
		if (record->events[i].packet)
			put_packet(record, &record->events[i], f);
	return ferror(f) ? -EIO : 0;
}
