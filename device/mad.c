// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the receiver of a datagram for QP1. */
#include "device/mad.h"
#include "util/assert.h"

struct ur_mad_header ur_mad_parse(const u8 *mad)
{
	return (struct ur_mad_header){
		.base_version = mad[0],
		.mgmt_class = mad[1],
		.class_version = mad[2],
		.method = mad[3],
		.status = ur_get_be16(mad + 4),
		.tid = ur_get_be64(mad + 8),
		.attr = ur_get_be16(mad + 16),
		.attr_mod = ur_get_be32(mad + 20),
	};
}

void ur_mad_answer(const u8 *request, u8 *answer, u16 status)
{
	memcpy(answer, request, UR_MAD_BYTES);
	answer[3] = UR_MAD_GET | UR_MAD_RESPONSE;
	ur_put_be16(answer + 4, status);
}

/* Class BM marks a response in the attribute modifier, IBA volume 1, 16.2.1. */
bool ur_mad_is_response(const struct ur_mad_header *h)
{
	return h->method & UR_MAD_RESPONSE ||
	       h->method == UR_MAD_TRAP_REPRESS ||
	       (h->mgmt_class == UR_MAD_CLASS_BM && h->attr_mod & 1);
}

/* All messages of class CM except ClassPortInfo, which another program's agent may answer. */
static bool is_cm(const struct ur_mad_header *h)
{
	return h->mgmt_class == UR_MAD_CLASS_CM &&
	       h->attr != UR_MAD_ATTR_CLASS_PORT_INFO;
}

void ur_mad_dispatch(struct ur_device *dev, const struct ur_rx_meta *meta,
		     u32 src_qpn, const u8 *mad)
{
	const struct ur_daemon *d = dev->daemon;
	struct ur_mad_header h = ur_mad_parse(mad);

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (is_cm(&h)) {
		if (d->cm_ops && d->cm_ops->gsi_rx)
			d->cm_ops->gsi_rx(dev, meta, mad);
	} else if (d->umad_ops) {
		d->umad_ops->rx(dev, meta, src_qpn, mad);
	}
}
