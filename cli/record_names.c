// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names for the numbers in records. */
#include <inttypes.h>
#include <string.h>

#include "cli/record.h"
#include "transport/dump.h"
#include "util/verbs_words.h"

#define NAME(table, i)                                                     \
	((i) < sizeof(table) / sizeof(*(table)) && (table)[i] ? (table)[i] \
							      : "?")

const char *ur_record_kind(uint8_t kind)
{
	static const char *const names[] = {
		[UROCE_RECORD_SEND] = "send",
		[UROCE_RECORD_RECV] = "receive",
		[UROCE_RECORD_PACKET_OUT] = "out",
		[UROCE_RECORD_PACKET_IN] = "in",
		[UROCE_RECORD_COMPLETION] = "completion",
		[UROCE_RECORD_STATE] = "state",
		[UROCE_RECORD_EVENT] = "event",
		[UROCE_RECORD_RETRY] = "retry",
		[UROCE_RECORD_VERDICT] = "verdict",
		[UROCE_RECORD_LOOP] = "loop",
		[UROCE_RECORD_CM] = "cm",
	};

	return NAME(names, kind);
}

const char *ur_record_retry(uint8_t op)
{
	static const char *const names[] = {
		[UROCE_RECORD_REWIND] = "goes back",
		[UROCE_RECORD_TIMEOUT] = "timeout",
		[UROCE_RECORD_PROBE] = "early probe",
		[UROCE_RECORD_RNR_WAIT] = "waits: receiver not ready",
		[UROCE_RECORD_MISSING] = "an answer is missing",
	};

	return NAME(names, op);
}

const char *ur_record_verdict(uint8_t op)
{
	static const char *const names[] = {
		[UROCE_RECORD_DUPLICATE] = "came before",
		[UROCE_RECORD_DROPPED] = "dropped",
		[UROCE_RECORD_NAK_SEQUENCE] = "a packet before it is missing",
		[UROCE_RECORD_NAK_INVALID] = "invalid request",
		[UROCE_RECORD_NAK_ACCESS] =
			"no right to that memory (key, range, access)",
		[UROCE_RECORD_NAK_OPERATION] = "could not be carried out here",
		[UROCE_RECORD_RNR] = "no receive is posted",
		[UROCE_RECORD_GONE] = "the process has ended",
		[UROCE_RECORD_CLASS_J] =
			"the key to invalidate is of no such window",
	};

	return NAME(names, op);
}

const char *ur_record_syndrome(uint8_t syndrome)
{
	static const char *const naks[] = {
		"NAK: PSN sequence error", "NAK: invalid request",
		"NAK: remote access error", "NAK: remote operational error",
		"NAK: invalid RD request"};

	switch (syndrome >> 5 & 3) {
	case 0:
		return "ACK";
	case 1:
		return "RNR NAK";
	case 3:
		return NAME(naks, syndrome & 31u);
	default:
		return "?";
	}
}

int ur_record_syndrome_of(const struct ur_record_event *e)
{
	const struct uroce_record_packet *p = e->packet;
	uint8_t low;

	if (!p || p->status < UR_BTH_BYTES + UR_AETH_BYTES)
		return -1;
	low = p->op & UR_OPC_MASK;
	if (p->op >> 5 == UR_SVC_UD >> 5 || p->op == UR_OP_CNP)
		return -1;
	/* All responses except READ RESPONSE MIDDLE. */
	return low == UR_OPC_ACK || low == UR_OPC_ATOMIC_ACK ||
			       low == UR_OPC_READ_RESP_FIRST ||
			       low == UR_OPC_READ_RESP_LAST ||
			       low == UR_OPC_READ_RESP_ONLY
		       ? p->headers[UR_BTH_BYTES]
		       : -1;
}

static size_t packet_text(const struct ur_record_event *e, char *buf,
			  size_t size)
{
	const struct uroce_record_packet *p = e->packet;
	int syndrome = ur_record_syndrome_of(e);
	size_t n;

	n = (size_t)snprintf(
		buf, size, "%s %s %s to QP 0x%06x psn %u len %u",
		e->r.kind == UROCE_RECORD_PACKET_OUT ? "->" : "<-",
		e->resent ? "again" : "packet", ur_opcode_name(p->op),
		p->headers[5] << 16 | p->headers[6] << 8 | p->headers[7],
		e->r.psn, e->r.length);
	if (syndrome >= 0 && n < size)
		n += (size_t)snprintf(buf + n, size - n, " (%s)",
				      ur_record_syndrome((uint8_t)syndrome));
	if (e->vanished && n < size)
		n += (size_t)snprintf(buf + n, size - n, ", did not arrive");
	return n;
}

size_t ur_record_line(const struct ur_record *record,
		      const struct ur_record_event *e, char *buf, size_t size)
{
	const struct uroce_record *r = &e->r;
	int n;

	switch (r->kind) {
	case UROCE_RECORD_SEND:
		n = snprintf(buf, size,
			     "takes %s wr_id %" PRIu64 " (0x%" PRIx64
			     "), %u B, %u packets",
			     ur_wqe_opcode_name(r->op), (uint64_t)r->wr_id,
			     (uint64_t)r->wr_id, r->length, r->psns);
		if (r->flags & UROCE_RECORD_F_PSN && (size_t)n < size)
			n += snprintf(buf + n, size - (size_t)n, " from psn %u",
				      r->psn);
		break;
	case UROCE_RECORD_RECV:
		n = snprintf(buf, size,
			     "takes a receive, wr_id %" PRIu64 ", %u B",
			     (uint64_t)r->wr_id, r->length);
		break;
	case UROCE_RECORD_PACKET_OUT:
	case UROCE_RECORD_PACKET_IN:
		return packet_text(e, buf, size);
	case UROCE_RECORD_COMPLETION:
		n = snprintf(buf, size,
			     "completes %s wr_id %" PRIu64 ", %u B: %s",
			     ur_wc_opcode_name(r->op), (uint64_t)r->wr_id,
			     r->length, ur_wc_status_str(r->status));
		break;
	case UROCE_RECORD_STATE:
		n = snprintf(buf, size, "state %s, was %s",
			     ur_qp_state_name(r->op),
			     ur_qp_state_name(r->status));
		break;
	case UROCE_RECORD_EVENT:
		n = snprintf(buf, size, "event %s", ur_event_name(r->op));
		break;
	case UROCE_RECORD_RETRY:
		n = snprintf(buf, size, "%s, oldest psn %u (%" PRIu64 ")",
			     ur_record_retry(r->op), r->psn, (uint64_t)r->va);
		break;
	case UROCE_RECORD_VERDICT:
		n = snprintf(buf, size, "does not accept psn %u: %s", r->psn,
			     ur_record_verdict(r->op));
		break;
	case UROCE_RECORD_LOOP:
		n = snprintf(buf, size,
			     "%s of %u B to QP 0x%06x of this device",
			     ur_wqe_opcode_name(r->op), r->length, r->dest_qpn);
		break;
	case UROCE_RECORD_CM:
		n = snprintf(buf, size, "rdma_cm event %s, status %d",
			     ur_rdma_cm_event_name(r->op), (int)r->va);
		break;
	default:
		n = snprintf(buf, size, "kind %u", r->kind);
	}
	return (size_t)n;
}
