// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CM codec: one table per message with the place of each field, and one
 * pair of functions that move bits. So parsing and building cannot disagree,
 * and the tables can be compared with IBA volume 1, tables 106 to 124.
 */
#include <errno.h>

#include "cm/mad.h"

#define MAD_BASE_VERSION     1
#define MAD_CLASS_CM	     0x07
#define MAD_CM_CLASS_VERSION 2
#define MAD_METHOD_SEND	     3

/* One field: its place on the wire (bits from the start of the message body,
 * most significant first) and in the struct. */
struct field {
	u16 bit;
	u16 bits;
	u16 offset;
	u16 size;
	u8 shift; /* the wire holds value >> shift */
};

#define FIELD_PART(type, member, byte, first_bit, width, low)              \
	{                                                                  \
		.bit = (byte)*8 + (first_bit), .bits = (width),            \
		.offset = offsetof(struct type, member),                   \
		.size = sizeof(((struct type *)0)->member), .shift = (low) \
	}
#define FIELD(type, member, byte, first_bit, width) \
	FIELD_PART(type, member, byte, first_bit, width, 0)
#define BYTES(type, member, byte) \
	FIELD(type, member, byte, 0, sizeof(((struct type *)0)->member) * 8)

#define IDS(type)                             \
	FIELD(type, local_comm_id, 0, 0, 32), \
		FIELD(type, remote_comm_id, 4, 0, 32)

#define REQ_PATH(which, at)                                             \
	FIELD(ur_cm_req, which.local_lid, (at), 0, 16),                 \
		FIELD(ur_cm_req, which.remote_lid, (at) + 2, 0, 16),    \
		BYTES(ur_cm_req, which.local_gid, (at) + 4),            \
		BYTES(ur_cm_req, which.remote_gid, (at) + 20),          \
		FIELD(ur_cm_req, which.flow_label, (at) + 36, 0, 20),   \
		FIELD(ur_cm_req, which.rate, (at) + 39, 2, 6),          \
		FIELD(ur_cm_req, which.traffic_class, (at) + 40, 0, 8), \
		FIELD(ur_cm_req, which.hop_limit, (at) + 41, 0, 8),     \
		FIELD(ur_cm_req, which.sl, (at) + 42, 0, 4),            \
		FIELD(ur_cm_req, which.subnet_local, (at) + 42, 4, 1),  \
		FIELD(ur_cm_req, which.ack_timeout, (at) + 43, 0, 5)

static const struct field req_fields[] = {
	FIELD(ur_cm_req, local_comm_id, 0, 0, 32),
	FIELD(ur_cm_req, vendor_id, 5, 0, 24),
	FIELD(ur_cm_req, service_id, 8, 0, 64),
	FIELD(ur_cm_req, local_ca_guid, 16, 0, 64),
	FIELD(ur_cm_req, local_qkey, 28, 0, 32),
	FIELD(ur_cm_req, local_qpn, 32, 0, 24),
	FIELD(ur_cm_req, responder_resources, 35, 0, 8),
	FIELD(ur_cm_req, local_eecn, 36, 0, 24),
	FIELD(ur_cm_req, initiator_depth, 39, 0, 8),
	FIELD(ur_cm_req, remote_eecn, 40, 0, 24),
	FIELD(ur_cm_req, remote_response_timeout, 43, 0, 5),
	FIELD(ur_cm_req, transport_type, 43, 5, 2),
	FIELD(ur_cm_req, flow_control, 43, 7, 1),
	FIELD(ur_cm_req, starting_psn, 44, 0, 24),
	FIELD(ur_cm_req, local_response_timeout, 47, 0, 5),
	FIELD(ur_cm_req, retry_count, 47, 5, 3),
	FIELD(ur_cm_req, pkey, 48, 0, 16),
	FIELD(ur_cm_req, path_mtu, 50, 0, 4),
	FIELD(ur_cm_req, rdc_exists, 50, 4, 1),
	FIELD(ur_cm_req, rnr_retry_count, 50, 5, 3),
	FIELD(ur_cm_req, max_cm_retries, 51, 0, 4),
	FIELD(ur_cm_req, srq, 51, 4, 1),
	FIELD(ur_cm_req, ext_transport_type, 51, 5, 3),
	REQ_PATH(primary, 52),
	REQ_PATH(alternate, 96),
	BYTES(ur_cm_req, private_data, 140),
};

static const struct field mra_fields[] = {
	IDS(ur_cm_mra),
	FIELD(ur_cm_mra, answers, 8, 0, 2),
	FIELD(ur_cm_mra, service_timeout, 9, 0, 5),
	BYTES(ur_cm_mra, private_data, 10),
};

static const struct field rej_fields[] = {
	IDS(ur_cm_rej),
	FIELD(ur_cm_rej, answers, 8, 0, 2),
	FIELD(ur_cm_rej, ari_bytes, 9, 0, 7),
	FIELD(ur_cm_rej, reason, 10, 0, 16),
	BYTES(ur_cm_rej, ari, 12),
	BYTES(ur_cm_rej, private_data, 84),
};

static const struct field rep_fields[] = {
	IDS(ur_cm_rep),
	FIELD(ur_cm_rep, local_qkey, 8, 0, 32),
	FIELD(ur_cm_rep, local_qpn, 12, 0, 24),
	FIELD_PART(ur_cm_rep, vendor_id, 15, 0, 8, 16),
	FIELD(ur_cm_rep, local_eecn, 16, 0, 24),
	FIELD_PART(ur_cm_rep, vendor_id, 19, 0, 8, 8),
	FIELD(ur_cm_rep, starting_psn, 20, 0, 24),
	FIELD_PART(ur_cm_rep, vendor_id, 23, 0, 8, 0),
	FIELD(ur_cm_rep, responder_resources, 24, 0, 8),
	FIELD(ur_cm_rep, initiator_depth, 25, 0, 8),
	FIELD(ur_cm_rep, target_ack_delay, 26, 0, 5),
	FIELD(ur_cm_rep, failover_accepted, 26, 5, 2),
	FIELD(ur_cm_rep, flow_control, 26, 7, 1),
	FIELD(ur_cm_rep, rnr_retry_count, 27, 0, 3),
	FIELD(ur_cm_rep, srq, 27, 3, 1),
	FIELD(ur_cm_rep, local_ca_guid, 28, 0, 64),
	BYTES(ur_cm_rep, private_data, 36),
};

static const struct field rtu_fields[] = {
	IDS(ur_cm_rtu),
	BYTES(ur_cm_rtu, private_data, 8),
};

static const struct field dreq_fields[] = {
	IDS(ur_cm_dreq),
	FIELD(ur_cm_dreq, remote_qpn, 8, 0, 24),
	BYTES(ur_cm_dreq, private_data, 12),
};

static const struct field drep_fields[] = {
	IDS(ur_cm_drep),
	BYTES(ur_cm_drep, private_data, 8),
};

static const struct field lap_fields[] = {
	IDS(ur_cm_lap),
	FIELD(ur_cm_lap, remote_qpn, 12, 0, 24),
	FIELD(ur_cm_lap, remote_response_timeout, 15, 0, 5),
	FIELD(ur_cm_lap, alternate.local_lid, 20, 0, 16),
	FIELD(ur_cm_lap, alternate.remote_lid, 22, 0, 16),
	BYTES(ur_cm_lap, alternate.local_gid, 24),
	BYTES(ur_cm_lap, alternate.remote_gid, 40),
	FIELD(ur_cm_lap, alternate.flow_label, 56, 0, 20),
	FIELD(ur_cm_lap, alternate.traffic_class, 59, 0, 8),
	FIELD(ur_cm_lap, alternate.hop_limit, 60, 0, 8),
	FIELD(ur_cm_lap, alternate.rate, 61, 2, 6),
	FIELD(ur_cm_lap, alternate.sl, 62, 0, 4),
	FIELD(ur_cm_lap, alternate.subnet_local, 62, 4, 1),
	FIELD(ur_cm_lap, alternate.ack_timeout, 63, 0, 5),
	BYTES(ur_cm_lap, private_data, 64),
};

static const struct field apr_fields[] = {
	IDS(ur_cm_apr),
	FIELD(ur_cm_apr, ari_bytes, 8, 0, 8),
	FIELD(ur_cm_apr, status, 9, 0, 8),
	BYTES(ur_cm_apr, ari, 12),
	BYTES(ur_cm_apr, private_data, 84),
};

static const struct field sidr_req_fields[] = {
	FIELD(ur_cm_sidr_req, request_id, 0, 0, 32),
	FIELD(ur_cm_sidr_req, pkey, 4, 0, 16),
	FIELD(ur_cm_sidr_req, service_id, 8, 0, 64),
	BYTES(ur_cm_sidr_req, private_data, 16),
};

static const struct field sidr_rep_fields[] = {
	FIELD(ur_cm_sidr_rep, request_id, 0, 0, 32),
	FIELD(ur_cm_sidr_rep, status, 4, 0, 8),
	FIELD(ur_cm_sidr_rep, ari_bytes, 5, 0, 8),
	FIELD_PART(ur_cm_sidr_rep, vendor_id, 6, 0, 16, 8),
	FIELD(ur_cm_sidr_rep, qpn, 8, 0, 24),
	FIELD_PART(ur_cm_sidr_rep, vendor_id, 11, 0, 8, 0),
	FIELD(ur_cm_sidr_rep, service_id, 12, 0, 64),
	FIELD(ur_cm_sidr_rep, qkey, 20, 0, 32),
	BYTES(ur_cm_sidr_rep, ari, 24),
	BYTES(ur_cm_sidr_rep, private_data, 96),
};

struct message {
	const char *name;
	const struct field *fields;
	u16 field_count;
	u16 private_offset;
	u16 private_bytes;
};

#define MESSAGE(text, type, table)                                        \
	{                                                                 \
		.name = (text), .fields = (table),                        \
		.field_count = UR_ARRAY_SIZE(table),                      \
		.private_offset = offsetof(struct type, private_data),    \
		.private_bytes = sizeof(((struct type *)0)->private_data) \
	}

static const struct message messages[UR_CM_ATTR_END - UR_CM_REQ] = {
	[UR_CM_REQ - UR_CM_REQ] = MESSAGE("REQ", ur_cm_req, req_fields),
	[UR_CM_MRA - UR_CM_REQ] = MESSAGE("MRA", ur_cm_mra, mra_fields),
	[UR_CM_REJ - UR_CM_REQ] = MESSAGE("REJ", ur_cm_rej, rej_fields),
	[UR_CM_REP - UR_CM_REQ] = MESSAGE("REP", ur_cm_rep, rep_fields),
	[UR_CM_RTU - UR_CM_REQ] = MESSAGE("RTU", ur_cm_rtu, rtu_fields),
	[UR_CM_DREQ - UR_CM_REQ] = MESSAGE("DREQ", ur_cm_dreq, dreq_fields),
	[UR_CM_DREP - UR_CM_REQ] = MESSAGE("DREP", ur_cm_drep, drep_fields),
	[UR_CM_SIDR_REQ - UR_CM_REQ] =
		MESSAGE("SIDR_REQ", ur_cm_sidr_req, sidr_req_fields),
	[UR_CM_SIDR_REP - UR_CM_REQ] =
		MESSAGE("SIDR_REP", ur_cm_sidr_rep, sidr_rep_fields),
	[UR_CM_LAP - UR_CM_REQ] = MESSAGE("LAP", ur_cm_lap, lap_fields),
	[UR_CM_APR - UR_CM_REQ] = MESSAGE("APR", ur_cm_apr, apr_fields),
};

static const struct message *find_message(u16 attr)
{
	if (attr < UR_CM_REQ || attr >= UR_CM_ATTR_END)
		return NULL;
	return &messages[attr - UR_CM_REQ];
}

/* A field of up to 64 bits spans at most nine bytes; those of the CM that do
 * not start on a byte fit in eight. */
static u64 get_bits(const u8 *body, u32 bit, u32 bits)
{
	u64 v = 0;

	for (u32 done = 0; done < bits;) {
		u32 in_byte = (bit + done) & 7;
		u32 n = ur_min_u32(8 - in_byte, bits - done);
		u32 chunk = body[(bit + done) >> 3] >> (8 - in_byte - n);

		v = (v << n) | (chunk & ((1u << n) - 1));
		done += n;
	}
	return v;
}

static void put_bits(u8 *body, u32 bit, u32 bits, u64 v)
{
	for (u32 left = bits; left;) {
		u32 last = bit + left - 1;
		u32 n = ur_min_u32((last & 7) + 1, left);
		u32 shift = 7 - (last & 7);
		u32 mask = (1u << n) - 1;

		body[last >> 3] |= (u8)((v & mask) << shift);
		v >>= n;
		left -= n;
	}
}

static u64 load_member(const u8 *p, u32 size)
{
	u16 v16;
	u32 v32;
	u64 v64;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
}

static void store_member(u8 *p, u32 size, u64 v)
{
	u16 v16 = (u16)v;
	u32 v32 = (u32)v;

	switch (size) {
	case 1:
		*p = (u8)v;
		return;
	case 2:
		memcpy(p, &v16, sizeof(v16));
		return;
	case 4:
		memcpy(p, &v32, sizeof(v32));
		return;
	default:
		memcpy(p, &v, sizeof(v));
		return;
	}
}

int ur_cm_mad_parse(const u8 *buf, size_t len, struct ur_cm_mad *mad)
{
	const struct message *m;
	const u8 *body = buf + UR_CM_HEADER_BYTES;

	memset(mad, 0, sizeof(*mad));
	if (len < UR_CM_MAD_BYTES)
		return -EINVAL;
	if (buf[0] != MAD_BASE_VERSION || buf[1] != MAD_CLASS_CM ||
	    buf[2] != MAD_CM_CLASS_VERSION || buf[3] != MAD_METHOD_SEND)
		return -EINVAL;
	m = find_message(ur_get_be16(buf + 16));
	if (!m)
		return -EOPNOTSUPP;
	mad->status = ur_get_be16(buf + 4);
	mad->class_specific = ur_get_be16(buf + 6);
	mad->tid = ur_get_be64(buf + 8);
	mad->attr = ur_get_be16(buf + 16);
	mad->attr_mod = ur_get_be32(buf + 20);
	for (u32 i = 0; i < m->field_count; i++) {
		const struct field *f = &m->fields[i];
		u8 *member = (u8 *)&mad->u + f->offset;

		if (f->bits > 64)
			memcpy(member, body + f->bit / 8, f->bits / 8);
		else
			store_member(member, f->size,
				     load_member(member, f->size) |
					     get_bits(body, f->bit, f->bits)
						     << f->shift);
	}
	return 0;
}

int ur_cm_mad_build(const struct ur_cm_mad *mad, u8 *buf)
{
	const struct message *m = find_message(mad->attr);
	u8 *body = buf + UR_CM_HEADER_BYTES;

	if (!m)
		return -EOPNOTSUPP;
	memset(buf, 0, UR_CM_MAD_BYTES);
	buf[0] = MAD_BASE_VERSION;
	buf[1] = MAD_CLASS_CM;
	buf[2] = MAD_CM_CLASS_VERSION;
	buf[3] = MAD_METHOD_SEND;
	ur_put_be16(buf + 4, mad->status);
	ur_put_be16(buf + 6, mad->class_specific);
	ur_put_be64(buf + 8, mad->tid);
	ur_put_be16(buf + 16, mad->attr);
	ur_put_be32(buf + 20, mad->attr_mod);
	for (u32 i = 0; i < m->field_count; i++) {
		const struct field *f = &m->fields[i];
		const u8 *member = (const u8 *)&mad->u + f->offset;

		if (f->bits > 64)
			memcpy(body + f->bit / 8, member, f->bits / 8);
		else
			put_bits(body, f->bit, f->bits,
				 load_member(member, f->size) >> f->shift);
	}
	return 0;
}

const u8 *ur_cm_mad_private(const struct ur_cm_mad *mad, u32 *bytes)
{
	const struct message *m = find_message(mad->attr);

	*bytes = m ? m->private_bytes : 0;
	return m ? (const u8 *)&mad->u + m->private_offset : NULL;
}

const char *ur_cm_attr_name(u16 attr)
{
	const struct message *m = find_message(attr);

	return m ? m->name : "?";
}
