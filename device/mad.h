/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dispatches the datagrams for QP1 of a device: MADs of class CM go to the connection
 * manager, all others to umad/. Also parses the common MAD header (IBA volume 1, 13.4.3).
 * Control lock held.
 */
#ifndef UR_DEVICE_MAD_H
#define UR_DEVICE_MAD_H

#include "device/device.h"

#define UR_MAD_BYTES	    256
#define UR_MAD_HEADER_BYTES 24
#define UR_MAD_BASE_VERSION 1

/* Management classes, IBA volume 1, 13.4.4. */
enum ur_mad_class {
	UR_MAD_CLASS_SUBN_LID = 0x01,
	UR_MAD_CLASS_SUBN_ADM = 0x03,
	UR_MAD_CLASS_PERF = 0x04,
	UR_MAD_CLASS_BM = 0x05,
	UR_MAD_CLASS_DEVICE_MGT = 0x06,
	UR_MAD_CLASS_CM = 0x07,
	UR_MAD_CLASS_DEVICE_ADM = 0x10,
	UR_MAD_CLASS_BIS = 0x12,
	UR_MAD_CLASS_VENDOR2_FIRST = 0x30,
	UR_MAD_CLASS_VENDOR2_LAST = 0x4f,
	UR_MAD_CLASS_SUBN_DIRECTED = 0x81,
};

/* Methods, IBA volume 1, 13.4.5. */
enum ur_mad_method {
	UR_MAD_GET = 0x01,
	UR_MAD_SET = 0x02,
	UR_MAD_SEND = 0x03,
	UR_MAD_TRAP_REPRESS = 0x07,
	UR_MAD_RESPONSE = 0x80, /* the R bit */
};

#define UR_MAD_ATTR_CLASS_PORT_INFO 0x0001

/* Status, IBA volume 1, 13.4.7. */
#define UR_MAD_BAD_VERSION     0x0004
#define UR_MAD_BAD_METHOD_ATTR 0x000c
#define UR_MAD_BAD_FIELD       0x001c

struct ur_mad_header {
	u8 base_version, mgmt_class, class_version, method;
	u16 status;
	u64 tid;
	u16 attr;
	u32 attr_mod;
};

/* Reads the header of a MAD. */
struct ur_mad_header ur_mad_parse(const u8 *mad);
/* Makes *answer, the response to the request: a copy with the response's method and the
 * status. */
void ur_mad_answer(const u8 *request, u8 *answer, u16 status);
/* Returns whether the MAD is a response. */
bool ur_mad_is_response(const struct ur_mad_header *h);

/* Passes a datagram for QP1 to its receiver. */
void ur_mad_dispatch(struct ur_device *dev, const struct ur_rx_meta *meta,
		     u32 src_qpn, const u8 *mad);

#endif
